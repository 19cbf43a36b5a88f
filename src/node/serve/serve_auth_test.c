/* Which part of the node a path is, and who is let in without anybody being asked. */
#include "node/serve/serve_auth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *path, *first, *second;
    } rows[] = {
        { "/exec/ns/p/c", "proxy", NULL },
        { "/containerLogs/ns/p/c", "proxy", NULL },
        { "/pods", "pods", "proxy" },
        { "/podsy", "proxy", NULL },
        { "/runningpods/", "pods", "proxy" },
        { "/healthz/ping", "healthz", "proxy" },
        { "/configz", "configz", "proxy" },
        { "/stats/summary", "stats", NULL },
        { "/metrics/resource", "metrics", NULL },
        { "/metrics", "metrics", NULL },
        { "/logs/", "log", NULL },
        { "/", "proxy", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *subs[SERVE_SUBRESOURCES];
        assert_int_equal(serve_auth_subresources(str_of(rows[i].path), subs),
                         rows[i].second ? 2 : 1);
        assert_string_equal(subs[0], rows[i].first);
        if (rows[i].second)
            assert_string_equal(subs[1], rows[i].second);
    }
    assert_string_equal(serve_auth_verb(STR("POST")), "create");
    assert_string_equal(serve_auth_verb(STR("HEAD")), "");
}

/* Without a server: nobody is known, and only what needs no question is answered. */
static void test_strangers(void **state)
{
    (void)state;
    static const struct {
        bool anonymous, is_verified;
        int status;
    } rows[] = { { false, false, 401 }, { true, false, 0 }, { false, true, 0 } };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct serve_options opt = { .anonymous = rows[i].anonymous, .always_allow = true };
        const struct http_peer peer = { .cert = { .verified = rows[i].is_verified,
                                                  .common_name = STR("u") } };
        const struct http_request req = { .method = STR("GET"),
                                          .path = STR("/pods"),
                                          .peer = &peer };
        struct serve_auth *auth = serve_auth_new(&opt);
        struct str text;
        assert_int_equal(serve_auth_check(auth, &req, &a, &text), rows[i].status);
        serve_auth_free(auth);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
