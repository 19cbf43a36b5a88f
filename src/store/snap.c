/* snap.c - the store at one revision: layers, merged.
 *
 * A snapshot holds the layers and a reader of the view. The view may be ahead of the layers (a
 * checkpoint happened after they were taken): then a table and the view know the same changes,
 * which does no harm, because the table is asked first. It must not know more than the tables do
 * up to the snapshot's revision; snap_begin sees to that.
 *
 * At a revision older than the view, entries of the view that are too new are replaced by the undo
 * set: what the changes since then had replaced. It is read from the view's `old` table, which is
 * ordered by revision, so it costs a pass over the changes since; the price of undo records that
 * are cheap to write and cheap to drop. */
#include "store/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/failpoint.h"

#include "base/banned.h"

/* Sources of a range, in the order in which they are believed. */
enum { ACTIVE, SEALED, CUR, UNDO, N_SOURCES };

struct source {
    bool is_on;
    struct str key;             /* where it stands */
    const struct memnode *node; /* tables */
    struct view_entry entry;    /* view */
    size_t at;                  /* undo set */
};

struct store_snap {
    struct store *s;
    struct store_snap *next_idle;
    struct store__layers *layers;
    struct view_reader *reader;
    uint64_t rev;

    struct str prefix;
    char *prefix_text; /* owned: the prefix, then where the range starts */
    bool range_is_new; /* no step was taken yet */
    struct source sources[N_SOURCES];
    struct view_entry *undo; /* by key */
    size_t n_undo, cap_undo;
    struct arena opened; /* values that the codec has opened */
};

/* ---- Beginning and ending ---- */

static struct store_snap *snap_take(struct store *s)
{
    (void)pthread_mutex_lock(&s->snaps_lock);
    struct store_snap *snap = s->idle_snaps;
    if (snap)
        s->idle_snaps = snap->next_idle;
    (void)pthread_mutex_unlock(&s->snaps_lock);
    if (!snap) {
        snap = mem_new(struct store_snap);
        snap->s = s;
        arena_init(&snap->opened);
    }
    return snap;
}

void store__snap_drop_idle(struct store *s)
{
    for (struct store_snap *snap = s->idle_snaps, *next; snap; snap = next) {
        next = snap->next_idle;
        free(snap->undo);
        free(snap->prefix_text);
        arena_done(&snap->opened);
        free(snap);
    }
    s->idle_snaps = NULL;
}

/* The newest revision that the layers and the view agree on, or 0: try again. */
static uint64_t newest_common(struct store_snap *snap)
{
    uint64_t rev = atomic_load_explicit(&snap->s->rev, memory_order_acquire);
    /* After the published revision: if it covers changes beyond the active table, the seal that
     * came before them is seen too. */
    uint64_t end = memtable_end(snap->layers->active);
    if (rev > end)
        rev = end;
    return rev < view_reader_meta(snap->reader)->rev ? 0 : rev;
}

static int take_layers(struct store_snap *snap, uint64_t *ret_newest, struct err *err)
{
    for (;;) {
        snap->layers = store__layers_get(snap->s);
        (void)FAILPOINT("snap-layers");
        int r = view_reader_begin(snap->s->view, &snap->reader, err);
        if (r < 0) {
            snap->layers = store__layers_unref(snap->layers);
            return r;
        }
        *ret_newest = newest_common(snap);
        if (*ret_newest)
            return 0;
        /* Two checkpoints since the layers were taken. */
        snap->reader = view_reader_end(snap->reader);
        snap->layers = store__layers_unref(snap->layers);
    }
}

/* At `rev`, or at the newest revision if it is 0. */
static int snap_fill(struct store_snap *snap, uint64_t rev, struct err *err)
{
    uint64_t newest = 0;
    int r = take_layers(snap, &newest, err);
    if (r < 0)
        return r;
    if (rev > newest)
        return err_set(err, ERR_TIMEOUT,
                       "revision %" PRIu64 " is not there yet (newest: %" PRIu64 ")", rev, newest);
    if (rev && rev < store__snap_floor(snap))
        return err_set(err, ERR_EXPIRED,
                       "revision %" PRIu64 " is no longer kept (oldest: %" PRIu64 ")", rev,
                       store__snap_floor(snap));
    snap->rev = rev ? rev : newest;
    return 0;
}

int store_snap_begin(struct store *s, uint64_t rev, struct store_snap **ret, struct err *err)
{
    struct store_snap *snap = snap_take(s);
    int r = snap_fill(snap, rev, err);
    if (r < 0) {
        store_snap_end(snap);
        return r;
    }
    *ret = snap;
    return 0;
}

