#include "controllers/common/own_writes.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/keyed.h"
#include "base/mem.h"
#include "base/banned.h"

enum { FORGET_AFTER_MS = 10000 };

struct note {
    SLIST_ENTRY(note) next;
    int64_t at_ns;
    uint64_t revision; /* 0: deleted */
    bool was_there;
    struct spn_text object_key, uid;
    char text[]; /* of both */
};

struct notes {
    SLIST_HEAD(note_list, note) all;
    size_t n_key;
    char key[];
};

struct own_writes {
    pthread_mutex_t lock;
    struct keyed by_key; /* struct notes */
};

static struct str key_of(const void *thing)
{
    const struct notes *n = thing;
    return (struct str){ n->key, n->n_key };
}

struct own_writes *own_writes_new(void)
{
    struct own_writes *ow = mem_new(struct own_writes);
    ow->by_key.key_of = key_of;
    (void)pthread_mutex_init(&ow->lock, NULL);
    return ow;
}

static void notes_free(struct notes *n)
{
    while (n && !SLIST_EMPTY(&n->all)) {
        struct note *first = SLIST_FIRST(&n->all);
        SLIST_REMOVE_HEAD(&n->all, next);
        free(first);
    }
    free(n);
}

struct own_writes *own_writes_free(struct own_writes *ow)
{
    size_t pos = 0;
    if (!ow)
        return NULL;
    for (struct notes *n; (n = keyed_next(&ow->by_key, &pos));)
        notes_free(n);
    keyed_done(&ow->by_key);
    (void)pthread_mutex_destroy(&ow->lock);
    free(ow);
    return NULL;
}

static struct notes *notes_of(struct own_writes *ow, struct spn_text key)
{
    struct notes *n = keyed_get(&ow->by_key, (struct str){ key.p, key.n });
    if (n)
        return n;
    n = mem_zalloc(sizeof(*n) + key.n);
    n->n_key = key.n;
    memcpy(n->key, key.p, key.n);
    (void)keyed_put(&ow->by_key, n);
    return n;
}

/* "NAMESPACE/NAME", or the name alone, behind the note. */
static struct note *note_new(const struct spn_value *obj)
{
    struct spn_text ns = spn_value_text(spn_value_dig(obj, "metadata", "namespace"));
    struct spn_text name = spn_value_text(spn_value_dig(obj, "metadata", "name"));
    struct spn_text uid = spn_value_text(spn_value_dig(obj, "metadata", "uid"));
    struct note *n = mem_zalloc(sizeof(*n) + ns.n + 1 + name.n + uid.n);
    char *p = n->text;
    if (ns.n) {
        memcpy(p, ns.p, ns.n);
        p += ns.n;
        *p++ = '/';
    }
    if (name.n)
        memcpy(p, name.p, name.n);
    p += name.n;
    n->object_key = (struct spn_text){ n->text, (size_t)(p - n->text) };
    if (uid.n)
        memcpy(p, uid.p, uid.n);
    n->uid = (struct spn_text){ p, uid.n };
    n->at_ns = clock_mono_ns(&clock_system);
    return n;
}

static void add_note(struct own_writes *ow, struct spn_text key, struct note *n)
{
    (void)pthread_mutex_lock(&ow->lock);
    struct notes *of_key = notes_of(ow, key);
    SLIST_INSERT_HEAD(&of_key->all, n, next);
    (void)pthread_mutex_unlock(&ow->lock);
}

static void note_answer(struct own_writes *ow, struct spn_text key, const struct spn_value *answer,
                        bool was_there)
{
    struct note *n = note_new(answer);
    n->was_there = was_there;
    struct spn_text v = spn_value_text(spn_value_dig(answer, "metadata", "resourceVersion"));
    if (!str_to_u64((struct str){ v.p, v.n }, &n->revision) || n->revision == 0) {
        free(n); /* nothing that could be waited for */
        return;
    }
    add_note(ow, key, n);
}

void own_writes_note(struct own_writes *ow, struct spn_text key, const struct spn_value *answer)
{
    note_answer(ow, key, answer, false);
}

void own_writes_note_update(struct own_writes *ow, struct spn_text key,
                            const struct spn_value *answer)
{
    note_answer(ow, key, answer, true);
}

void own_writes_note_deleted(struct own_writes *ow, struct spn_text key,
                             const struct spn_value *obj)
{
    add_note(ow, key, note_new(obj));
}

static bool is_seen(const struct note *n, struct spn_cache *cache)
{
    struct spn_object *o = spn_cache_get(cache, n->object_key);
    uint64_t has = 0;
    bool is_same = o && spn_text_eq(spn_object_uid(o), n->uid);
    struct spn_text v = o ? spn_object_version(o) : SPN_TEXT("");
    (void)str_to_u64((struct str){ v.p, v.n }, &has);
    spn_object_unref(o);
    if (n->revision == 0)
        return !is_same;
    return has >= n->revision || (!o && n->was_there);
}

bool own_writes_are_seen(struct own_writes *ow, struct spn_text key, struct spn_cache *cache)
{
    int64_t oldest_ns = clock_mono_ns(&clock_system) - FORGET_AFTER_MS * NS_PER_MS;
    bool all_seen = true;
    (void)pthread_mutex_lock(&ow->lock);
    struct notes *n = keyed_get(&ow->by_key, (struct str){ key.p, key.n });
    struct note *x;
    if (n)
        SLIST_FOREACH(x, &n->all, next)
    all_seen &= x->at_ns < oldest_ns || is_seen(x, cache);
    if (n && all_seen) {
        (void)keyed_remove(&ow->by_key, (struct str){ key.p, key.n });
        notes_free(n);
    }
    (void)pthread_mutex_unlock(&ow->lock);
    return all_seen;
}

void own_writes_forget(struct own_writes *ow, struct spn_text key)
{
    (void)pthread_mutex_lock(&ow->lock);
    notes_free(keyed_remove(&ow->by_key, (struct str){ key.p, key.n }));
    (void)pthread_mutex_unlock(&ow->lock);
}
