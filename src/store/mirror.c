/* mirror.c - filling a mirror, and asking its source how far it should be. */
#include "store/mirror.h"

#include <semaphore.h>

#include "base/mem.h"
#include "store/internal.h"

#include "base/banned.h"

/* ---- Filling ---- */

enum { FILL_BYTES = 8 << 20 }; /* in one transaction of the view */

struct fill {
    struct store *s;
    struct view_write *w;
    struct view_meta meta;
    size_t bytes;
};

static int fill_begin(struct fill *f, struct err *err)
{
    f->bytes = 0;
    return view_write_begin(f->s->view, (uint64_t)4 * FILL_BYTES, &f->w, err);
}

static int fill_end(struct fill *f, struct err *err)
{
    struct view_write *w = take(&f->w);
    return view_write_commit(w, &f->meta, err);
}

static int fill_take(void *arg, const struct store_entry *e, struct err *err)
{
    struct fill *f = arg;
    if (f->bytes > FILL_BYTES) {
        int r = fill_end(f, err);
        if (r < 0)
            return r;
        r = fill_begin(f, err);
        if (r < 0)
            return r;
    }
    struct view_entry entry = { e->key, e->value, e->create_rev, e->mod_rev, 0, 0 };
    entry.crc = view_entry_sum(&entry);
    f->bytes += e->key.n + e->value.n;
    f->meta.keys++;
    return view_write_put(f->w, &entry, err);
}

static int fill(struct fill *f, struct err *err)
{
    int r = fill_begin(f, err);
    if (r < 0)
        return r;
    r = f->s->source->fill(f->s->source, fill_take, f, err);
    if (r < 0)
        return r;
    return fill_end(f, err);
}

int store__fill(struct store *s, struct err *err)
{
    struct fill f = { .s = s };
    int r = store__new_id(&f.meta.store_id, err);
    if (r < 0)
        return r;
    f.meta.rev = f.meta.floor = s->source->fill_rev;
    r = fill(&f, err);
    if (f.w)
        view_write_abort(f.w);
    return r;
}

void store_arrive(struct store *s, struct store_arrival *first)
{
    store__enqueue(s, &first->txn);
}

/* ---- Catching up ---- */

bool store_sync(struct store *s, struct store_sync *y)
{
    if (!s->source)
        return true;
    y->result = 0;
    y->reason[0] = '\0';
    s->source->sync(s->source, y);
    return false;
}

bool store_is_mirror(const struct store *s)
{
    return s->source;
}

void store_sync_quit(struct store *s)
{
    if (s->source)
        s->source->quit(s->source);
}

static void post_synced(struct store_sync *y)
{
    (void)sem_post(y->owner);
}

int store_sync_wait(struct store *s, struct err *err)
{
    sem_t done;
    (void)sem_init(&done, 0, 0);
    /* cppcheck-suppress autoVariables ; it is waited for before this function returns */
    struct store_sync y = { .done = post_synced, .owner = &done };
    bool is_there = store_sync(s, &y);
    while (!is_there && sem_wait(&done) < 0)
        ; /* EINTR */
    (void)sem_destroy(&done);
    return y.result == 0 ? 0 : err_set(err, (enum err_code) - y.result, "%s", y.reason);
}
