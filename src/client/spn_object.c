/* spn_object.c - the sealed text of an object with marks where its facts are. */
#include <sampan/object.h>

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "client/object_room.h"
#include "client/sealed.h"
#include "base/banned.h"

/* Where a member of the metadata begins, counted from there; NONE: it has no such member. FAR: too
 * far away for a mark, it has to be looked for. */
enum { NONE = 0, FAR = UINT16_MAX };
enum mark { MARK_UID, MARK_VERSION, MARK_LABELS, MARK_OWNERS, MARK_GENERATION, N_MARKS };

static const struct str marked[N_MARKS] = {
    [MARK_UID] = STR("uid"),
    [MARK_VERSION] = STR("resourceVersion"),
    [MARK_LABELS] = STR("labels"),
    [MARK_OWNERS] = STR("ownerReferences"),
    [MARK_GENERATION] = STR("generation"),
};

struct spn_object {
    _Atomic uint32_t refs;
    uint32_t n_sealed;
    uint32_t meta; /* where the metadata begins in the sealed text */
    uint16_t marks[N_MARKS];
    uint16_t in_room; /* how far behind the start of its room, in units of ROOM_STEP; 0: it has
                         memory of its own */
    uint16_t n_key, n_namespace;
    bool is_deleting;
    char text[]; /* the key, then the sealed text, and a NUL */
};

static const char *sealed_of(const struct spn_object *o)
{
    return o->text + o->n_key;
}

static size_t size_of(size_t n_text)
{
    return offsetof(struct spn_object, text) + n_text + 1;
}

/* ---- Many objects in one piece of memory ---- */

enum { ROOM_BYTES = 64 << 10, ROOM_STEP = alignof(struct spn_object), ROOM_SHARE = 8 };

/* Kept as long as one of its objects is. */
struct room {
    _Atomic uint32_t live; /* objects, and one for whoever fills it */
    uint32_t used;
};

static void room_unref(struct room *r)
{
    if (r && atomic_fetch_sub_explicit(&r->live, 1, memory_order_acq_rel) == 1)
        free(r);
}

