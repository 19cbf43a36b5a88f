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
    h->table = t;
    h->node = n;
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
        h->next_rev++;
        h->table = NULL; /* the next revision may be in the next table */
    }
    return 1;
}

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
    h->ops = h->record.ops;
    return 0;
}

static int next_in_log(struct history *h, struct history_event *ret, struct err *err)
{
    if (h->ops.n == 0) {
        int r = read_record(h, err);
        if (r < 0)
            return r;
    }
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

int history_next(struct history *h, struct history_event *ret, struct err *err)
{
    if (h->next_rev > store_snap_rev(h->snap))
        return 0;
    if (h->ops.n)
        return next_in_log(h, ret, err);
    if (!h->table) {
        const struct memtable *t = table_for(h);
        if (!t)
            return next_in_log(h, ret, err);
        /* Going on in the same table: h->node stands on the next revision already. */
        if (!h->node || h->node->rev != h->next_rev)
            enter_table(h, t);
        h->table = t;
    }
    if (!h->node)
        return err_set(err, ERR_INTERNAL, "a table lacks a published revision");
    return next_in_table(h, ret);
}
