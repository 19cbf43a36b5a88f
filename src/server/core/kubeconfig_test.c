#include "server/core/kubeconfig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/idiom.h"

static struct arena arena;
static char dir[] = "/tmp/sampan-audit-kubeconfig.XXXXXX";

static const char *write_file(const char *name, const char *text)
{
    const char *path = arena_printf(&arena, "%s/%s", dir, name).p;
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, FILE_CHEAP, NULL), 0);
    return path;
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(system(arena_printf(&arena, "rm -r %s", dir).p), 0);
    arena_done(&arena);
    return 0;
}

static void check(struct str got, const char *want)
{
    assert_string_equal(str_cstr(&arena, got), want);
}

static void its_current_context_counts(void **state)
{
    struct kubeconfig c;
    struct err err = ERR_INIT(&arena);
    (void)state;
    (void)write_file("ca.crt", "the authority");
    const char *path = write_file("config", "clusters:\n"
                                            "- {name: a, cluster: {server: 'https://a'}}\n"
                                            "- name: b\n"
                                            "  cluster:\n"
                                            "    server: https://b/audit\n"
                                            "    certificate-authority: ca.crt\n"
                                            "    tls-server-name: b.test\n"
                                            "users:\n"
                                            "- {name: u, user: {token: wrong}}\n"
                                            "- name: v\n"
                                            "  user:\n"
                                            "    client-certificate-data: Y2VydA==\n"
                                            "    client-key-data: a2V5\n"
                                            "    username: me\n"
                                            "    password: pass\n"
                                            "contexts:\n"
                                            "- {name: x, context: {cluster: a, user: u}}\n"
                                            "- {name: there, context: {cluster: b, user: v}}\n"
                                            "current-context: there\n");
    assert_int_equal(kubeconfig_read(&arena, path, &c, &err), 0);
    check(c.server, "https://b/audit");
    check(c.server_name, "b.test");
    check(c.ca_pem, "the authority");
    check(c.cert_pem, "cert");
    check(c.key_pem, "key");
    check(c.authorization, "Basic bWU6cGFzcw==");
    assert_false(c.insecure);
}

static void without_contexts_the_first_ones_count(void **state)
{
    struct kubeconfig c;
    struct err err = ERR_INIT(&arena);
    (void)state;
    const char *token = write_file("token", "secret\n");
    const char *path =
        write_file("config", arena_printf(&arena,
                                          "clusters: [{name: a, cluster: {server: 'http://a', "
                                          "insecure-skip-tls-verify: true}}]\n"
                                          "users: [{name: u, user: {tokenFile: %s}}]\n",
                                          token)
                                 .p);
    assert_int_equal(kubeconfig_read(&arena, path, &c, &err), 0);
    check(c.server, "http://a");
    check(c.authorization, "Bearer secret");
    assert_true(c.insecure);
    assert_int_equal(c.ca_pem.n + c.cert_pem.n + c.key_pem.n, 0);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "clusters: []", "its cluster has no server" },
        { "clusters: [{name: a, cluster: {server: a}}]", "its cluster has no server" },
        { "current-context: z", "there is no context z" },
        { "clusters: [{cluster: {server: 'http://a', certificate-authority-data: '!'}}]",
          "certificate-authority-data is not base64" },
        { "clusters: [{cluster: {server: 'http://a', certificate-authority: none}}]", "/none" },
        { "a: [", "yaml" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kubeconfig c;
        struct err err = ERR_INIT(&arena);
        const char *path = write_file("config", cases[i].text);
        assert_true(kubeconfig_read(&arena, path, &c, &err) < 0);
        const char *said = str_cstr(&arena, err.msg);
        if (!strstr(said, cases[i].words) || !strstr(said, path))
            fail_msg("%s", said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(its_current_context_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(without_contexts_the_first_ones_count, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
