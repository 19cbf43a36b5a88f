#include "api/profile_note.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static void annotations_and_fields(void **state)
{
    static const struct {
        struct str note, type, local;
    } rows[] = {
        { STR("unconfined"), STR("Unconfined"), STR("") },
        { STR("runtime/default"), STR("RuntimeDefault"), STR("") },
        { STR("localhost/a/b"), STR("Localhost"), STR("a/b") },
        { STR("localhost/"), STR("Localhost"), STR("") },
        { STR("localhost"), STR(""), STR("") },
        { STR("docker/default"), STR(""), STR("") },
        { STR("Unconfined"), STR(""), STR("") },
        { STR(""), STR(""), STR("") },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str local = STR("before"), type = profile_note_type(rows[i].note, &local);
        if (!str_eq(type, rows[i].type) || !str_eq(local, rows[i].local))
            fail_msg(STR_FMT ": " STR_FMT ", " STR_FMT, STR_ARG(rows[i].note), STR_ARG(type),
                     STR_ARG(local));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotations_and_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
