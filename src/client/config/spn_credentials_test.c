#include <sampan/credentials.h>

#include <pthread.h>
#include <unistd.h>

#include "client/config/credentials_internal.h"
#include "client/suite_folder.h"

#define V1 "client.authentication.k8s.io/v1"

struct scene {
    struct suite_folder *folder;
    struct clock_fake clock;
    struct spn_config cfg;
    struct spn_credentials *c;
};

static void begin(struct scene *s, struct suite_folder *f)
{
    s->folder = f;
    clock_fake_init(&s->clock, 1000 * NS_PER_SEC);
    s->c = credentials_new_with_clock(&s->cfg, &s->clock.clock);
}

static struct spn_credential get(struct scene *s)
{
    struct spn_credential got;
    struct spn_err err;
    if (spn_credentials_get(s->c, s->folder->arena, &got, &err) < 0)
        fail_msg("%s", err.message);
    return got;
}

static void what_is_fixed_is_given(void **state)
{
    struct scene s = { .cfg = { .token = SPN_TEXT("t"),
                                .username = SPN_TEXT("u"),
                                .ca_data = SPN_TEXT("ca"),
                                .cert_data = SPN_TEXT("cert"),
                                .key_data = SPN_TEXT("key") } };
    begin(&s, *state);
    struct spn_credential got = get(&s);
    assert_text(got.token, "t");
    assert_text(got.username, "u");
    assert_text(got.ca, "ca");
    assert_text(got.cert, "cert");
    assert_text(got.key, "key");
    spn_credentials_free(s.c);
}

static void a_token_file_is_read_every_minute(void **state)
{
    struct suite_folder *f = *state;
    struct scene s = { .cfg = { .token_file = spn_text_of(suite_file(f, "token", " one\n")) } };
    begin(&s, f);
    assert_text(get(&s).token, "one");
    suite_file(f, "token", "two");
    clock_fake_advance(&s.clock, 59 * NS_PER_SEC);
    assert_text(get(&s).token, "one");
    clock_fake_advance(&s.clock, NS_PER_SEC);
    struct spn_credential got = get(&s);
    assert_text(got.token, "two");
    assert_int_equal(unlink(s.cfg.token_file.p), 0);
    clock_fake_advance(&s.clock, 60 * NS_PER_SEC);
    assert_text(get(&s).token, "two");
    assert_int_equal(get(&s).connection, 0);
    spn_credentials_free(s.c);
}

static void a_token_that_was_refused_is_read_at_once(void **state)
{
    struct suite_folder *f = *state;
    struct scene s = { .cfg = { .token_file = spn_text_of(suite_file(f, "token", "one")) } };
    begin(&s, f);
    struct spn_credential first = get(&s);
    suite_file(f, "token", "two");
    assert_text(get(&s).token, "one");
    spn_credentials_refused(s.c, &first);
    struct spn_credential second = get(&s);
    assert_text(second.token, "two");
    assert_true(second.version > first.version);
    suite_file(f, "token", "three");
    spn_credentials_refused(s.c, &first); /* somebody who is late */
    assert_text(get(&s).token, "two");
    spn_credentials_free(s.c);
}

static void a_file_that_was_never_read_is_an_error(void **state)
{
    struct suite_folder *f = *state;
    struct scene s = { .cfg = { .token_file = spn_text_of(suite_path(f, "none")) } };
    struct spn_credential got;
    struct spn_err err;
    begin(&s, f);
    assert_int_equal(spn_credentials_get(s.c, f->arena, &got, &err), -SPN_FILE);
    suite_file(f, "none", " \n");
    assert_int_equal(spn_credentials_get(s.c, f->arena, &got, &err), -SPN_FILE);
    assert_non_null(strstr(err.message, "read empty token from file"));
    s.cfg.token = SPN_TEXT("fallback");
    assert_text(get(&s).token, "fallback");
    spn_credentials_free(s.c);
}

static void certificates_that_change_ask_for_a_new_connection(void **state)
{
    struct suite_folder *f = *state;
    struct scene s = { .cfg = { .cert_file = spn_text_of(suite_file(f, "cert", "c1")),
                                .key_file = spn_text_of(suite_file(f, "key", "k1")) } };
    begin(&s, f);
    struct spn_credential first = get(&s);
    assert_text(first.cert, "c1");
    suite_file(f, "cert", "c2");
    suite_file(f, "key", "k2");
    clock_fake_advance(&s.clock, 300 * NS_PER_SEC - 1);
    assert_int_equal(get(&s).connection, first.connection);
    clock_fake_advance(&s.clock, 1);
    struct spn_credential second = get(&s);
    assert_text(second.cert, "c2");
    assert_text(second.key, "k2");
    assert_true(second.connection > first.connection);
    clock_fake_advance(&s.clock, 300 * NS_PER_SEC);
    assert_int_equal(get(&s).connection, second.connection);
    spn_credentials_free(s.c);
}

static void a_token_cannot_break_its_header(void **state)
{
    struct suite_folder *f = *state;
    struct scene s = { .cfg = { .token = SPN_TEXT("t\r\nAs: root") } };
    struct spn_credential got;
    struct spn_err err;
    begin(&s, f);
    assert_int_equal(spn_credentials_get(s.c, f->arena, &got, &err), -SPN_INVALID);
    spn_credentials_free(s.c);
}

/* ---- Plugins ---- */

/* Counts its calls in a file; its token is the number of the call. */
static struct spn_exec counting_plugin(struct suite_folder *f, const char *status)
{
    struct spn_text script =
        spn_arena_printf(f->arena,
                         "#!/bin/sh\nprintf x >> %s/calls\nn=$(wc -c < %s/calls)\n"
                         "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                         "\",\"status\":{\"token\":\"%%s\"%s}}' \"$((n))\"\n",
                         f->path, f->path, status);
    return (struct spn_exec){ .command = spn_text_of(suite_script(f, "plugin", script.p)),
                              .api_version = SPN_TEXT(V1),
                              .interactive_mode = SPN_TEXT("Never") };
}

