/* transfer.c - every object of one view into the file of a new one, summed on its way.
 *
 * That is what a backup is, and what restores it: nothing passes that is not what was written. The
 * history is left behind. Written in pieces, so that LMDB holds few pages at a time. */
#include "store/internal.h"

#include <inttypes.h>

#include "base/banned.h"

enum { PIECE_BYTES = 4 << 20 };

struct transfer {
    struct view *to;
    struct view_meta *meta;
    struct view_write *write; /* the piece under way, or NULL */
    uint64_t piece_bytes, n_skipped;
};

static int end_piece(struct transfer *t, struct err *err)
{
    struct view_write *w = t->write;
    t->write = NULL;
    return w ? view_write_commit(w, t->meta, err) : 0;
}

static int take_entry(struct transfer *t, const struct view_entry *e, struct err *err)
{
    uint64_t bytes = e->key.n + e->value.n;
    int r = t->piece_bytes > PIECE_BYTES ? end_piece(t, err) : 0;
    if (r < 0)
        return r;
    if (!t->write) {
        t->piece_bytes = 0;
        r = view_write_begin(t->to, 4 * (PIECE_BYTES + bytes), &t->write, err);
        if (r < 0)
            return r;
    }
    r = view_write_put(t->write, e, err);
    if (r < 0)
        return r;
    t->piece_bytes += bytes;
    t->meta->keys++;
    return 0;
}

static int skip_entry(struct transfer *t, struct str key, const struct store_skip *skip,
                      struct err *err)
{
    if (!skip)
        return -ERR_DAMAGED;
    skip->on_damaged(skip->arg, key, err->msg);
    err_clear(err);
    t->n_skipped++;
    return 0;
}

/* Takes or skips `e` and finds the one behind it: 1, or 0 at the end. */
static int take_next(struct transfer *t, struct view *from, struct view_reader *reader,
                     const struct store_skip *skip, struct view_entry *e, struct err *err)
{
    bool is_good = store__check_entry(from, e, view_reader_meta(reader)->rev, err) == 0;
    int r = is_good ? take_entry(t, e, err) : skip_entry(t, e->key, skip, err);
    if (r < 0)
        return r;
    return view_next(reader, e, err);
}

static int take_all(struct transfer *t, struct view *from, struct view_reader *reader,
                    const struct store_skip *skip, struct err *err)
{
    const struct view_meta *was = view_reader_meta(reader);
    struct view_entry e;
    int r = view_seek(reader, STR(""), &e, err);
    while (r > 0)
        r = take_next(t, from, reader, skip, &e, err);
    if (r < 0)
        return r;
    if (t->meta->keys + t->n_skipped != was->keys) {
        (void)err_set(err, ERR_DAMAGED, "there are %" PRIu64 " objects and should be %" PRIu64,
                      t->meta->keys + t->n_skipped, was->keys);
        r = skip_entry(t, STR("?"), skip, err);
        if (r < 0)
            return r;
    }
    return end_piece(t, err);
}

int store__transfer(struct view *from, struct view_reader *reader, const char *to,
                    struct view_meta *meta, const struct store_skip *skip, struct err *err)
{
    meta->keys = 0;
    struct transfer t = { .meta = meta };
    int r = view_create(to, meta, true, err);
    if (r < 0)
        return r;
    r = view_open(&(struct view_options){ .path = to }, &t.to, err);
    if (r < 0)
        return r;
    r = take_all(&t, from, reader, skip, err);
    if (t.write)
        view_write_abort(t.write);
    view_close(t.to);
    return r;
}
