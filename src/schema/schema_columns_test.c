/* Cells of custom objects, by the type of their column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "schema/schema_columns.h"

/* 2026-01-02T03:04:05Z */
#define NOW_NS (INT64_C(1767323045) * 1000000000)

static struct value parse(struct arena *a, struct str json)
{
    struct value v;
    assert_int_equal(json_read(a, json, NULL, &v, NULL), 0);
    return v;
}

static const struct schema_columns *one_column(struct arena *a, const char *type, const char *path)
{
    struct value list = value_array(), column = value_object();
    value_put_new(a, &column, STR("name"), value_string(STR("C")));
    value_put_new(a, &column, STR("type"), value_string(str_of(type)));
    value_put_new(a, &column, STR("jsonPath"), value_string(str_of(path)));
    value_put_item(a, &list, column);
    return schema_columns_compile(a, &list);
}

static void test_cells(void **state)
{
    (void)state;
    static const char obj_text[] =
        "{\"metadata\":{\"name\":\"x\"},\"s\":\"text\",\"i\":3,\"f\":2.75,\"b\":true,\"no\":null,"
        "\"big\":1e300,\"huge\":9007199254740993,\"t\":\"2026-01-02T03:00:05Z\",\"empty\":\"\","
        "\"zero\":\"0001-01-01T00:00:00Z\",\"later\":\"2030-01-01T00:00:00+01:00\","
        "\"l\":[\"a\",\"b\"],\"o\":{\"z\":1,\"a\":\"<\"}}";
    static const struct {
        const char *type, *path, *cell;
    } cases[] = {
        { "string", ".s", "\"text\"" },
        { "string", ".i", "\"3\"" },
        { "string", ".f", "\"2.75\"" },
        { "string", ".b", "\"true\"" },
        { "string", ".no", "\"<no value>\"" },
        { "string", ".l", "\"[\\\"a\\\",\\\"b\\\"]\"" },
        { "string", ".o", "\"{\\\"a\\\":\\\"\\\\u003c\\\",\\\"z\\\":1}\"" },
        { "string", ".l[*]", "\"a\"" },
        { "string", ".missing", "null" },
        { "string", ".l[9]", "null" },
        { "string", ".s}{.i", "\"text\"" },
        { "string", ".s}{hello", "null" },
        { "integer", ".i", "3" },
        { "integer", ".f", "2" },
        { "integer", ".big", "-9223372036854775808" },
        { "integer", ".s", "null" },
        { "integer", ".no", "null" },
        { "number", ".i", "3" },
        { "number", ".f", "2.75" },
        { "number", ".huge", "9007199254740992" },
        { "number", ".b", "null" },
        { "boolean", ".b", "true" },
        { "boolean", ".s", "null" },
        { "date", ".t", "\"4m\"" },
        { "date", ".empty", "\"<unknown>\"" },
        { "date", ".zero", "\"<unknown>\"" },
        { "date", ".later", "\"<invalid>\"" },
        { "date", ".s", "\"<invalid>\"" },
        { "date", ".i", "null" },
        { "date", ".no", "null" },
        { "", ".i", "null" },
    };
    struct arena a;
    arena_init(&a);
    struct value obj = parse(&a, str_of(obj_text));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct schema_columns *c = one_column(&a, cases[i].type, cases[i].path);
        struct value row = schema_columns_row(&a, c, &obj, NOW_NS, NULL);
        assert_int_equal(row.n, 2);
        assert_true(str_eq(value_str(value_at(&row, 0)), STR("x")));
        autobuf got = { 0 };
        json_write(&got, value_at(&row, 1));
        if (!str_eq(buf_str(&got), str_of(cases[i].cell)))
            fail_msg("%s %s: %.*s", cases[i].type, cases[i].path, STR_ARG(buf_str(&got)));
    }
    arena_done(&a);
}

static void test_definitions(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value columns = parse(
        &a, STR("[{\"name\":\"A\",\"type\":\"integer\",\"format\":\"int32\",\"jsonPath\":\".a\","
                "\"priority\":7},"
                "{\"name\":\"B\",\"type\":\"string\",\"jsonPath\":\".b\",\"description\":\"bees\"},"
                "{\"name\":\"Bad\",\"type\":\"string\",\"jsonPath\":\".c[x]\"},"
                "{\"name\":\"After\",\"type\":\"string\",\"jsonPath\":\".d\"}]"));
    const struct schema_columns *c = schema_columns_compile(&a, &columns);
    struct value defs = schema_columns_definitions(&a, c);
    autobuf got = { 0 };
    assert_int_equal(defs.n, 3); /* what cannot be read ends the list */
    json_write(&got, value_at(&defs, 1));
    assert_true(str_eq(buf_str(&got),
                       STR("{\"name\":\"A\",\"type\":\"integer\",\"format\":\"int32\","
                           "\"description\":\"Custom resource definition column (in JSONPath "
                           "format): .a\",\"priority\":7}")));
    assert_true(str_eq(value_str(value_dig(value_at(&defs, 2), "description")), STR("bees")));
    assert_true(str_eq(value_str(value_dig(value_at(&defs, 0), "format")), STR("name")));
    arena_done(&a);
}