struct store_snap *store_snap_end(struct store_snap *snap)
{
    if (!snap)
        return NULL;
    struct store *s = snap->s;
    snap->reader = view_reader_end(snap->reader);
    snap->layers = store__layers_unref(snap->layers);
    for (int i = 0; i < N_SOURCES; i++)
        snap->sources[i].is_on = false;
    enum { KEEP_UNDO = 4096 };
    if (snap->cap_undo > KEEP_UNDO) {
        free(take(&snap->undo));
        snap->cap_undo = 0;
    }
    snap->n_undo = 0;
    if (s->codec)
        arena_reset(&snap->opened);
    (void)pthread_mutex_lock(&s->snaps_lock);
    snap->next_idle = s->idle_snaps;
    s->idle_snaps = snap;
    (void)pthread_mutex_unlock(&s->snaps_lock);
    return NULL;
}

uint64_t store_snap_rev(const struct store_snap *snap)
{
    return snap->rev;
}

const struct store__layers *store__snap_layers(const struct store_snap *snap)
{
    return snap->layers;
}

struct view_reader *store__snap_reader(const struct store_snap *snap)
{
    return snap->reader;
}

uint64_t store__snap_kept(const struct store_snap *snap)
{
    return view_reader_meta(snap->reader)->floor;
}

uint64_t store__snap_floor(const struct store_snap *snap)
{
    uint64_t floor = store__snap_kept(snap);
    uint64_t break_rev = atomic_load_explicit(&snap->s->break_rev, memory_order_acquire);
    return floor > break_rev ? floor : break_rev;
}

/* ---- One key ---- */

static const struct memnode *find_in_tables(const struct store_snap *snap, struct str key,
                                            uint64_t rev)
{
    const struct memnode *n = memtable_find(snap->layers->active, key, rev);
    if (!n && snap->layers->sealed)
        n = memtable_find(snap->layers->sealed, key, rev);
    return n;
}

static void entry_from_node(const struct memnode *n, struct store_entry *ret)
{
    *ret = (struct store_entry){
        .key = memnode_key(n),
        .value = memnode_value(n),
        .create_rev = n->create_rev,
        .mod_rev = n->rev,
    };
}

static void entry_from_view(const struct view_entry *e, struct store_entry *ret)
{
    *ret = (struct store_entry){
        .key = e->key,
        .value = e->value,
        .create_rev = e->create_rev,
        .mod_rev = e->mod_rev,
    };
}

/* The version of `key` that lived at the snapshot's revision and was replaced since. */
static int find_undo(struct store_snap *snap, struct str key, struct view_entry *ret,
                     struct err *err)
{
    int r = view_seek_old(snap->reader, snap->rev + 1, ret, err);
    while (r > 0 && !(ret->mod_rev <= snap->rev && str_eq(ret->key, key)))
        r = view_next_old(snap->reader, ret, err);
    return r;
}

static bool is_behind_view(const struct store_snap *snap)
{
    return snap->rev < view_reader_meta(snap->reader)->rev;
}

static int check_entry(struct store_snap *snap, const struct view_entry *e, struct err *err)
{
    int r = view_entry_check(snap->s->view, e, err);
    if (r < 0 && !e->super_rev) /* not of the history */
        store_note_damaged(snap->s, e->key, STR("its checksum is wrong"));
    return r;
}

/* Is this entry of the view too new for the snapshot? 1, 0, or ERR_DAMAGED: before an entry is
 * passed over because of its revision, that revision has to be believed. */
static int is_too_new(struct store_snap *snap, const struct view_entry *e, struct err *err)
{
    if (e->mod_rev <= snap->rev)
        return 0;
    int r = check_entry(snap, e, err);
    return r < 0 ? r : 1;
}

static int find_in_view(struct store_snap *snap, struct str key, struct view_entry *ret,
                        struct err *err)
{
    int r = view_get(snap->reader, key, ret, err);
    if (r < 0)
        return r;
    if (r > 0) {
        r = is_too_new(snap, ret, err);
        if (r < 0)
            return r;
        if (r == 0)
            return 1;
    }
    return is_behind_view(snap) ? find_undo(snap, key, ret, err) : 0;
}

static int find_key(struct store_snap *snap, struct str key, bool is_checked,
                    struct store_entry *ret, struct err *err)
{
    if (key.n == 0 || key.n > LIMIT_STORE_KEY_BYTES)
        return 0;
    const struct memnode *n = find_in_tables(snap, key, snap->rev);
    if (n) {
        if (n->type == STORE_DELETE)
            return 0;
        entry_from_node(n, ret);
        return 1;
    }
    struct view_entry e = { 0 };
    int r = find_in_view(snap, key, &e, err);
    if (r > 0 && is_checked && check_entry(snap, &e, err) < 0)
        r = -ERR_DAMAGED;
    if (r > 0 || (r == -ERR_DAMAGED && e.key.p))
        entry_from_view(&e, ret);
    return r;
}

