/* strategy_internal.h - shared by the files that hold the strategies of single kinds. */
#pragma once

#include "server/registry/strategy.h"

typedef void strategy_create_fn(const struct strategy *s, struct value *obj);
typedef void strategy_update_fn(const struct strategy *s, struct value *obj,
                                const struct value *old_obj);

/* A path below an object, other than its status, that changes a part of it. */
struct strategy_sub {
    struct str name;
    strategy_update_fn *update;
};

/* All that is special about a kind; what is not said is as usual. The functions run after the
 * status was dropped or carried over, and before the generation is counted. */
struct strategy_rules {
    struct str group, resource; /* without a resource: all of the group that have no row */
    unsigned flags;             /* enum strategy_flags */
    strategy_create_fn *create;
    strategy_update_fn *update;
    /* The status of `obj` is the new one, all else but the metadata is as it was. */
    strategy_update_fn *update_status;
    const struct strategy_sub *subs; /* ended by one without a name; NULL: none */
};

/* One table a file, named strategy__NAME and ended by a row without a group. A new file is a name
 * in this list. */
/* clang-format off */
#define STRATEGY_TABLES(table)                                                           \
    table(plain) table(cluster) table(pod) table(service) table(storage) table(workload)
/* clang-format on */

#define STRATEGY_DECLARE(name) extern const struct strategy_rules strategy__##name[];
STRATEGY_TABLES(STRATEGY_DECLARE)
#undef STRATEGY_DECLARE

/* The row of the resource; one that says nothing if it has none. */
const struct strategy_rules *strategy__rules(const struct kind_resource *r);

/* spec.resources of a pod, where it is there at all: what its containers say in sum. */
void strategy__fill_pod_resources(struct arena *a, struct value *spec);

/* Fields behind feature gates that are off are removed, unless the old object (NULL for a new one)
 * uses that feature already. */
void strategy__drop_gated(struct arena *a, const struct kind_type *t, struct value *obj,
                          const struct value *old_obj);

/* One more generation if something of the spec has changed. Done for all after their rules; for
 * those whose rules take away what counts as a change, before that too. */
void strategy__count_generation(const struct strategy *s, struct value *obj,
                                const struct value *old_obj);

/* Makes the field of `obj` what it is in `old_obj`, also absent. */
void strategy__keep(struct arena *a, struct value *obj, const struct value *old_obj,
                    struct str field);
/* Labels, annotations, finalizers and owners as they were. */
void strategy__keep_metadata(struct arena *a, struct value *obj, const struct value *old_obj);
/* Also equal: both absent. */
bool strategy__same(const struct value *v, const struct value *w);
/* Absent and of another type count as empty. */
bool strategy__has_item(const struct value *list, struct str text);
void strategy__add_item(struct arena *a, struct value *obj, struct str field, struct str text);
