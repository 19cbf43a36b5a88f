#include "merge/managed_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "merge/trees_test.h"

#define ENTRY(manager, operation, version, time, fields)                          \
    "{'manager':'" manager "','operation':'" operation "','apiVersion':'" version \
    "','time':'" time "','fieldsType':'FieldsV1','fieldsV1':" fields "}"

static struct managed_entries entries(const char *list)
{
    struct managed_entries m = { .arena = &arena };
    struct value v = tree(list);
    struct err err = ERR_INIT(&arena);
    if (managed__read(&m, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return m;
}

/* "manager/A version time subresource fields", one per line, as they are written to an object. */
static const char *written(const struct managed_entries *m)
{
    struct value obj = value_object();
    autobuf out = { 0 };
    managed__write(m, &obj);
    value_each_item (e, value_dig(&obj, "metadata", "managedFields")) {
        buf_printf(&out, STR_FMT "/%.1s " STR_FMT " " STR_FMT " " STR_FMT " ",
                   STR_ARG(value_text(e, "manager")), value_text(e, "operation").p,
                   STR_ARG(value_text(e, "apiVersion")), STR_ARG(value_text(e, "time")),
                   STR_ARG(value_text(e, "subresource")));
        json_write(&out, value_get(e, STR("fieldsV1")));
        buf_byte(&out, '\n');
    }
    return str_cstr(&arena, buf_str(&out));
}

static void entries_that_are_not_well_formed_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *list, *says;
    } rows[] = {
        { "[{'operation':'Replace','apiVersion':'v1','fieldsType':'FieldsV1'}]",
          "operation must be `Apply` or `Update`" },
        { "[{'operation':'apply','apiVersion':'v1','fieldsType':'FieldsV1'}]",
          "operation must be `Apply` or `Update`" },
        { "[{'operation':'Apply','fieldsType':'FieldsV1'}]", "apiVersion must not be empty" },
        { "[{'operation':'Apply','apiVersion':'v1'}]",
          "missing fieldsType in managed fields entry 0" },
        { "[{'operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV2'}]",
          "invalid fieldsType \"FieldsV2\" in managed fields entry 0" },
        { "[" ENTRY("a", "Update", "v1", "", "{}") ",{}]",
          "operation must be `Apply` or `Update`" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct managed_entries m = { .arena = &arena };
        struct value v = tree(rows[i].list);
        struct err err = ERR_INIT(&arena);
        assert_int_equal(managed__read(&m, &v, &err), -ERR_BAD_REQUEST);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].says);
    }
}

static void absent_entries_are_none(void **state)
{
    (void)state;
    static const char *const lists[] = { "[]", "null", "{}", "'text'" };
    struct managed_entries m = { .arena = &arena };
    assert_int_equal(managed__read(&m, NULL, NULL), 0);
    assert_int_equal(m.n, 0);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        assert_int_equal(entries(lists[i]).n, 0);
}

static void there_is_a_limit(void **state)
{
    (void)state;
    struct value list = value_array();
    for (unsigned i = 0; i < LIMIT_FIELD_MANAGERS + 1; i++) {
        struct managed_entries m = { .arena = &arena };
        if (i >= LIMIT_FIELD_MANAGERS)
            assert_int_equal(managed__read(&m, &list, NULL), 0);
        value_put_item(&arena, &list,
                       tree("{'operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1'}"));
    }
    struct managed_entries m = { .arena = &arena };
    assert_int_equal(managed__read(&m, &list, NULL), -ERR_BAD_REQUEST);
}

