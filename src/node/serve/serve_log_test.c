/* Whose log it is, and why there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "node/serve/serve_internal.h"

#define POD(status)                                                                             \
    "{\"metadata\":{\"name\":\"p\"},\"status\":{\"containerStatuses\":[{\"name\":\"c\"," status \
    "}]}}"

static void test_ids(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        bool previous;
        const char *id, *fault;
    } rows[] = {
        { POD("\"containerID\":\"x://1\",\"state\":{\"running\":{}}"), false, "x://1", NULL },
        { POD("\"containerID\":\"x://1\",\"state\":{\"running\":{}}"), true, NULL,
          "previous terminated container \"c\" in pod \"p\" not found" },
        { POD("\"state\":{\"terminated\":{\"containerID\":\"x://2\"}}"), false, "x://2", NULL },
        { POD("\"state\":{\"terminated\":{}}"), false, NULL,
          "container \"c\" in pod \"p\" is terminated" },
        { POD("\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},\"lastState\":{"
              "\"terminated\":{\"containerID\":\"x://3\"}}"),
          false, "x://3", NULL },
        { POD("\"state\":{\"waiting\":{\"reason\":\"ErrImagePull\"}}"), false, NULL,
          "container \"c\" in pod \"p\" is waiting to start: image can't be pulled" },
        { POD("\"state\":{\"waiting\":{\"reason\":\"ErrImageNeverPull\"}}"), false, NULL,
          "container \"c\" in pod \"p\" is waiting to start: ErrImageNeverPull" },
        { POD("\"state\":{}"), false, NULL,
          "container \"c\" in pod \"p\" is waiting to start - no logs yet" },
        { "{\"metadata\":{\"name\":\"p\"}}", false, NULL,
          "container \"c\" in pod \"p\" is not available" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct value pod;
        struct str id;
        assert_int_equal(json_read(&a, str_of(rows[i].pod), NULL, &pod, &err), 0);
        const int r = serve__log_id(&pod, STR("c"), rows[i].previous, &id, &err);
        assert_int_equal(r, rows[i].id ? 0 : -ERR_BAD_REQUEST);
        if (rows[i].id)
            assert_true(str_eq(id, str_of(rows[i].id)));
        else if (!str_eq(err.msg, str_of(rows[i].fault)))
            fail_msg("row %zu: " STR_FMT, i, STR_ARG(err.msg));
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ids) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
