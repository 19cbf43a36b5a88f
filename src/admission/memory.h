/* memory.h - what plugins remember of configuration objects, so that not every request reads them.
 *
 * A plugin says by a struct admission_memo which resources its memory is made of, and how. The
 * first request that needs it makes it. Whoever writes an object of these resources calls
 * admission_forget() before he answers: requests after that answer go by the new configuration, as
 * the next one makes the memory anew. Requests that are under way keep the old one.
 *
 * Where a plugin has nothing to remember, asking costs one comparison. */
#pragma once

#include <stdatomic.h>

#include "admission/admission.h"

struct admission_memory; /* of all plugins of a server; any thread */
struct admission_recalled;

struct admission_memo {
    const struct admission_source {
        struct str group, plural;
    } * made_of; /* an empty plural ends it */
    /* Into the arena, which it is alone to use; whatever it takes from `req` is copied. `*ret` is
     * NULL if there is nothing to remember. */
    int (*make)(struct admission_request *req, struct arena *a, const void **ret, struct err *err);
    /* Which resources it may be about: bits of admission_interest(). Others cost a comparison. May
     * be NULL: all of them. */
    uint64_t (*interest)(const void *made);
    /* Before its arena goes, when nobody uses it any more; may be NULL. */
    void (*done)(const void *made);
    /* Whether a request may have to wait for somebody outside, to choose its thread. May be NULL:
     * never. On a loop. */
    bool (*may_wait)(const void *made, const struct admission_call *call);
};

/* The bit of a resource as rules name it: "pods", "pods/status"; all of them for "*". Some share
 * one. */
uint64_t admission_interest(struct str resource);

struct admission_memory *admission_memory_new(void);
struct admission_memory *admission_memory_free(struct admission_memory *m);
/* The server stops: plugins that wait for somebody outside wait no longer. Any thread. */
void admission_memory_stop(struct admission_memory *m);
/* Becomes true then. NULL of NULL. */
const atomic_bool *admission_memory_cancel(const struct admission_memory *m);

/* An object of a stored kind was written or deleted. Any thread. NULL will do. */
void admission_forget(struct admission_memory *m, const struct kind_resource *stored);
/* Whether one of the plugins may have to wait. On a loop; NULL will do. */
bool admission_may_wait(struct admission_memory *m, const struct admission_call *call);

/* Whether something that is configured may have a say in it: a webhook or a policy. Any thread. */
bool admission_may_decide(struct admission_memory *m, const struct admission_call *call);

/* What the plugin that is asked remembers: `*ret`, NULL if there is nothing. It stays until it is
 * released. On a worker. */
int admission_recall(struct admission_request *req, struct admission_recalled **ret,
                     struct err *err);
const void *admission_recalled(const struct admission_recalled *r); /* NULL of NULL */
void admission_release(struct admission_recalled *r);               /* NULL will do */
