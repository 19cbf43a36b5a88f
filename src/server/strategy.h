/* strategy.h - how the objects of a resource are created, updated and deleted, where resources
 * differ: flags for what many have in common, and functions for what only one kind does.
 *
 * Rules only: no I/O, and the time is an argument. */
#pragma once

#include "api/kind.h"
#include "base/value.h"

enum strategy_flags {
    STRATEGY_GENERATION = 1 << 0,     /* metadata.generation counts changes of the spec */
    STRATEGY_UPSERT = 1 << 1,         /* a PUT creates what is not there */
    STRATEGY_CONDITIONAL = 1 << 2,    /* an update must say which resourceVersion it is of */
    STRATEGY_KEEP_STATUS = 1 << 3,    /* a status in what is created counts */
    STRATEGY_ORPHAN = 1 << 4,         /* by default dependents stay when the owner goes */
    STRATEGY_NO_PROPAGATION = 1 << 5, /* has no dependents: propagationPolicy says nothing */
    STRATEGY_ANNOTATIONS = 1 << 6,    /* annotations count as spec for the generation */
    STRATEGY_LABELS = 1 << 7,         /* labels too */
};

unsigned strategy_flags(const struct kind_resource *r);

/* What every answer about a deprecated resource warns of; empty for most. */
struct str strategy_warning(const struct kind_resource *r);

/* Before validation: what the server decides, whatever the client has written. Objects are of the
 * storage version. Without a status subresource the status is like any other field. */
void strategy_create(struct arena *a, const struct kind_resource *r, struct value *obj);
void strategy_update(struct arena *a, const struct kind_resource *r, struct value *obj,
                     const struct value *old_obj);
/* The same for a PUT to /status: all but the status, and what belongs to it, is as it was. */
void strategy_update_status(struct arena *a, const struct kind_resource *r, struct value *obj,
                            const struct value *old_obj);

/* Whether its objects are given time to end by themselves. */
bool strategy_is_graceful(const struct kind_resource *r);
/* How much: what was asked for, else (NULL) what the object says, within what its kind allows. 0
 * for kinds that end at once. */
int64_t strategy_grace(const struct kind_resource *r, const struct value *obj,
                       const int64_t *asked);
