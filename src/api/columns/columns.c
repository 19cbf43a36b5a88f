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

static const struct columns_rule *const rule_lists[] = {
    columns_pod_rules,     columns_workload_rules, columns_autoscaler_rules, columns_network_rules,
    columns_storage_rules, columns_core_rules,     columns_extension_rules,  columns_access_rules,
};

static void print_default(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, columns_date(row->arena, row_at(row, "metadata", "creationTimestamp")));
}

static bool is_kind(const struct kind_resource *r, struct str group, struct str kind)
{
    return str_eq(r->type->name, kind) && str_eq(r->group, group);
}

struct value columns_row(struct arena *a, const struct kind_resource *r, const struct value *obj,
                         int64_t now_ns, size_t *work)
{
    if (r->type->custom)
        return r->type->custom->row(a, r->type, obj, now_ns, work);
    struct row row = { a, r, obj, now_ns, value_array() };
    for (size_t i = 0; i < ARRAY_LEN(rule_lists); i++) {
        for (const struct columns_rule *rule = rule_lists[i]; rule->print; rule++) {
            if (is_kind(r, rule->group, rule->kind)) {
                rule->print(&row);
                return row.cells;
            }
        }
    }
    print_default(&row);
    return row.cells;
}

/* Tells a client that watches for it that the pod will not change any more. */
struct value columns_conditions(struct arena *a, const struct kind_resource *r,
                                const struct value *obj)
{
    struct str phase = value_str(value_dig(obj, "status", "phase"));
    bool succeeded = str_eq(phase, STR("Succeeded"));
    if (!is_kind(r, STR(""), STR("Pod")) || (!succeeded && !str_eq(phase, STR("Failed"))))
        return value_null();
    struct value condition = value_object(), list = value_array();
    value_add(a, &condition, STR("type"), value_string(STR("Completed")));
    value_add(a, &condition, STR("status"), value_string(STR("True")));
    value_add(a, &condition, STR("reason"), value_string(phase));
    value_add(a, &condition, STR("message"),
              value_string(succeeded ? STR("The pod has completed successfully.")
                                     : STR("The pod failed.")));
    value_push(a, &list, condition);
    return list;
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

static bool is_flow_schema(const struct kind_resource *r)
{
    return is_kind(r, STR("flowcontrol.apiserver.k8s.io"), STR("FlowSchema"));
}

static bool is_storage_class(const struct kind_resource *r)
{
    return is_kind(r, STR("storage.k8s.io"), STR("StorageClass"));
}

bool columns_need_whole_list(const struct kind_resource *r)
{
    return is_flow_schema(r) || is_storage_class(r);
}

static struct str name_of(const struct value *obj)
{
    return value_str(value_dig(obj, "metadata", "name"));
}

static int compare_precedence(const void *a, const void *b)
{
    const struct value *x = *(const struct value *const *)a, *y = *(const struct value *const *)b;
    int64_t p = columns_int(value_dig(x, "spec", "matchingPrecedence"));
    int64_t q = columns_int(value_dig(y, "spec", "matchingPrecedence"));
    return p < q ? -1 : p > q ? 1 : str_cmp(name_of(x), name_of(y));
}

static bool says_default(const struct value *class)
{
    static const char *const annotations[] = { "storageclass.kubernetes.io/is-default-class",
                                               "storageclass.beta.kubernetes.io/is-default-class" };
    for (size_t i = 0; i < 2; i++)
        if (str_eq(value_str(value_dig(class, "metadata", "annotations", annotations[i])),
                   STR("true")))
            return true;
    return false;
}

/* Of several, the youngest is in force, and of equally young ones the first by name. */
static bool outranks(const struct value *class, const struct value *other)
{
    struct gotime t = { .sec = GOTIME_ZERO_SEC }, u = { .sec = GOTIME_ZERO_SEC };
    (void)columns_time(value_dig(class, "metadata", "creationTimestamp"), &t);
    (void)columns_time(value_dig(other, "metadata", "creationTimestamp"), &u);
    int64_t younger = columns_between_ns(u, t);
    return younger > 0 || (younger == 0 && str_cmp(name_of(class), name_of(other)) < 0);
}

static void mark_default_class(struct arena *a, const struct value *const *objs, size_t n,
                               struct value *cells)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (says_default(objs[i]) && (best == n || outranks(objs[i], objs[best])))
            best = i;
    if (best == n || !name_of(objs[best]).n)
        return;
    struct value *name = value_edit_at(a, &cells[best], 0);
    *name = value_string(columns_cat(a, name_of(objs[best]), STR(" (default)")));
}

void columns_list(struct arena *a, const struct kind_resource *r, const struct value **objs,
                  size_t n, int64_t now_ns, struct value *ret_cells)
{
    if (is_flow_schema(r) && n)
        qsort(objs, n, sizeof(*objs), compare_precedence);
    for (size_t i = 0; i < n; i++)
        ret_cells[i] = columns_row(a, r, objs[i], now_ns, NULL);
    if (is_storage_class(r))
        mark_default_class(a, objs, n, ret_cells);
}