static void test_no_columns(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value obj = parse(
        &a, STR("{\"metadata\":{\"name\":\"x\",\"creationTimestamp\":\"2026-01-02T03:04:02Z\"}}"));
    const struct schema_columns *c = schema_columns_compile(&a, NULL);
    struct value defs = schema_columns_definitions(&a, c),
                 row = schema_columns_row(&a, c, &obj, NOW_NS, NULL);
    assert_int_equal(defs.n, 2);
    assert_true(str_eq(value_str(value_dig(value_at(&defs, 1), "name")), STR("Age")));
    assert_true(str_eq(value_str(value_dig(value_at(&defs, 1), "type")), STR("date")));
    assert_true(str_eq(value_str(value_at(&row, 1)), STR("3s")));
    arena_done(&a);
}

static const struct schema_columns *many_columns(struct arena *a, const char *path, size_t n)
{
    struct value list = value_array();
    for (size_t i = 0; i < n; i++) {
        struct value column = value_object();
        value_put_new(a, &column, STR("name"), value_string(STR("C")));
        value_put_new(a, &column, STR("type"), value_string(STR("string")));
        value_put_new(a, &column, STR("jsonPath"), value_string(str_of(path)));
        value_put_item(a, &list, column);
    }
    return schema_columns_compile(a, &list);
}

/* {"metadata":{"name":"x"},"l":[item, item, ...],"end":{"zz":"found"}} */
static struct value large_object(struct arena *a, const char *item, size_t n)
{
    autobuf text = { 0 };
    buf_printf(&text, "{\"metadata\":{\"name\":\"x\"},\"l\":[");
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s", i ? "," : "", item);
    buf_printf(&text, "],\"end\":{\"zz\":\"found\"}}");
    return parse(a, arena_str(a, buf_str(&text)));
}

/* However many columns there are, and whatever they look for: what a row costs is bounded, in
 * values, in text and in memory. The cells that it still paid for are there, the others are not. */
static void test_rows_are_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *path, *item;
        size_t n_items, n_columns, shown; /* the least and, twice that, the most of cells */
    } cases[] = {
        { "..zz", "1", 2000, 1000, 20 },
        { "..zz", "{\"a\":[]}", 2000, 1000, 5 },
        { ".l[*].a", "{\"a\":\"1\"}", 2000, 1000, 5 },
        { ".l[?(@.a==\"1\")].a", "{\"a\":\"1\"}", 2000, 1000, 3 },
        { ".l", "1", 2000, 1000, 3 },
        { ".metadata.name", "1", 1, LIMIT_TABLE_ROW_VALUES / 4, 2500 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a, row_arena;
        arena_init(&a);
        arena_init(&row_arena);
        const struct schema_columns *c = many_columns(&a, cases[i].path, cases[i].n_columns);
        struct value obj = large_object(&a, cases[i].item, cases[i].n_items);
        size_t work = 7, shown = 0;
        struct value row = schema_columns_row(&row_arena, c, &obj, NOW_NS, &work);
        assert_int_equal(row.n, cases[i].n_columns + 1);
        value_each_item (it, &row)
            shown += it->type == VALUE_STRING;
        if (shown < cases[i].shown || shown > 2 * cases[i].shown)
            fail_msg("%s: %zu cells are shown", cases[i].path, shown);
        assert_true(value_is(value_at(&row, 1), VALUE_STRING));
        assert_true(value_is(value_at(&row, row.n - 1), VALUE_NULL));
        assert_int_equal(work, LIMIT_TABLE_ROW_VALUES + 7);
        assert_true(row_arena.held < (16u << 20));
        arena_done(&row_arena);
        arena_done(&a);
    }
}

static void test_text_is_bounded(void **state)
{
    (void)state;
    enum { N = 1 << 20, COLUMNS = 1000 };
    struct arena a;
    arena_init(&a);
    autofree char *text = mem_alloc(N);
    memset(text, 'a', N);
    struct value obj = value_object();
    value_put_new(&a, &obj, STR("s"), value_string((struct str){ text, N }));
    const struct schema_columns *c = many_columns(&a, ".s", COLUMNS);
    struct value row = schema_columns_row(&a, c, &obj, NOW_NS, NULL);
    for (size_t i = 1; i < row.n; i++)
        assert_int_equal(value_at(&row, i)->type,
                         i <= LIMIT_TABLE_ROW_BYTES / N ? VALUE_STRING : VALUE_NULL);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),           cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_no_columns),      cmocka_unit_test(test_rows_are_bounded),
        cmocka_unit_test(test_text_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
