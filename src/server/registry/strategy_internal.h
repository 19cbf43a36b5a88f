/* strategy_internal.h - shared by the files that hold the strategies of single kinds. */
#pragma once

#include "server/registry/strategy.h"

/* A kind's own part; any function may be NULL. The status was dropped or carried over already, and
 * the generation is counted afterwards. */
struct strategy_rules {
    struct str group, resource;
    void (*create)(const struct strategy *s, struct value *obj);
    void (*update)(const struct strategy *s, struct value *obj, const struct value *old_obj);
    /* The status of `obj` is the new one, all else but the metadata is as it was. */
    void (*update_status)(const struct strategy *s, struct value *obj, const struct value *old_obj);
};

/* One table a file, ended by a row without a resource. */
extern const struct strategy_rules strategy__cluster[], strategy__pod[], strategy__service[],
    strategy__storage[], strategy__workload[];

/* PUT to pods/ephemeralcontainers and pods/resize, to certificatesigningrequests/approval. */
void strategy__ephemeral_containers(const struct strategy *s, struct value *obj,
                                    const struct value *old_obj);
void strategy__resize(const struct strategy *s, struct value *obj, const struct value *old_obj);
void strategy__approval(const struct strategy *s, struct value *obj, const struct value *old_obj);

/* Resources that a pod can ask for as a whole. */
bool strategy__is_pod_level(struct str resource);
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
