#include "api/kind.h"
#include "base/banned.h"

static const struct kind_field *find_own(const struct kind_type *t, struct str name)
{
    size_t low = 0, high = t->n_fields;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct kind_field *f = &t->fields[t->by_name[mid]];
        int c = str_cmp(name, f->name);
        if (c == 0)
            return f;
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const struct kind_field *kind_field_find(const struct kind_type *t, struct str name)
{
    const struct kind_field *own = find_own(t, name);
    if (own && !(own->flags & KIND_INLINE))
        return own;
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *inner =
            t->fields[i].flags & KIND_INLINE ? kind_field_find(t->fields[i].type, name) : NULL;
        if (inner)
            return inner;
    }
    return NULL;
}

const struct kind_field *kind_field_numbered(const struct kind_type *t, uint32_t number)
{
    size_t low = 0, high = t->n_numbers;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct kind_field *f = &t->fields[t->by_number[mid]];
        if (f->number == number)
            return f;
        if (number < f->number)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const struct kind_type *kind_type_find(struct str group, struct str version, struct str name)
{
    size_t low = 0, high = n_kind_types;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct kind_type *t = &kind_types[mid];
        int c = str_cmp(group, t->group);
        if (!c)
            c = str_cmp(version, t->version);
        if (!c)
            c = str_cmp(name, t->name);
        if (!c)
            return t;
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const struct kind_version *kind_version_find(struct str group, struct str version)
{
    for (size_t i = 0; i < n_kind_versions; i++)
        if (str_eq(kind_versions[i].group, group) && str_eq(kind_versions[i].version, version))
            return &kind_versions[i];
    return NULL;
}

const struct kind_version *kind_group_find(struct str group)
{
    for (size_t i = 0; i < n_kind_versions; i++)
        if (str_eq(kind_versions[i].group, group))
            return &kind_versions[i];
    return NULL;
}