int store_snap_get(struct store_snap *snap, struct str key, struct store_entry *ret,
                   struct err *err)
{
    int r = find_key(snap, key, true, ret, err);
    return r > 0 && store__open_value(snap->s, &snap->opened, ret, err) < 0 ? -ERR_DAMAGED : r;
}

int store__snap_peek(struct store_snap *snap, struct str key, struct store_entry *ret,
                     struct err *err)
{
    *ret = (struct store_entry){ 0 };
    int r = find_key(snap, key, false, ret, err);
    if (r == -ERR_DAMAGED && ret->key.p)
        r = 1; /* it is there */
    if (r > 0 && (ret->mod_rev == 0 || ret->mod_rev > snap->rev))
        ret->mod_rev = snap->rev;
    if (r > 0 && (ret->create_rev == 0 || ret->create_rev > ret->mod_rev))
        ret->create_rev = ret->mod_rev;
    return r;
}

int store__snap_before(struct store_snap *snap, struct str key, uint64_t rev, uint64_t prev_rev,
                       struct store_entry *ret, struct err *err)
{
    const struct memnode *n = find_in_tables(snap, key, prev_rev);
    if (n && n->rev == prev_rev) {
        entry_from_node(n, ret);
        return 0;
    }
    struct view_entry e;
    int r = rev <= view_reader_meta(snap->reader)->rev
                ? view_get_old(snap->reader, rev, key, &e, err)
                : view_get(snap->reader, key, &e, err);
    if (r < 0)
        return r;
    if (r == 0 || e.mod_rev != prev_rev)
        return err_set(err, ERR_DAMAGED,
                       "the version %" PRIu64 " of key \"" STR_FMT "\" is missing", prev_rev,
                       STR_ARG(key));
    entry_from_view(&e, ret);
    return view_entry_check(snap->s->view, &e, err);
}

/* ---- Ranges ---- */

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct view_entry *)a)->key, ((const struct view_entry *)b)->key);
}

static void undo_add(struct store_snap *snap, const struct view_entry *e)
{
    if (snap->n_undo == snap->cap_undo) {
        snap->cap_undo = snap->cap_undo ? 2 * snap->cap_undo : 64;
        snap->undo = mem_resize(snap->undo, snap->cap_undo, sizeof(*snap->undo));
    }
    snap->undo[snap->n_undo++] = *e;
}

static int collect_undo(struct store_snap *snap, struct str start, struct err *err)
{
    snap->n_undo = 0;
    if (!is_behind_view(snap))
        return 0;
    struct view_entry e;
    int r = view_seek_old(snap->reader, snap->rev + 1, &e, err);
    for (; r > 0; r = view_next_old(snap->reader, &e, err)) {
        if (!str_starts(e.key, snap->prefix) || str_cmp(e.key, start) < 0)
            continue;
        int too_new = is_too_new(snap, &e, err);
        if (too_new < 0)
            return too_new;
        if (!too_new)
            undo_add(snap, &e);
    }
    if (snap->n_undo)
        qsort(snap->undo, snap->n_undo, sizeof(*snap->undo), by_key);
    return r;
}

static void stand_on_node(struct store_snap *snap, struct source *src, const struct memnode *n)
{
    src->node = n;
    src->is_on = n && str_starts(memnode_key(n), snap->prefix);
    if (src->is_on)
        src->key = memnode_key(n);
}

static int stand_on_entry(struct store_snap *snap, struct source *src, int r)
{
    src->is_on = r > 0 && str_starts(src->entry.key, snap->prefix);
    src->key = src->entry.key;
    return r;
}

static void stand_on_undo(struct store_snap *snap, struct source *src, size_t at)
{
    src->at = at;
    src->is_on = at < snap->n_undo;
    if (src->is_on)
        src->key = snap->undo[at].key;
}

/* The range begins with its first step, so that begin cannot fail. */
void store_range_begin(struct store_snap *snap, struct str prefix, struct str start)
{
    struct str from = str_cmp(start, prefix) > 0 ? start : prefix;
    snap->prefix_text = mem_resize(snap->prefix_text, prefix.n + from.n + 1, 1);
    if (prefix.n)
        memcpy(snap->prefix_text, prefix.p, prefix.n);
    if (from.n)
        memcpy(snap->prefix_text + prefix.n, from.p, from.n);
    snap->prefix = (struct str){ snap->prefix_text, prefix.n };
    from.p = snap->prefix_text + prefix.n;
    stand_on_node(snap, &snap->sources[ACTIVE], memtable_seek(snap->layers->active, from));
    snap->sources[SEALED].is_on = false;
    if (snap->layers->sealed)
        stand_on_node(snap, &snap->sources[SEALED], memtable_seek(snap->layers->sealed, from));
    snap->sources[CUR] = (struct source){ .key = from };
    snap->sources[UNDO] = (struct source){ 0 };
    snap->range_is_new = true;
}

