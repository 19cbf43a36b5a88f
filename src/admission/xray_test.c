/* The way of a request, and what differs between two trees. */
#include "admission/xray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"

static struct value tree(struct arena *a, const char *text)
{
    struct value v;
    assert_int_equal(json_read(a, str_of(text), NULL, &v, NULL), 0);
    return v;
}

static void changes(void **state)
{
    (void)state;
    static const struct {
        const char *was, *now, *changes;
    } rows[] = {
        { "{\"a\":1}", "{\"a\":1}", "[]" },
        { "{\"a\":1}", "{\"a\":2}",
          "[{\"op\":\"replace\",\"path\":\"/a\",\"was\":1,\"value\":2}]" },
        { "{\"a\":{\"b/c~\":1}}", "{\"a\":{}}",
          "[{\"op\":\"remove\",\"path\":\"/a/b~1c~0\",\"was\":1}]" },
        { "{}", "{\"a\":[]}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":[]}]" },
        /* One in the middle is one change. */
        { "[1,2,4]", "[1,2,3,4]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]" },
        { "[1,2,3]", "[1,3]", "[{\"op\":\"remove\",\"path\":\"/1\",\"was\":2}]" },
        { "[{\"n\":1},{\"n\":2}]", "[{\"n\":1},{\"n\":3}]",
          "[{\"op\":\"replace\",\"path\":\"/1/n\",\"was\":2,\"value\":3}]" },
        { "[1]", "{}", "[{\"op\":\"replace\",\"path\":\"\",\"was\":[1],\"value\":{}}]" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value was = tree(&a, rows[i].was), now = tree(&a, rows[i].now),
                     list = xray_changes(&a, &was, &now);
        autobuf text = { 0 };
        json_write(&text, &list);
        assert_string_equal(str_cstr(&a, buf_str(&text)), rows[i].changes);
        arena_done(&a);
    }
}

static const struct value *stage(const struct value *report, size_t i)
{
    return value_at(value_get(report, STR("stages")), i);
}

static void stages(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct xray *x = xray_new(&a, &clock_system);
    struct value obj = tree(&a, "{\"a\":1}");
    xray_stage(x, "filter", STR("one"), NULL);
    xray_stage(x, "plugin", STR("two"), &obj);
    value_put(&a, &obj, STR("b"), value_int(2));
    xray_aside(x, "webhook", STR("w"), 5000, "allowed");
    xray_stage(x, "store", STR("three"), &obj);
    autobuf out = { 0 };
    xray_write(x, 409, STR("{\"x\":1}\n"), &out);
    struct value report = tree(&a, str_cstr(&a, buf_str(&out)));
    assert_int_equal(value_get(&report, STR("stages"))->n, 4);
    assert_null(value_get(stage(&report, 0), STR("changes")));
    const struct value *change = value_at(value_get(stage(&report, 1), STR("changes")), 0);
    assert_true(str_eq(value_text(change, "path"), STR("/b")));
    assert_true(str_eq(value_text(stage(&report, 2), "verdict"), STR("allowed")));
    assert_true(str_eq(value_text(stage(&report, 3), "verdict"), STR("refused")));
    assert_int_equal(value_dig(&report, "answer", "x")->i, 1);
    arena_done(&a);
}

static void nobody_asked(void **state)
{
    (void)state;
    xray_stage(NULL, "filter", STR("one"), NULL);
    xray_aside(NULL, "webhook", STR("w"), 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes),
        cmocka_unit_test(stages),
        cmocka_unit_test(nobody_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
