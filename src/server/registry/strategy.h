/* strategy.h - how the objects of a resource are created, updated and deleted, where resources
 * differ: flags for what many have in common, and functions for what only one kind does.
 *
 * These run after the defaults and before validation. Objects are trees of the storage version, as
 * typed_read() leaves them; what a strategy puts in may stand out of order and is settled by its
 * caller. Rules only: no I/O, and the time is an argument. */
#pragma once

#include "api/kind.h"
#include "auth/user.h"
#include "base/value.h"

enum strategy_flags {
    STRATEGY_GENERATION = 1 << 0,      /* metadata.generation counts changes of the spec */
    STRATEGY_UPSERT = 1 << 1,          /* a PUT creates what is not there */
    STRATEGY_CONDITIONAL = 1 << 2,     /* an update must say which resourceVersion it is of */
    STRATEGY_KEEP_STATUS = 1 << 3,     /* a status in what is created counts */
    STRATEGY_ORPHAN = 1 << 4,          /* by default dependents stay when the owner goes */
    STRATEGY_NO_PROPAGATION = 1 << 5,  /* has no dependents: propagationPolicy says nothing */
    STRATEGY_ANNOTATIONS = 1 << 6,     /* annotations count as spec for the generation */
    STRATEGY_LABELS = 1 << 7,          /* labels too */
    STRATEGY_GENERATION_LATE = 1 << 8, /* the generation is not set before the first change */
    STRATEGY_GENERATION_ONCE = 1 << 9, /* and here not changed after it was set */
    STRATEGY_STATUS_COUNTS = 1 << 12,  /* a status without a path of its own is like a spec */
    STRATEGY_GRACEFUL = 1 << 13,       /* its objects are given time to end by themselves */
    STRATEGY_CLAIMS = 1 << 14,         /* it has addresses and ports, given by service_claim.h */
    STRATEGY_MAKES_NAMES = 1 << 15,    /* the server names what has no name and no generateName */
    /* What a PUT to /status leaves of the metadata that came with it; without a flag all. */
    STRATEGY_STATUS_LABELS = 1 << 10, /* labels are as they were */
    STRATEGY_STATUS_META = 1 << 11,   /* so are annotations, finalizers and owners */
};

unsigned strategy_flags(const struct kind_resource *r);

/* Whether dependents stay by default when their owner is deleted through `asked`: old versions of
 * workloads were made before there was anything to collect them. */
bool strategy_orphans(const struct kind_resource *asked);

struct strategy {
    struct arena *arena;
    const struct kind_resource *resource; /* as it is stored */
    const struct kind_resource *asked;    /* in the version of the request */
    const struct user *user;              /* NULL: the server itself */
    struct str now;                       /* RFC 3339, whole seconds */
    /* Takes a text for a Warning header, which lives as long as the arena. */
    void (*warn)(void *arg, struct str text);
    void *arg;
};

/* What the server decides, whatever the client has written. */
void strategy_create(const struct strategy *s, struct value *obj);
/* `sub` is the path that the new object came by: empty, "status", "approval",
 * "ephemeralcontainers" or "resize". All that does not belong to it is as it was. */
void strategy_update(const struct strategy *s, struct str sub, struct value *obj,
                     const struct value *old_obj);

/* Whether its objects are given time to end by themselves. */
bool strategy_is_graceful(const struct kind_resource *r);
/* How much: what was asked for, else (NULL) what the object says, within what its kind allows. 0
 * for kinds that end at once. */
int64_t strategy_grace(const struct kind_resource *r, const struct value *obj,
                       const int64_t *asked);
