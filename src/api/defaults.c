#include "api/defaults.h"

#include "base/banned.h"

static void default_namespace(struct arena *a, struct value *obj)
{
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    struct value *labels = meta ? value_ensure(a, meta, STR("labels")) : NULL;
    if (labels && name.n)
        (void)value_set(a, labels, STR("kubernetes.io/metadata.name"), value_string(name));
}

static const struct {
    struct str group, version, kind;
    void (*apply)(struct arena *a, struct value *obj);
} rows[] = {
    { { "", 0 }, { "v1", 2 }, { "Namespace", 9 }, default_namespace },
};

void defaults_apply(struct arena *a, const struct kind_type *t, struct value *obj)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(rows[i].kind, t->name) && str_eq(rows[i].group, t->group) &&
            str_eq(rows[i].version, t->version))
            rows[i].apply(a, obj);
}
