#include "api/columns/suite_columns.h"

const struct kind_resource *suite_columns_resource(const char *text)
{
    struct str plural = str_of(text), version = str_cut(&plural, ' '), group = { 0 };
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_version *v = kind_version_find(group, version);
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, plural))
            return &v->resources[i];
    if (str_eq(plural, STR("scales")))
        return &columns_scale;
    fail_msg("there is no resource %s", text);
    return NULL;
}

void suite_columns_run(const struct suite_cells *rows, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        struct value obj = suite_json(&a, rows[i].obj), want = suite_json(&a, rows[i].cells);
        const struct kind_resource *r = suite_columns_resource(rows[i].resource);
        struct value got = columns_row(&a, r, &obj, NOW_NS, NULL);
        suite_json_same(&got, &want, rows[i].obj);
    }
    arena_done(&a);
}