/* Those who apply are the same in every version, those who update are not. */
static void who_is_the_same(void **state)
{
    (void)state;
    static const struct {
        struct managed_entry a, b;
        bool is_same;
    } rows[] = {
        { { .manager = STR("a") }, { .manager = STR("b") }, false },
        { { .manager = STR("a"), .is_apply = true }, { .manager = STR("a") }, false },
        { { .manager = STR("a"), .is_apply = true, .api_version = STR("v1") },
          { .manager = STR("a"), .is_apply = true, .api_version = STR("v2") },
          true },
        { { .manager = STR("a"), .api_version = STR("v1") },
          { .manager = STR("a"), .api_version = STR("v2") },
          false },
        { { .manager = STR("a"), .time = STR("1") },
          { .manager = STR("a"), .time = STR("2") },
          true },
        { { .manager = STR("a"), .subresource = STR("status") }, { .manager = STR("a") }, false },
        { { .manager = STR("a"), .is_apply = true, .subresource = STR("status") },
          { .manager = STR("a"), .is_apply = true },
          false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int there = managed__cmp(&rows[i].a, &rows[i].b),
            back = managed__cmp(&rows[i].b, &rows[i].a);
        assert_int_equal(there == 0, rows[i].is_same);
        assert_true((there < 0) == (back > 0));
    }
}

static void of_two_of_the_same_manager_the_last_counts(void **state)
{
    (void)state;
    struct managed_entries m = entries("[" ENTRY("a", "Apply", "v1", "1", "{'f:x':{}}") "," ENTRY(
        "b", "Update", "v1", "1", "{'f:y':{}}") "," ENTRY("a", "Apply", "v2", "2",
                                                          "{'f:z':{}}") "]");
    assert_int_equal(m.n, 2);
    assert_string_equal(written(&m), "a/A v2 2  {\"f:z\":{}}\nb/U v1 1  {\"f:y\":{}}\n");
}

static void they_are_written_in_order(void **state)
{
    (void)state;
    struct managed_entries m = entries("[" ENTRY("c", "Update", "v1", "1", "{'f:x':{}}") "," ENTRY(
        "b", "Update", "v2", "1",
        "{'f:x':{}}") "," ENTRY("b", "Update", "v1", "1",
                                "{'f:x':{}}") "," ENTRY("a", "Update", "v1", "2",
                                                        "{'f:x':{}}") "," ENTRY("z", "Apply", "v1",
                                                                                "9",
                                                                                "{'f:x':{}}") "]");
    assert_string_equal(written(&m), "z/A v1 9  {\"f:x\":{}}\n" /* who applies comes first */
                                     "b/U v1 1  {\"f:x\":{}}\n" /* then by time, by manager, */
                                     "b/U v2 1  {\"f:x\":{}}\n" /* by version */
                                     "c/U v1 1  {\"f:x\":{}}\n"
                                     "a/U v1 2  {\"f:x\":{}}\n");
}

static void no_entries_leave_no_field(void **state)
{
    (void)state;
    struct managed_entries none = { .arena = &arena };
    struct value obj = tree("{'metadata':{'name':'a','managedFields':[{}]}}");
    managed__write(&none, &obj);
    assert_true(str_eq(text_of(&obj), quoted("{'metadata':{'name':'a'}}")));
    struct managed_entries m = entries("[" ENTRY("a", "Apply", "v1", "", "{'f:x':{}}") "]");
    obj = tree("{'metadata':'no object'}");
    managed__write(&m, &obj); /* nowhere to put them */
    assert_true(str_eq(text_of(&obj), quoted("{'metadata':'no object'}")));
    m = entries("[" ENTRY("a", "Apply", "v1", "", "{}") "]");
    managed__drop_empty(&m);
    assert_int_equal(m.n, 0);
}

/* `n` managers that update, the higher the number the younger, and one that applies. */
static struct managed_entries updaters(size_t n, bool two_versions)
{
    struct managed_entries m = { .arena = &arena };
    for (size_t i = n; i-- > 0;) {
        struct fieldset_step path = fieldset_name(arena_printf(&arena, "x%02zu", i));
        (void)managed__add(&m, (struct managed_entry){
                                   .manager = arena_printf(&arena, "m%02zu", i),
                                   .api_version = two_versions && i % 2 ? STR("v2") : STR("v1"),
                                   .time = arena_printf(&arena, "%02zu", i),
                                   .fields = fieldset_of(&arena, &path, 1),
                               });
    }
    struct fieldset_step path = fieldset_name(STR("own"));
    (void)managed__add(&m, (struct managed_entry){ .manager = STR("applier"),
                                                   .is_apply = true,
                                                   .api_version = STR("v1"),
                                                   .fields = fieldset_of(&arena, &path, 1) });
    return m;
}

static void too_many_become_one(void **state)
{
    (void)state;
    struct managed_entry ancient = { .manager = STR("ancient-changes"), .api_version = STR("v1") };
    struct managed_entries m = updaters(MANAGED_UPDATERS_MAX, false);
    managed__cap(&m);
    assert_int_equal(m.n, MANAGED_UPDATERS_MAX + 1);
    assert_null(managed__find(&m, &ancient));

    m = updaters(MANAGED_UPDATERS_MAX + 2, false); /* who applies does not count */
    managed__cap(&m);
    assert_int_equal(m.n, MANAGED_UPDATERS_MAX + 1);
    const struct managed_entry *bucket = managed__find(&m, &ancient);
    assert_non_null(bucket);
    assert_int_equal(fieldset_count(bucket->fields), 3); /* of the three oldest */
    assert_true(str_eq(bucket->time, STR("02")));
    struct managed_entry next = { .manager = STR("m03"), .api_version = STR("v1") };
    assert_non_null(managed__find(&m, &next));

    (void)managed__add(&m, (struct managed_entry){ .manager = STR("zz"),
                                                   .api_version = STR("v1"),
                                                   .time = STR("99"),
                                                   .fields = bucket->fields });
    managed__cap(&m); /* the bucket goes on filling */
    assert_int_equal(m.n, MANAGED_UPDATERS_MAX + 1);
    assert_int_equal(fieldset_count(managed__find(&m, &ancient)->fields), 4);
}

/* Fields of two versions are not the same fields: there are two buckets. */
static void each_version_has_a_bucket(void **state)
{
    (void)state;
    struct managed_entries m = updaters(MANAGED_UPDATERS_MAX + 4, true);
    managed__cap(&m);
    assert_int_equal(m.n, MANAGED_UPDATERS_MAX + 1);
    struct managed_entry first = { .manager = STR("ancient-changes"), .api_version = STR("v1") };
    struct managed_entry second = { .manager = STR("ancient-changes"), .api_version = STR("v2") };
    assert_non_null(managed__find(&m, &first));
    assert_non_null(managed__find(&m, &second));
    assert_int_equal(fieldset_count(managed__find(&m, &first)->fields) +
                         fieldset_count(managed__find(&m, &second)->fields),
                     4 + 2);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(entries_that_are_not_well_formed_are_refused),
        WITH_ARENA(absent_entries_are_none),
        WITH_ARENA(there_is_a_limit),
        WITH_ARENA(who_is_the_same),
        WITH_ARENA(of_two_of_the_same_manager_the_last_counts),
        WITH_ARENA(they_are_written_in_order),
        WITH_ARENA(no_entries_leave_no_field),
        WITH_ARENA(too_many_become_one),
        WITH_ARENA(each_version_has_a_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
