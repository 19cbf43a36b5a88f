/* columns.c - finds the rule of a kind and makes rows and definitions by it. */
#include "api/columns/columns.h"

#include <stdlib.h>

#include "api/columns/columns_internal.h"
#include "base/idiom.h"
#include "base/banned.h"

static const struct kind_type scale_type = { .name = STR("Scale"),
                                             .group = STR("autoscaling"),
                                             .version = STR("v1") };
static const struct kind_column scale_columns[] = {
    { STR("Name"), STR("string"), STR(""), 0 },
    { STR("Desired"), STR("integer"), STR(""), 0 },
    { STR("Available"), STR("integer"), STR(""), 0 },
    { STR("Age"), STR("string"), STR(""), 0 },
};

const struct kind_resource columns_scale = {
    .group = STR("autoscaling"),
    .version = STR("v1"),
    .plural = STR("scales"),
    .singular = STR("scale"),
    .type = &scale_type,
    .n_columns = ARRAY_LEN(scale_columns),
    .columns = scale_columns,
};

static const struct kind_column default_columns[] = {
    { STR("Name"), STR("string"), STR("name"), 0 },
    { STR("Created At"), STR("date"), STR(""), 0 },
};

static void print_default(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, columns_date(row->arena, row_at(row, "metadata", "creationTimestamp")));
}

static const struct columns_rule *find_rule(const struct kind_resource *r)
{
#define COLUMNS_LIST(name) columns_##name##_rules,
    static const struct columns_rule *const lists[] = { COLUMNS_RULE_LISTS(COLUMNS_LIST) };
#undef COLUMNS_LIST
    static const struct columns_rule usual = { .print = print_default };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const struct columns_rule *rule = lists[i]; rule->print; rule++)
            if (str_eq(rule->kind, r->type->name) && str_eq(rule->group, r->group))
                return rule;
    return &usual;
}

struct value columns_row(struct arena *a, const struct kind_resource *r, const struct value *obj,
                         int64_t now_ns, size_t *work)
{
    if (r->type->custom)
        return r->type->custom->row(a, r->type, obj, now_ns, work);
    struct row row = { a, r, obj, now_ns, value_array() };
    find_rule(r)->print(&row);
    return row.cells;
}

struct value columns_conditions(struct arena *a, const struct kind_resource *r,
                                const struct value *obj)
{
    const struct columns_rule *rule = find_rule(r);
    return rule->conditions ? rule->conditions(a, obj) : value_null();
}

struct value columns_definitions(struct arena *a, const struct kind_resource *r)
{
    if (r->type->custom)
        return r->type->custom->columns(a, r->type);
    const struct kind_column *columns = r->n_columns ? r->columns : default_columns;
    size_t n = r->n_columns ? r->n_columns : ARRAY_LEN(default_columns);
    struct value list = value_array();
    for (size_t i = 0; i < n; i++) {
        struct value def = value_object();
        value_add(a, &def, STR("name"), value_string(columns[i].name));
        value_add(a, &def, STR("type"), value_string(columns[i].type));
        value_add(a, &def, STR("format"), value_string(columns[i].format));
        value_add(a, &def, STR("description"),
                  value_string(columns_help(r->type->name, columns[i].name)));
        value_add(a, &def, STR("priority"), value_int(columns[i].priority));
        value_push(a, &list, def);
    }
    return list;
}

/* ---- Lists ---- */

bool columns_need_whole_list(const struct kind_resource *r)
{
    const struct columns_rule *rule = find_rule(r);
    return rule->compare || rule->mark;
}

void columns_list(struct arena *a, const struct kind_resource *r, const struct value **objs,
                  size_t n, int64_t now_ns, struct value *ret_cells)
{
    const struct columns_rule *rule = find_rule(r);
    if (rule->compare && n)
        qsort(objs, n, sizeof(*objs), rule->compare);
    for (size_t i = 0; i < n; i++)
        ret_cells[i] = columns_row(a, r, objs[i], now_ns, NULL);
    if (rule->mark)
        rule->mark(a, objs, n, ret_cells);
}