static size_t round_up(size_t n)
{
    return (n + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
}

void object_room_done(struct object_room *all)
{
    room_unref(take(&all->now));
}

/* All pages at once: a fault for each would take longer than to fill it. */
static void have_pages(char *p, size_t n)
{
    enum { PAGE = 4096 };
    uintptr_t start = ((uintptr_t)p + PAGE - 1) / PAGE * PAGE,
              end = ((uintptr_t)p + n) / PAGE * PAGE;
    (void)madvise((char *)start, end - start, MADV_POPULATE_WRITE);
}

/* Large ones would leave much of a room empty. */
static struct spn_object *allocate(struct object_room *all, size_t n)
{
    if (!all || n > ROOM_BYTES / ROOM_SHARE) {
        struct spn_object *o = mem_alloc(n);
        *o = (struct spn_object){ .refs = 1 };
        return o;
    }
    if (!all->now || ROOM_BYTES - all->now->used < n) {
        room_unref(all->now);
        all->now = mem_alloc(ROOM_BYTES);
        have_pages((char *)all->now, ROOM_BYTES);
        all->now->used = round_up(sizeof(struct room));
        atomic_init(&all->now->live, 1);
    }
    struct room *r = all->now;
    struct spn_object *o = (struct spn_object *)((char *)r + r->used);
    *o = (struct spn_object){ .refs = 1, .in_room = (uint16_t)(r->used / ROOM_STEP) };
    atomic_fetch_add_explicit(&r->live, 1, memory_order_relaxed);
    r->used += round_up(n);
    return o;
}

static void release(struct spn_object *o)
{
    if (o->in_room)
        room_unref((struct room *)((char *)o - (size_t)o->in_room * ROOM_STEP));
    else
        free(o);
}

/* ---- Finding facts ---- */

static void note_facts(struct spn_object *o)
{
    struct sealed_member m;
    for (bool is = sealed_first(sealed_of(o), &m); is; is = sealed_next(&m))
        if (str_eq(m.key, STR("metadata"))) {
            o->meta = (uint32_t)(m.value - sealed_of(o));
            break;
        }
    const char *meta = sealed_of(o) + o->meta;
    for (bool is = sealed_first(meta, &m); is; is = sealed_next(&m)) {
        size_t at = (size_t)(m.value - meta);
        for (size_t i = 0; i < N_MARKS; i++)
            if (str_eq(m.key, marked[i]))
                o->marks[i] = at < FAR ? (uint16_t)at : FAR;
        if (str_eq(m.key, STR("deletionTimestamp")))
            o->is_deleting = *m.value == '"';
    }
}

static const char *look_for(const char *meta, struct str key)
{
    struct sealed_member m;
    for (bool is = sealed_first(meta, &m); is; is = sealed_next(&m))
        if (str_eq(m.key, key))
            return m.value;
    return NULL;
}

/* A member of the metadata, sealed. A NULL pointer: there is none. */
static struct str piece(const struct spn_object *o, enum mark mark)
{
    const char *meta = sealed_of(o) + o->meta, *p = meta + o->marks[mark];
    if (o->marks[mark] == NONE)
        return (struct str){ NULL, 0 };
    if (o->marks[mark] == FAR)
        p = look_for(meta, marked[mark]);
    return (struct str){ p, (size_t)(sealed_end(p) - p) };
}

/* The same of a string, without its quotes. Servers make these without anything that is escaped. */
static struct spn_text piece_text(const struct spn_object *o, enum mark mark)
{
    struct str s = piece(o, mark);
    if (s.n < 2 || *s.p != '"')
        return (struct spn_text){ "", 0 };
    return (struct spn_text){ s.p + 1, s.n - 2 };
}

/* ---- Making ---- */

int object_new_in(struct object_room *room, const struct spn_value *v, struct spn_object **ret,
                  struct spn_err *err)
{
    const struct value *meta = value_get(value_in(v), STR("metadata"));
    struct str name = value_text(meta, "name"), ns = value_text(meta, "namespace");
    if (!name.n || name.n + ns.n >= UINT16_MAX)
        return spn_err_set(err, SPN_INVALID, "an object without a proper metadata.name");
    autobuf text = { 0 };
    if (ns.n) {
        buf_str_add(&text, ns);
        buf_byte(&text, '/');
    }
    buf_str_add(&text, name);
    size_t n_key = text.n;
    sealed_write(&text, value_in(v), &(struct sealed_own){ name, ns });
    struct spn_object *o = allocate(room, size_of(text.n));
    o->n_sealed = (uint32_t)(text.n - n_key);
    o->n_key = (uint16_t)n_key;
    o->n_namespace = (uint16_t)ns.n;
    memcpy(o->text, text.p, text.n);
    o->text[text.n] = '\0';
    note_facts(o);
    *ret = o;
    return 0;
}

int spn_object_new(const struct spn_value *v, struct spn_object **ret, struct spn_err *err)
{
    return object_new_in(NULL, v, ret, err);
}

struct spn_object *spn_object_ref(const struct spn_object *o)
{
    struct spn_object *shared = (struct spn_object *)o;
    atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
    return shared;
}

struct spn_object *spn_object_unref(struct spn_object *o)
{
    if (o && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1)
        release(o);
    return NULL;
}

void spn_objects_done(struct spn_objects *all)
{
    for (size_t i = 0; i < all->n; i++)
        spn_object_unref(all->items[i]);
    free(all->items);
    *all = (struct spn_objects){ 0 };
}

/* ---- Asking ---- */

struct spn_text spn_object_key(const struct spn_object *o)
{
    return (struct spn_text){ o->text, o->n_key };
}

struct spn_text spn_object_namespace(const struct spn_object *o)
{
    return (struct spn_text){ o->text, o->n_namespace };
}

struct spn_text spn_object_name(const struct spn_object *o)
{
    size_t before = o->n_namespace ? o->n_namespace + 1 : 0;
    return (struct spn_text){ o->text + before, o->n_key - before };
}

struct spn_text spn_object_uid(const struct spn_object *o)
{
    return piece_text(o, MARK_UID);
}

struct spn_text spn_object_version(const struct spn_object *o)
{
    return piece_text(o, MARK_VERSION);
}

static struct sealed_own own_of(const struct spn_object *o)
{
    struct spn_text ns = spn_object_namespace(o), name = spn_object_name(o);
    return (struct sealed_own){ str_in(name), str_in(ns) };
}

static struct str sealed_text(const struct spn_object *o)
{
    return (struct str){ sealed_of(o), o->n_sealed };
}

bool spn_object_has_text(const struct spn_object *o, struct spn_text text)
{
    return memmem(sealed_of(o), o->n_sealed, text.p, text.n);
}

struct spn_text spn_object_json(const struct spn_object *o, struct spn_arena *a)
{
    const struct sealed_own own = own_of(o);
    return text_out(sealed_open(arena_in(a), sealed_text(o), &own));
}

int64_t spn_object_generation(const struct spn_object *o)
{
    int64_t n;
    return str_to_i64(piece(o, MARK_GENERATION), &n) ? n : 0;
}

bool spn_object_is_deleting(const struct spn_object *o)
{
    return o->is_deleting;
}

size_t spn_object_bytes(const struct spn_object *o)
{
    return size_of(o->n_key + o->n_sealed);
}

/* We wrote it, so it can be read. */
static struct value *read_piece(const struct spn_object *o, struct spn_arena *a, struct str sealed)
{
    const struct sealed_own own = own_of(o);
    struct str json = sealed_open(arena_in(a), sealed, &own);
    struct value *v = arena_new(arena_in(a), struct value);
    struct err err = ERR_INIT(arena_in(a));
    int r = json_read(arena_in(a), json, NULL, v, &err);
    assert(r == 0);
    return v;
}

struct spn_text spn_object_label(const struct spn_object *o, struct spn_arena *a, const char *key)
{
    if (o->marks[MARK_LABELS] == NONE)
        return (struct spn_text){ NULL, 0 };
    struct value *labels = read_piece(o, a, piece(o, MARK_LABELS));
    return spn_value_text(value_out(value_get(labels, str_of(key))));
}

bool spn_object_controller(const struct spn_object *o, struct spn_arena *a, struct spn_owner *ret)
{
    if (o->marks[MARK_OWNERS] == NONE)
        return false;
    value_each_item (owner, read_piece(o, a, piece(o, MARK_OWNERS))) {
        if (!value_is_true(value_get(owner, STR("controller"))))
            continue;
        *ret = (struct spn_owner){
            .api_version = text_out(value_text(owner, "apiVersion")),
            .kind = text_out(value_text(owner, "kind")),
            .name = text_out(value_text(owner, "name")),
            .uid = text_out(value_text(owner, "uid")),
        };
        return true;
    }
    return false;
}

struct spn_value *spn_object_value(const struct spn_object *o, struct spn_arena *a)
{
    return value_out_edit(read_piece(o, a, sealed_text(o)));
}

struct spn_value *spn_object_meta(const struct spn_object *o, struct spn_arena *a)
{
    const char *meta = sealed_of(o) + o->meta;
    return value_out_edit(
        read_piece(o, a, (struct str){ meta, (size_t)(sealed_end(meta) - meta) }));
}