static int begin_view(struct store_snap *snap, struct err *err)
{
    struct source *cur = &snap->sources[CUR];
    struct str from = cur->key;
    snap->range_is_new = false;
    int r = collect_undo(snap, from, err);
    if (r < 0)
        return r;
    stand_on_undo(snap, &snap->sources[UNDO], 0);
    /* A start longer than any key has at most one key between its head and itself: its head. */
    struct str head = str_take(from, LIMIT_STORE_KEY_BYTES);
    r = stand_on_entry(snap, cur, view_seek(snap->reader, head, &cur->entry, err));
    if (r > 0 && cur->is_on && str_cmp(cur->key, from) < 0)
        r = stand_on_entry(snap, cur, view_next(snap->reader, &cur->entry, err));
    return r;
}

static int advance(struct store_snap *snap, int which, struct err *err)
{
    struct source *src = &snap->sources[which];
    const struct store__layers *l = snap->layers;
    if (which == CUR)
        return stand_on_entry(snap, src, view_next(snap->reader, &src->entry, err));
    if (which == UNDO)
        stand_on_undo(snap, src, src->at + 1);
    else
        stand_on_node(snap, src,
                      memtable_next_key(which == ACTIVE ? l->active : l->sealed, src->node));
    return 0;
}

/* What a source says about its key. */
enum verdict { ABSENT, PRESENT, UNKNOWN, DAMAGED };

static enum verdict judge(struct store_snap *snap, int which, bool is_checked,
                          struct store_entry *ret, struct err *err)
{
    struct source *src = &snap->sources[which];
    if (which == CUR || which == UNDO) {
        const struct view_entry *e = which == CUR ? &src->entry : &snap->undo[src->at];
        int too_new = is_too_new(snap, e, err);
        entry_from_view(e, ret);
        if (too_new > 0)
            return UNKNOWN;
        if (!is_checked)
            return PRESENT;
        return too_new < 0 || check_entry(snap, e, err) < 0 ? DAMAGED : PRESENT;
    }
    const struct memnode *n = src->node;
    if (n->rev > snap->rev)
        n = memtable_find(which == ACTIVE ? snap->layers->active : snap->layers->sealed, src->key,
                          snap->rev);
    if (!n)
        return UNKNOWN;
    entry_from_node(n, ret);
    return n->type == STORE_PUT ? PRESENT : ABSENT;
}

/* The smallest key that any source stands on. */
static bool smallest_key(const struct store_snap *snap, struct str *ret)
{
    bool any = false;
    for (int i = 0; i < N_SOURCES; i++) {
        const struct source *src = &snap->sources[i];
        if (src->is_on && (!any || str_cmp(src->key, *ret) < 0)) {
            *ret = src->key;
            any = true;
        }
    }
    return any;
}

static int range_step(struct store_snap *snap, bool is_checked, struct store_entry *ret,
                      struct err *err)
{
    int r = snap->range_is_new ? begin_view(snap, err) : 0;
    if (r < 0)
        return r;
    struct str key = { 0 };
    while (smallest_key(snap, &key)) {
        enum verdict verdict = UNKNOWN;
        for (int i = 0; i < N_SOURCES; i++) {
            struct source *src = &snap->sources[i];
            if (!src->is_on || !str_eq(src->key, key))
                continue;
            if (verdict == UNKNOWN)
                verdict = judge(snap, i, is_checked, ret, err);
            r = advance(snap, i, err);
            if (r < 0)
                return r;
        }
        if (verdict == DAMAGED)
            return -ERR_DAMAGED;
        if (verdict == PRESENT)
            return 1;
    }
    return 0;
}

int store_range_next(struct store_snap *snap, struct store_entry *ret, struct err *err)
{
    int r = range_step(snap, true, ret, err);
    return r > 0 && store__open_value(snap->s, &snap->opened, ret, err) < 0 ? -ERR_DAMAGED : r;
}

int store_count(struct store_snap *snap, struct str prefix, struct str start, uint64_t *ret,
                struct err *err)
{
    struct store_entry entry;
    uint64_t n = 0;
    int r;
    store_range_begin(snap, prefix, start);
    while ((r = range_step(snap, false, &entry, err)) > 0)
        n++;
    if (r < 0)
        return r;
    *ret = n;
    return 0;
}
