#include "node/agent/image_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/idiom.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void names_are_read_as_docker_reads_them(void **state)
{
    (void)state;
    static const struct {
        const char *image, *domain, *full, *error;
    } rows[] = {
        { "busybox", "docker.io", "busybox:latest", NULL },
        { "a/b:1", "docker.io", "a/b:1", NULL },
        { "localhost/golden/box:1", "localhost", "localhost/golden/box:1", NULL },
        { "r.test:5000/x", "r.test:5000", "r.test:5000/x:latest", NULL },
        { "r.test/x@sha256:" HEX64, "r.test", "r.test/x@sha256:" HEX64, NULL },
        { "index.docker.io/x", "docker.io", "index.docker.io/x:latest", NULL },
        { "Not A Name", NULL, NULL,
          "invalid reference format: repository name (library/Not A Name) must be lowercase" },
        { "localhost/GOLDEN/box:1", NULL, NULL,
          "invalid reference format: repository name (GOLDEN/box) must be lowercase" },
        { "a b", NULL, NULL, "invalid reference format" },
        { "x:", NULL, NULL, "invalid reference format" },
        { "", NULL, NULL, "invalid reference format" },
        { "x@sha256:0123", NULL, NULL, "invalid reference format" },
        { "x@md5:0123456789abcdef0123456789abcdef", NULL, NULL, "unsupported digest algorithm" },
        { HEX64, NULL, NULL,
          "invalid repository name (" HEX64 "), cannot specify 64-byte hexadecimal strings" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct image_name n;
        int r = image_name_read(&a, str_of(rows[i].image), &n, &err);
        if (rows[i].error) {
            assert_int_equal(r, -ERR_INVALID);
            if (!str_eq(err.msg, str_of(rows[i].error)))
                fail_msg("%s: " STR_FMT, rows[i].image, STR_ARG(err.msg));
        } else {
            assert_int_equal(r, 0);
            assert_true(str_eq(n.domain, str_of(rows[i].domain)));
            assert_true(str_eq(n.full, str_of(rows[i].full)));
        }
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names_are_read_as_docker_reads_them) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
