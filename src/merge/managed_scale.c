/* The managers of an object and those of its Scale: the same people, known by another version.
 *
 * As upstream does it, with what follows from it: those who update are told apart by their version
 * too, so each of them that owns the replicas of the object is somebody else in the Scale, and what
 * comes back from there is an entry of its own, without a time. */
#include "merge/managed_internal.h"

#include "base/banned.h"

static const struct str scale_version = STR("autoscaling/v1");

/* Of a Scale, and of most objects. */
static const struct fieldset *replicas(struct arena *a)
{
    const struct fieldset_step path[] = { fieldset_name(STR("spec")),
                                          fieldset_name(STR("replicas")) };
    return fieldset_of(a, path, 2);
}

static const struct fieldset *replicas_of(struct arena *a, const struct managed_request *parent,
                                          struct str api_version)
{
    const struct managed_versions *versions = parent->versions;
    if (!versions || !versions->replicas)
        return replicas(a);
    return versions->replicas(a, parent->place, api_version);
}

static bool has_replicas(struct arena *a, const struct managed_request *parent,
                         const struct managed_entry *e)
{
    return fieldset_intersection(a, e->fields, replicas_of(a, parent, e->api_version));
}

static void read_known(struct managed_entries *m, const struct managed_request *req,
                       const struct value *obj)
{
    if (managed__read(m, value_dig(obj, "metadata", "managedFields"), NULL) < 0)
        m->n = 0;
    managed__drop_unknown(m, req);
}

void managed_to_scale(struct arena *a, const struct managed_request *parent,
                      const struct value *obj, struct value *scale)
{
    struct managed_entries m = { .arena = a };
    size_t kept = 0;
    read_known(&m, parent, obj);
    for (size_t i = 0; i < m.n; i++) {
        if (!has_replicas(a, parent, &m.all[i]))
            continue;
        m.all[kept] = m.all[i];
        m.all[kept].api_version = scale_version;
        m.all[kept++].fields = replicas(a);
    }
    m.n = kept;
    managed__write(&m, scale);
}

void managed_from_scale(struct arena *a, const struct managed_request *parent,
                        const struct value *scale, struct value *obj)
{
    struct managed_entries m = { .arena = a }, scaled = { .arena = a };
    read_known(&m, parent, obj);
    if (managed__read(&scaled, value_dig(scale, "metadata", "managedFields"), NULL) < 0)
        scaled.n = 0;
    for (size_t i = 0; i < m.n; i++) {
        struct managed_entry *same = managed__find(&scaled, &m.all[i]);
        if (!has_replicas(a, parent, &m.all[i]))
            continue;
        if (same)
            same->fields = NULL; /* it still has what it had */
        else
            m.all[i].fields = fieldset_difference(a, m.all[i].fields,
                                                  replicas_of(a, parent, m.all[i].api_version));
    }
    for (size_t i = 0; i < scaled.n; i++) {
        if (!fieldset_intersection(a, scaled.all[i].fields, replicas(a)))
            continue;
        struct managed_entry e = scaled.all[i];
        const struct managed_entry *before = managed__find(&m, &e);
        e.api_version = parent->api_version;
        e.time = before ? before->time : STR("");
        e.fields = replicas_of(a, parent, parent->api_version);
        (void)managed__add(&m, e);
    }
    managed__drop_empty(&m);
    managed__write(&m, obj);
}