static void a_plugin_runs_when_it_must(void **state)
{
    struct suite_folder *f = *state;
    /* The clock is at 16 minutes and 40 seconds. */
    struct spn_exec exec = counting_plugin(f, ",\"expirationTimestamp\":\"1970-01-01T00:20:00Z\"");
    struct scene s = { .cfg = { .exec = &exec } };
    begin(&s, f);
    struct spn_credential first = get(&s);
    assert_text(first.token, "1");
    assert_text(get(&s).token, "1");
    spn_credentials_refused(s.c, &first);
    assert_text(get(&s).token, "2");
    spn_credentials_refused(s.c, &first);
    assert_text(get(&s).token, "2");
    clock_fake_advance(&s.clock, 200 * NS_PER_SEC);
    assert_text(get(&s).token, "2");
    clock_fake_advance(&s.clock, 1);
    assert_text(get(&s).token, "3");
    assert_int_equal(get(&s).connection, 0);
    spn_credentials_free(s.c);
}

static void a_plugin_gives_certificates(void **state)
{
    struct suite_folder *f = *state;
    struct spn_exec exec =
        counting_plugin(f, ",\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"");
    struct scene s = { .cfg = { .exec = &exec } };
    begin(&s, f);
    struct spn_credential first = get(&s);
    assert_text(first.cert, "c");
    assert_text(first.key, "k");
    spn_credentials_refused(s.c, &first);
    struct spn_credential second = get(&s);
    assert_text(second.token, "2");
    assert_int_equal(second.connection, first.connection);
    exec = counting_plugin(f, ",\"clientCertificateData\":\"d\",\"clientKeyData\":\"k\"");
    spn_credentials_refused(s.c, &second);
    assert_true(get(&s).connection > second.connection);
    spn_credentials_free(s.c);
}

static void a_plugin_is_not_asked_if_there_is_a_token(void **state)
{
    struct spn_exec exec = { .command = SPN_TEXT("no-such-plugin-anywhere"),
                             .api_version = SPN_TEXT(V1),
                             .interactive_mode = SPN_TEXT("Never") };
    struct scene s = { .cfg = { .exec = &exec, .token = SPN_TEXT("t") } };
    begin(&s, *state);
    assert_text(get(&s).token, "t");
    spn_credentials_free(s.c);
    s.cfg.token = (struct spn_text){ 0 };
    begin(&s, *state);
    struct spn_credential got;
    struct spn_err err;
    assert_int_equal(spn_credentials_get(s.c, s.folder->arena, &got, &err), -SPN_UNAUTHORIZED);
    assert_non_null(strstr(err.message, "getting credentials: exec: executable"));
    spn_credentials_free(s.c);
}

static void clients_of_one_cluster_share_a_plugin(void **state)
{
    struct suite_folder *f = *state;
    struct spn_exec exec = counting_plugin(f, ""), same = exec;
    struct scene one = { .cfg = { .server = SPN_TEXT("https://a"), .exec = &exec } };
    struct scene two = { .cfg = { .server = SPN_TEXT("https://a"), .exec = &same } };
    struct scene other = { .cfg = { .server = SPN_TEXT("https://b"), .exec = &exec } };
    begin(&one, f);
    begin(&two, f);
    begin(&other, f);
    struct spn_credential first = get(&one), second = get(&two);
    assert_text(first.token, "1");
    assert_text(second.token, "1");
    assert_text(get(&other).token, "2");
    spn_credentials_refused(one.c, &first);
    spn_credentials_refused(two.c, &second);
    assert_text(get(&one).token, "3");
    assert_text(get(&two).token, "3");
    spn_credentials_free(one.c);
    assert_text(get(&two).token, "3");
    spn_credentials_free(two.c);
    begin(&one, f);
    assert_text(get(&one).token, "4");
    spn_credentials_free(one.c);
    spn_credentials_free(other.c);
}

enum { N_THREADS = 4 };

static void *ask(void *arg)
{
    struct scene *s = arg;
    struct spn_arena *a = spn_arena_new();
    struct spn_credential got;
    bool is_one =
        spn_credentials_get(s->c, a, &got, NULL) == 0 && spn_text_eq(got.token, SPN_TEXT("1"));
    spn_arena_free(a);
    return is_one ? arg : NULL;
}

static void a_plugin_runs_once_for_all_threads(void **state)
{
    struct suite_folder *f = *state;
    struct spn_exec exec = counting_plugin(f, "");
    struct scene s = { .cfg = { .exec = &exec } };
    begin(&s, f);
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &s), 0);
    for (int i = 0; i < N_THREADS; i++) {
        void *is_one;
        pthread_join(threads[i], &is_one);
        assert_non_null(is_one);
    }
    spn_credentials_free(s.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_folder_test(what_is_fixed_is_given),
        suite_folder_test(a_token_file_is_read_every_minute),
        suite_folder_test(a_token_that_was_refused_is_read_at_once),
        suite_folder_test(a_file_that_was_never_read_is_an_error),
        suite_folder_test(certificates_that_change_ask_for_a_new_connection),
        suite_folder_test(a_token_cannot_break_its_header),
        suite_folder_test(a_plugin_runs_when_it_must),
        suite_folder_test(a_plugin_gives_certificates),
        suite_folder_test(a_plugin_is_not_asked_if_there_is_a_token),
        suite_folder_test(clients_of_one_cluster_share_a_plugin),
        suite_folder_test(a_plugin_runs_once_for_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
