#include "main/kube_apiserver.h"

#include "base/file.h"
#include "base/idiom.h"
#include "main/command.h"
#include "main/folder_test.h"

enum { WORDS_MAX = 24 };

static const struct kube_apiserver_wishes nothing;
static struct kube_apiserver_line line;

/* `words` end with NULL. */
static int parse(const struct kube_apiserver_wishes *wishes, const char *const *words)
{
    char *argv[WORDS_MAX + 1] = { (char *)"kube-apiserver" };
    int argc = 1;
    for (; *words; words++)
        argv[argc++] = (char *)*words;
    return kube_apiserver_parse(&arena, argc, argv, wishes, &line);
}
#define PARSE(...) parse(&nothing, (const char *const[]){ __VA_ARGS__, NULL })

static bool has(const char *word)
{
    for (int i = 1; i < line.argc; i++)
        if (strcmp(line.argv[i], word) == 0)
            return true;
    return false;
}

static void what_envtest_says(void **state)
{
    (void)state;
    const char *dir = path_of("certs");
    const char *cert_dir = arena_printf(&arena, "--cert-dir=%s", dir).p;
    const char *data = arena_printf(&arena, "--data-dir=%s/sampan", dir).p;
    assert_int_equal(PARSE("--allow-privileged=true", "--authorization-mode=RBAC",
                           "--bind-address=127.0.0.1", cert_dir, "--client-ca-file=/c/ca.crt",
                           "--disable-admission-plugins=ServiceAccount",
                           "--etcd-servers=http://127.0.0.1:1", "--secure-port=4711",
                           "--service-account-issuer=https://127.0.0.1:4711/",
                           "--service-account-key-file=/c/sa.crt",
                           "--service-account-signing-key-file=/c/sa.key",
                           "--service-cluster-ip-range=10.0.0.0/24", "", "--insecure-port=0"),
                     0);
    const char *const wanted[] = { "--authorization-mode=RBAC",
                                   "--listen=127.0.0.1:4711",
                                   data,
                                   "--client-ca-file=/c/ca.crt",
                                   "--disable-admission-plugins=ServiceAccount",
                                   "--service-account-issuer=https://127.0.0.1:4711/",
                                   "--service-account-key-file=/c/sa.crt",
                                   "--service-account-signing-key-file=/c/sa.key",
                                   "--service-cidr=10.0.0.0/24",
                                   "--etcd-servers=http://127.0.0.1:1",
                                   "--api-only",
                                   "--scheduler=false" };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_true(has(wanted[i]));
    assert_int_equal(line.argc, ARRAY_LEN(wanted) + 1);
    assert_int_equal(line.unknown.n, 0);
    assert_null(line.unused_etcd);
    assert_null(line.argv[line.argc]);
}

static void flags_are_read_as_go_does(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--anonymous-auth", "--secure-port", "1", "--event-ttl=1h30m", "-v=5",
                           "--enable-bootstrap-token-auth=1", "--bind-address", "::1",
                           "--profiling=False", "--audit-log-truncate-enabled"),
                     0);
    assert_true(has("--anonymous-auth=true") && has("--listen=[::1]:1"));
    assert_true(has("--event-ttl=5400s") && has("--verbose"));
    assert_true(has("--enable-bootstrap-token-auth"));
    assert_true(has("--audit-log-truncate-enabled=true"));
    assert_true(has("--store=lmdb") && has("--enable-admission-plugins=ServiceAccount"));

    assert_int_equal(
        PARSE("--enable-bootstrap-token-auth=false", "-v", "2", "--logging-format", "json"), 0);
    assert_false(has("--enable-bootstrap-token-auth") || has("--verbose"));
    assert_true(has("--listen=0.0.0.0:6443") && has("--log-format=json"));
}

static void unknown_flags_are_named_once(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--tea=green", "--cups", "3", "--pot", "--secure-port=1"), 0);
    assert_true(str_eq(line.unknown, STR("--tea, --cups, --pot")));
    assert_true(has("--listen=0.0.0.0:1"));
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = { "--secure-port=0",       "--secure-port=65536",
                                         "--bind-address=tea",    "--anonymous-auth=maybe",
                                         "--secure-port",         "tea",
                                         "--event-ttl=yesterday", "-x" };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(PARSE(wrong[i]), EXIT_MISUSED + 1);
    assert_int_equal(PARSE("--help"), 1);
    assert_int_equal(PARSE("--version"), 1);
}

static void certificates_lie_in_their_folder(void **state)
{
    (void)state;
    const char *dir = path_of("pair");
    const char *cert_dir = arena_printf(&arena, "--cert-dir=%s", dir).p;
    const char *cert = arena_printf(&arena, "%s/apiserver.crt", dir).p;
    const char *key = arena_printf(&arena, "%s/apiserver.key", dir).p;
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(file_write_atomic(cert, STR("c"), 0600, FILE_CHEAP, NULL), 0);
    assert_int_equal(PARSE(cert_dir), 0);
    assert_false(has(arena_printf(&arena, "--tls-cert-file=%s", cert).p)); /* half of a pair */
    assert_int_equal(file_write_atomic(key, STR("k"), 0600, FILE_CHEAP, NULL), 0);
    assert_int_equal(PARSE(cert_dir), 0);
    assert_true(has(arena_printf(&arena, "--tls-cert-file=%s", cert).p));
    assert_true(has(arena_printf(&arena, "--tls-private-key-file=%s", key).p));
    assert_int_equal(PARSE(cert_dir, "--tls-cert-file=/a", "--tls-private-key-file=/b"), 0);
    assert_true(has("--tls-cert-file=/a") && has("--tls-private-key-file=/b"));
}

static void the_environment_adds(void **state)
{
    (void)state;
    static const struct {
        const char *controllers;
        const char *word;
    } rows[] = { { NULL, "--api-only" },
                 { "", "--api-only" },
                 { "0", "--api-only" },
                 { "false", "--api-only" },
                 { "namespace-controller", "--controllers=namespace-controller" } };
    const char *const words[] = { "--etcd-servers=http://a", NULL };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kube_apiserver_wishes w = { .controllers = rows[i].controllers };
        assert_int_equal(parse(&w, words), 0);
        assert_true(has(rows[i].word));
    }
    const struct kube_apiserver_wishes all = { .controllers = "1", .store = "lmdb" };
    assert_int_equal(parse(&all, words), 0);
    assert_false(has("--api-only"));
    assert_true(has("--store=lmdb"));
    assert_false(has("--etcd-servers=http://a"));
    assert_string_equal(line.unused_etcd, "http://a");
}

static void an_etcd_has_the_objects_if_there_is_one(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--etcd-servers=https://a,https://b", "--etcd-cafile=/c/ca",
                           "--etcd-certfile=/c/crt", "--etcd-keyfile=/c/key", "--etcd-prefix=/tea"),
                     0);
    assert_true(has("--etcd-servers=https://a,https://b") && has("--etcd-cafile=/c/ca") &&
                has("--etcd-certfile=/c/crt") && has("--etcd-keyfile=/c/key") &&
                has("--etcd-prefix=/tea"));
    assert_int_equal(PARSE("--secure-port=1"), 0);
    assert_true(has("--store=lmdb"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_envtest_says),
        cmocka_unit_test(flags_are_read_as_go_does),
        cmocka_unit_test(unknown_flags_are_named_once),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(certificates_lie_in_their_folder),
        cmocka_unit_test(the_environment_adds),
        cmocka_unit_test(an_etcd_has_the_objects_if_there_is_one),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
