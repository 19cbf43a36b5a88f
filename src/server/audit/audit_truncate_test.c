#include "server/audit/audit_truncate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

#define BIG \
    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\""

static void what_is_too_large_loses_its_objects(void **state)
{
    static const struct {
        const char *event;
        size_t most;
        const char *want; /* NULL: too large all the same */
    } cases[] = {
        { "{\"level\":\"Request\",\"requestObject\":1}", 38,
          "{\"level\":\"Request\",\"requestObject\":1}" },
        { "{\"level\":\"Request\",\"requestObject\":" BIG ",\"code\":201}", 100,
          "{\"level\":\"Request\",\"code\":201,\"annotations\":{\"audit.k8s.io/"
          "truncated\":\"true\"}}" },
        { "{\"level\":\"RequestResponse\",\"requestObject\":1,\"responseObject\":" BIG
          ",\"annotations\":{\"a\":\"1\",\"b\":\"2\"}}",
          120,
          "{\"level\":\"RequestResponse\",\"annotations\":{\"a\":\"1\",\"audit.k8s.io/"
          "truncated\":\"true\","
          "\"b\":\"2\"}}" },
        { "{\"level\":\"RequestResponse\",\"responseObject\":" BIG
          ",\"annotations\":{\"audit.k8s.io/truncated\":\"true\"}}",
          100,
          "{\"level\":\"RequestResponse\",\"annotations\":{\"audit.k8s.io/truncated\":\"true\"}}" },
        { "{\"level\":\"Metadata\",\"uri\":" BIG "}", 80, NULL },
        { "{\"level\":\"Request\",\"uri\":" BIG ",\"requestObject\":" BIG "}", 100, NULL },
        { "{\"level\":\"Request\",\"requestObject\":1}", 37, NULL },
    };
    struct arena a;
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str got;
        bool fits = audit_truncate(&a, str_of(cases[i].event), cases[i].most, &got);
        assert_int_equal(fits, cases[i].want != NULL);
        if (cases[i].want)
            assert_string_equal(str_cstr(&a, got), cases[i].want);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_large_loses_its_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
