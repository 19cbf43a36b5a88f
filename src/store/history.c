#include "store/history.h"

#include "base/banned.h"

void history_init(struct history *h, struct store *s, struct store_snap *snap, uint64_t after_rev,
                  struct history_hint *hint)
{
    *h = (struct history){ .s = s, .snap = snap, .next_rev = after_rev + 1, .hint = hint };
}

void history_done(struct history *h)
{
    if (h->has_reader)
        wal_reader_done(&h->reader);
    h->has_reader = false;
}

/* The table that has next_rev, or NULL: it is in the log only. */
static const struct memtable *table_for(const struct history *h)
{
    const struct store__layers *l = store__snap_layers(h->snap);
    if (h->next_rev > memtable_base(l->active))
        return l->active;
    if (l->sealed && h->next_rev > memtable_base(l->sealed))
        return l->sealed;
    return NULL;
}

static void enter_table(struct history *h, const struct memtable *t)
{
    const struct memnode *n = memtable_first_change(t);
    if (h->hint && h->hint->serial == memtable_serial(t) && h->hint->node->rev < h->next_rev)
        n = h->hint->node;
    while (n && n->rev < h->next_rev)
        n = memnode_next_change(n);
    h->node = n;
}

/* Nothing is left where it looked last: on with the table that follows, if there is one. */
static int skip_gap(struct history *h)
{
    const struct store__layers *l = store__snap_layers(h->snap);
    uint64_t sealed = l->sealed ? memtable_base(l->sealed) + 1 : 0;
    uint64_t active = memtable_base(l->active) + 1;
    h->table = NULL;
    h->node = NULL;
    if (h->next_rev < sealed)
        h->next_rev = sealed;
    else if (h->next_rev < active)
        h->next_rev = active;
    else
        h->next_rev = store_snap_rev(h->snap) + 1;
    return 0;
}

static int next_in_table(struct history *h, struct history_event *ret)
{
    const struct memnode *n = h->node, *next = memnode_next_change(n);
    *ret = (struct history_event){
        .type = (enum store_op_type)n->type,
        .rev = n->rev,
        .create_rev = n->create_rev,
        .prev_rev = n->prev_rev,
        .key = memnode_key(n),
        .value = memnode_value(n),
        .is_last = !next || next->rev != n->rev,
    };
    if (h->hint)
        *h->hint = (struct history_hint){ memtable_serial(h->table), n };
    h->node = next;
    if (ret->is_last) {
        h->next_rev = n->rev + 1;
        h->table = NULL; /* the next revision may be in the next table */
    }
    return 1;
}

/* 1: there is one; 0: there is none before the tables begin. */
static int read_record(struct history *h, struct err *err)
{
    if (!h->has_reader) {
        int r = wal_reader_init(&h->reader, &h->s->wal, h->next_rev, err);
        if (r < 0)
            return r;
        h->has_reader = true;
    }
    int r = wal_reader_next(&h->reader, &h->record, err);
    if (r < 0)
        return r;
    if (r > 0 || h->record.rev > store_snap_rev(h->snap))
        return skip_gap(h);
    h->next_rev = h->record.rev;
    h->ops = h->record.ops;
    return 1;
}

static int next_in_log(struct history *h, struct history_event *ret, struct err *err)
{
    struct record_op op;
    if (!record_op_next(&h->ops, &op))
        return err_set(err, ERR_DAMAGED, "a record of the log cannot be taken apart");
    *ret = (struct history_event){
        .type = op.type,
        .rev = h->record.rev,
        .create_rev = op.create_rev,
        .prev_rev = op.prev_rev,
        .key = op.key,
        .value = op.value,
        .is_last = h->ops.n == 0,
    };
    h->next_rev += ret->is_last;
    return 1;
}

/* Stands on the next change: 1; or has moved on where there is none: 0. */
static int find_next(struct history *h, struct err *err)
{
    const struct memtable *t = table_for(h);
    if (!t)
        return read_record(h, err);
    /* Going on in the same table: h->node stands on the next revision already. */
    if (!h->node || h->node->rev != h->next_rev)
        enter_table(h, t);
    h->table = t;
    if (h->node && h->node->rev <= store_snap_rev(h->snap))
        return 1;
    if (!h->s->source)
        return err_set(err, ERR_INTERNAL, "a table lacks a published revision");
    return skip_gap(h);
}

int history_next(struct history *h, struct history_event *ret, struct err *err)
{
    while (!h->ops.n && !h->table) {
        if (h->next_rev > store_snap_rev(h->snap))
            return 0;
        int r = find_next(h, err);
        if (r < 0)
            return r;
    }
    return h->ops.n ? next_in_log(h, ret, err) : next_in_table(h, ret);
}
