#include "server/registry/suite_strategy.h"

#include "api/typed.h"
#include "base/json.h"

const struct kind_resource *suite_strategy_resource(const char *group, const char *plural)
{
    const struct kind_resource *r = kind_stored_named(str_of(group), str_of(plural));
    if (!r)
        fail_msg("there is no %s", plural);
    return r;
}

struct value suite_strategy_read(struct arena *a, const struct kind_resource *r, const char *text)
{
    struct err err = ERR_INIT(a);
    struct value given, obj = value_null();
    char *quoted = arena_dup(a, text, strlen(text));
    for (size_t i = 0; text[i]; i++)
        if (quoted[i] == '\'')
            quoted[i] = '"';
    if (json_read(a, (struct str){ quoted, strlen(text) }, NULL, &given, &err) < 0 ||
        typed_read(a, r->type, &given, NULL, &obj, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return obj;
}

void suite_strategy_settle(struct arena *a, const struct kind_resource *r, struct value *obj)
{
    struct value settled;
    assert_int_equal(typed_read(a, r->type, obj, NULL, &settled, NULL), 0);
    *obj = settled;
}

static void take_warning(void *arg, struct str text)
{
    struct str *warning = arg;
    if (warning->n)
        fail_msg("two warnings: " STR_FMT ", " STR_FMT, STR_ARG(*warning), STR_ARG(text));
    *warning = text;
}

static const struct kind_resource *asked(const struct suite_row *row,
                                         const struct kind_resource *stored)
{
    if (!row->version)
        return stored;
    const struct kind_version *v = kind_version_find(str_of(row->group), str_of(row->version));
    const struct kind_resource *r = v ? kind_resource_find(v, str_of(row->resource)) : NULL;
    if (!r)
        fail_msg("there is no %s in %s", row->resource, row->version);
    return r;
}

static void check(struct arena *a, const struct suite_row *row, const struct value *obj,
                  const struct value *want, struct str warning)
{
    autobuf got = { 0 };
    json_write(&got, obj);
    if (!value_eq(obj, want))
        fail_msg("%s %s\nwant %s\ngot  " STR_FMT, row->resource, row->given, row->want,
                 STR_ARG(buf_str(&got)));
    assert_string_equal(str_cstr(a, warning), row->warning ? row->warning : "");
}

static void run_row(struct arena *a, const struct suite_row *row)
{
    static const struct str groups[] = { STR("g1"), STR("g2") };
    static const struct user_extra extra[] = { { STR("k"), groups, 2 } };
    static const struct user user = { STR("eve"), STR("u1"), groups, 2, extra, 1 };
    const struct kind_resource *r = suite_strategy_resource(row->group, row->resource);
    struct str warning = STR("");
    struct strategy s = {
        .arena = a,
        .resource = r,
        .asked = asked(row, r),
        .user = &user,
        .now = STR("2030-01-02T03:04:05Z"),
        .warn = take_warning,
        .arg = &warning,
    };
    struct value obj = suite_strategy_read(a, r, row->given),
                 want = suite_strategy_read(a, r, row->want);
    if (row->old) {
        struct value old_obj = suite_strategy_read(a, r, row->old);
        strategy_update(&s, str_of(row->sub ? row->sub : ""), &obj, &old_obj);
    } else {
        strategy_create(&s, &obj);
    }
    suite_strategy_settle(a, r, &obj);
    check(a, row, &obj, &want, warning);
}

void suite_strategy_run(const struct suite_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        run_row(&a, &rows[i]);
        arena_done(&a);
    }
}
