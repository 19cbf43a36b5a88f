/* relist.c - what has changed in the runtime since a second ago: those pods are looked at. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

/* What the runtime has of a pod: a number for each thing in its state. What is not there any more
 * is no news: somebody has removed it, most often we. */
struct seen {
    uint64_t *now, *before;
    size_t n_now, n_before, cap_now, cap_before;
    size_t n;
    char uid[];
};

static struct seen *seen_of(struct agent *ag, struct str uid)
{
    struct seen *s = map_get(&ag->seen, uid);
    if (s)
        return s;
    s = mem_zalloc(sizeof(*s) + uid.n);
    s->n = uid.n;
    memcpy(s->uid, uid.p, uid.n);
    (void)map_set(&ag->seen, (struct str){ s->uid, s->n }, s);
    return s;
}

void relist_forget(void *p)
{
    struct seen *s = p;
    free(s->now);
    free(s->before);
    free(s);
}

static void add(uint64_t **all, size_t *n, size_t *cap, uint64_t hash)
{
    if (*n == *cap) {
        *cap = *cap ? 2 * *cap : 4;
        *all = mem_resize(*all, *cap, sizeof(**all));
    }
    (*all)[(*n)++] = hash;
}

/* With the lock. */
static void note(struct agent *ag, struct arena *a, const struct value *items)
{
    value_each_item (it, items) {
        struct str uid = value_str(value_dig(it, "labels", "io.kubernetes.pod.uid"));
        struct str what = arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(value_text(it, "id")),
                                       STR_ARG(value_text(it, "state")));
        struct seen *s = uid.n ? seen_of(ag, uid) : NULL;
        if (s)
            add(&s->now, &s->n_now, &s->cap_now, map_hash(what));
    }
}

static bool had(const struct seen *s, uint64_t hash)
{
    for (size_t i = 0; i < s->n_before; i++)
        if (s->before[i] == hash)
            return true;
    return false;
}

static bool has_news(const struct seen *s)
{
    for (size_t i = 0; i < s->n_now; i++)
        if (!had(s, s->now[i]))
            return true;
    return false;
}

/* With the lock. */
static void wake_changed(struct agent *ag)
{
    size_t pos = 0;
    struct str uid;
    void *p;
    while (map_next(&ag->seen, &pos, &uid, &p)) {
        struct seen *s = p;
        if (has_news(s) && pods_find(ag, uid))
            agent_wake(ag, uid);
        s->n_before = 0;
        for (size_t i = 0; i < s->n_now; i++)
            add(&s->before, &s->n_before, &s->cap_before, s->now[i]);
        if (s->n_now)
            continue;
        (void)map_remove(&ag->seen, uid);
        relist_forget(s);
    }
}

/* The words of what was read, as lists have them: zero values are left out. */
static const char *const words[] = { "", "CONTAINER_RUNNING", "CONTAINER_EXITED",
                                     "CONTAINER_UNKNOWN" };

void relist_note(struct agent *ag, const struct runtime_pod *have, struct arena *a)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct seen *s = have->n_sandboxes ? seen_of(ag, have->uid) : NULL;
    for (size_t i = 0; s && i < have->n_sandboxes; i++)
        add(&s->before, &s->n_before, &s->cap_before,
            map_hash(arena_printf(a, STR_FMT " %s", STR_ARG(have->sandboxes[i].id),
                                  have->sandboxes[i].is_ready ? "" : "SANDBOX_NOTREADY")));
    for (size_t i = 0; s && i < have->n_containers; i++)
        add(&s->before, &s->n_before, &s->cap_before,
            map_hash(arena_printf(a, STR_FMT " %s", STR_ARG(have->containers[i].id),
                                  words[have->containers[i].state])));
    (void)pthread_mutex_unlock(&ag->lock);
}

void relist_run(struct agent *ag)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value sandboxes, containers;
    if (cri_call(ag->parts.cri, "ListPodSandbox", NULL, 0, &a, &sandboxes, &err) < 0 ||
        cri_call(ag->parts.cri, "ListContainers", NULL, 0, &a, &containers, &err) < 0) {
        log_warn("the runtime does not tell what it has", LOG_ERR(&err));
    } else {
        size_t pos = 0;
        struct str uid;
        void *p;
        (void)pthread_mutex_lock(&ag->lock);
        while (map_next(&ag->seen, &pos, &uid, &p))
            ((struct seen *)p)->n_now = 0;
        note(ag, &a, value_get(&sandboxes, STR("items")));
        note(ag, &a, value_get(&containers, STR("containers")));
        wake_changed(ag);
        ag->last_relist_ns = agent_mono_ns();
        (void)pthread_mutex_unlock(&ag->lock);
    }
    arena_done(&a);
}
