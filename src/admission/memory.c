#include "admission/memory.h"

#include <pthread.h>
#include <stdlib.h>

#include "admission/plugins.h"
#include "base/mem.h"
#include "base/banned.h"

/* Made once, used by several requests. */
struct admission_recalled {
    struct arena arena;
    const struct admission_memo *memo;
    const void *made;
    uint64_t as_of; /* how often the slot had been changed before */
    atomic_size_t refs;
};

struct slot {
    const struct admission_memo *memo;             /* NULL: the plugin remembers nothing */
    atomic_uint_fast64_t n_changes;                /* 1 at first */
    atomic_uint_fast64_t empty_as_of;              /* there was nothing then */
    atomic_uint_fast64_t interest, interest_as_of; /* which resources it was about then */
    pthread_mutex_t lock; /* of `now`; whoever makes it keeps the lock meanwhile */
    struct admission_recalled *now;
};

struct admission_memory {
    struct slot slots[ADMISSION_PLUGINS_MAX];
    atomic_bool is_stopping;
};

struct admission_memory *admission_memory_new(void)
{
    struct admission_memory *m = mem_new(struct admission_memory);
    for (size_t i = 0; i < ADMISSION_PLUGINS_MAX; i++) {
        m->slots[i].memo = admission_memo_of(i);
        atomic_init(&m->slots[i].n_changes, 1);
        pthread_mutex_init(&m->slots[i].lock, NULL);
    }
    return m;
}

struct admission_memory *admission_memory_free(struct admission_memory *m)
{
    for (size_t i = 0; m && i < ADMISSION_PLUGINS_MAX; i++) {
        admission_release(m->slots[i].now);
        pthread_mutex_destroy(&m->slots[i].lock);
    }
    free(m);
    return NULL;
}

void admission_memory_stop(struct admission_memory *m)
{
    atomic_store(&m->is_stopping, true);
}

const atomic_bool *admission_memory_cancel(const struct admission_memory *m)
{
    return m ? &m->is_stopping : NULL;
}

static bool is_made_of(const struct admission_memo *memo, const struct kind_resource *stored)
{
    for (const struct admission_source *s = memo->made_of; s->plural.n; s++)
        if (str_eq(s->plural, stored->plural) && str_eq(s->group, stored->group))
            return true;
    return false;
}

void admission_forget(struct admission_memory *m, const struct kind_resource *stored)
{
    for (size_t i = 0; m && i < ADMISSION_PLUGINS_MAX; i++)
        if (m->slots[i].memo && is_made_of(m->slots[i].memo, stored))
            atomic_fetch_add(&m->slots[i].n_changes, 1);
}

static bool is_known_empty(struct slot *s)
{
    return atomic_load(&s->empty_as_of) == atomic_load(&s->n_changes);
}

uint64_t admission_interest(struct str resource)
{
    struct str plural = str_cut(&resource, '/');
    uint32_t h = 2166136261u;
    if (str_eq(plural, STR("*")))
        return ~UINT64_C(0);
    for (size_t i = 0; i < plural.n; i++)
        h = (h ^ (unsigned char)plural.p[i]) * 16777619u;
    return UINT64_C(1) << (h >> 26);
}

/* Both as rules may name it: they stand for each other. */
static bool is_about(struct slot *s, const struct kind_resource *resource,
                     const struct kind_resource *stored)
{
    if (!s->memo->interest || atomic_load(&s->interest_as_of) != atomic_load(&s->n_changes))
        return true;
    uint64_t bits = admission_interest(stored->plural);
    if (resource != stored)
        bits |= admission_interest(resource->plural);
    return atomic_load(&s->interest) & bits;
}

/* A slot that is being made, or has to be, may turn out to have something that waits. */
static bool may_wait(struct slot *s, const struct admission_call *call)
{
    if (!s->memo->may_wait || is_known_empty(s) || !is_about(s, call->resource, call->stored))
        return false;
    if (pthread_mutex_trylock(&s->lock) != 0)
        return true;
    bool is_old = !s->now || s->now->as_of != atomic_load(&s->n_changes);
    bool ret = is_old || s->memo->may_wait(s->now->made, call);
    pthread_mutex_unlock(&s->lock);
    return ret;
}

bool admission_may_wait(struct admission_memory *m, const struct admission_call *call)
{
    for (size_t i = 0; m && i < ADMISSION_PLUGINS_MAX; i++)
        if (m->slots[i].memo && admission_is_chosen(i, &call->choice) &&
            may_wait(&m->slots[i], call))
            return true;
    return false;
}

/* What is for certain resources only is what users have configured. */
bool admission_may_decide(struct admission_memory *m, const struct admission_call *call)
{
    for (size_t i = 0; m && i < ADMISSION_PLUGINS_MAX; i++) {
        struct slot *s = &m->slots[i];
        if (s->memo && s->memo->interest && admission_is_chosen(i, &call->choice) &&
            !is_known_empty(s) && is_about(s, call->resource, call->stored))
            return true;
    }
    return false;
}

void admission_release(struct admission_recalled *r)
{
    if (!r || atomic_fetch_sub(&r->refs, 1) > 1)
        return;
    if (r->memo->done && r->made)
        r->memo->done(r->made);
    arena_done(&r->arena);
    free(r);
}

/* Replaces what is there by what is there now. */
static int make(struct slot *s, struct admission_request *req, struct err *err)
{
    struct admission_recalled *r = mem_new(struct admission_recalled);
    arena_init(&r->arena);
    r->memo = s->memo;
    r->as_of = atomic_load(&s->n_changes);
    atomic_init(&r->refs, 1);
    int fault = s->memo->make(req, &r->arena, &r->made, err);
    if (fault < 0 || !r->made) {
        if (fault == 0)
            atomic_store(&s->empty_as_of, r->as_of);
        admission_release(r);
        r = NULL;
    }
    if (fault < 0)
        return fault;
    if (r && s->memo->interest) {
        atomic_store(&s->interest, s->memo->interest(r->made));
        atomic_store(&s->interest_as_of, r->as_of);
    }
    admission_release(s->now);
    s->now = r;
    return 0;
}

static int recall(struct slot *s, struct admission_request *req, struct admission_recalled **ret,
                  struct err *err)
{
    bool is_new = s->now && s->now->as_of == atomic_load(&s->n_changes);
    int r = is_new || is_known_empty(s) ? 0 : make(s, req, err);
    if (r < 0 || !s->now)
        return r;
    atomic_fetch_add(&s->now->refs, 1);
    *ret = s->now;
    return 0;
}

int admission_recall(struct admission_request *req, struct admission_recalled **ret,
                     struct err *err)
{
    struct slot *s = req->memory ? &req->memory->slots[req->plugin] : NULL;
    *ret = NULL;
    if (!s || is_known_empty(s) || !is_about(s, req->resource, req->stored))
        return 0;
    pthread_mutex_lock(&s->lock);
    int r = recall(s, req, ret, err);
    pthread_mutex_unlock(&s->lock);
    return r;
}

const void *admission_recalled(const struct admission_recalled *r)
{
    return r ? r->made : NULL;
}
