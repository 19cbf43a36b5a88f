#include "api/kind.h"

#include "base/idiom.h"
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

/* The group `meta` is ours: upstream spreads its kinds over three names. */
static const struct kind_type *find_meta(struct str group, struct str version, struct str name)
{
    const struct kind_type *t = kind_type_find(STR("meta"), STR("v1"), name);
    if (!t || t->flags & KIND_EVERYWHERE)
        return t;
    struct str owner = t->flags & KIND_UNVERSIONED ? STR("") : STR("meta.k8s.io");
    return str_eq(group, owner) && str_eq(version, STR("v1")) ? t : NULL;
}

const struct kind_type *kind_find(struct str api_version, struct str kind)
{
    struct str version = api_version, group = STR("");
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_type *t = NULL;
    if (!str_eq(group, STR("meta")))
        t = kind_type_find(group, version, kind);
    if (!t)
        t = find_meta(group, version, kind);
    return t && t->flags & (KIND_HAS_TYPE_META | KIND_EVERYWHERE) ? t : NULL;
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

bool kind_version_is(const struct kind_version *v, enum kind_choice choice)
{
    return v && (choice == KIND_ALL_VERSIONS || !v->is_old);
}

const struct kind_resource *kind_stored(const struct kind_resource *r)
{
    return r->stored ? r->stored : r;
}

bool kind_shows_deleted(const struct kind_resource *r)
{
    static const struct {
        struct str group, plural;
    } shown[] = {
        { STR(""), STR("persistentvolumeclaims") },
        { STR(""), STR("persistentvolumes") },
        { STR(""), STR("pods") },
        { STR(""), STR("podtemplates") },
        { STR(""), STR("resourcequotas") },
        { STR(""), STR("serviceaccounts") },
        { STR(""), STR("services") },
        { STR("resource.k8s.io"), STR("deviceclasses") },
        { STR("resource.k8s.io"), STR("resourceclaims") },
        { STR("resource.k8s.io"), STR("resourceclaimtemplates") },
        { STR("resource.k8s.io"), STR("resourceslices") },
        { STR("storage.k8s.io"), STR("csidrivers") },
        { STR("storage.k8s.io"), STR("csinodes") },
        { STR("storage.k8s.io"), STR("storageclasses") },
        { STR("storage.k8s.io"), STR("volumeattachments") },
        { STR("storage.k8s.io"), STR("volumeattributesclasses") },
    };
    for (size_t i = 0; i < ARRAY_LEN(shown); i++)
        if (str_eq(shown[i].group, r->group) && str_eq(shown[i].plural, r->plural))
            return true;
    return false;
}

const struct kind_resource *kind_resource_find(const struct kind_version *v, struct str plural)
{
    for (size_t i = 0; i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, plural))
            return &v->resources[i];
    return NULL;
}

const struct kind_subresource *kind_subresource_find(const struct kind_resource *r, struct str name)
{
    for (size_t i = 0; i < r->n_subresources; i++)
        if (str_eq(r->subresources[i].name, name))
            return &r->subresources[i];
    return NULL;
}

const struct kind_resource *kind_stored_named(struct str group, struct str plural)
{
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++)
            if (str_eq(kind_versions[v].resources[i].plural, plural) &&
                str_eq(kind_versions[v].group, group))
                return kind_stored(&kind_versions[v].resources[i]);
    return NULL;
}
