/* commit.c - the one thread that changes the store.
 *
 * It takes all waiting transactions as a group, decides each against the newest state and the
 * ones before it in the group, writes and syncs the group's records at once, then puts them into
 * the active table, moves the published revision, and only then answers. If the log fails, nobody
 * in the group is told anything but that: even a refused condition may have been judged against
 * changes that never happened. */
#include "store/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/failpoint.h"

#include "base/banned.h"

/* The state of a key as the group sees it. */
struct pending {
    struct str key;               /* of the first transaction that named it */
    uint64_t mod_rev, create_rev; /* mod_rev 0: absent */
    uint64_t touched;             /* by which transaction of the group, to find a key named twice */
    uint32_t hash;
    bool is_used;
};

struct store__commit {
    struct arena arena; /* messages of one group */
    struct buf records;
    struct pending *slots; /* open addressing, at most half full */
    size_t n_slots, n_used;
    uint64_t touch;
    struct store_txn *taken;
    uint64_t first_rev, next_rev; /* of the group */
    uint64_t seed;                /* of the segment it goes to */
    bool is_tight;                /* the disk is nearly full */
};

struct store__commit *store__commit_new(void)
{
    enum { FIRST_SLOTS = 256 };
    struct store__commit *c = mem_new(struct store__commit);
    arena_init(&c->arena);
    c->n_slots = FIRST_SLOTS;
    c->slots = mem_array(c->n_slots, sizeof(*c->slots));
    return c;
}

struct store__commit *store__commit_free(struct store__commit *c)
{
    if (!c)
        return NULL;
    arena_done(&c->arena);
    buf_done(&c->records);
    free(c->slots);
    free(c);
    return NULL;
}

/* ---- What the group knows about keys ---- */

static struct pending *slot_for(struct pending *slots, size_t n, struct str key, uint32_t hash)
{
    size_t at = hash & (n - 1);
    while (slots[at].is_used && !(slots[at].hash == hash && str_eq(slots[at].key, key)))
        at = (at + 1) & (n - 1);
    return &slots[at];
}

static void slots_grow(struct store__commit *c)
{
    size_t n = 2 * c->n_slots;
    struct pending *slots = mem_array(n, sizeof(*slots));
    for (size_t i = 0; i < c->n_slots; i++)
        if (c->slots[i].is_used)
            *slot_for(slots, n, c->slots[i].key, c->slots[i].hash) = c->slots[i];
    free(c->slots);
    c->slots = slots;
    c->n_slots = n;
}

static void slots_reset(struct store__commit *c)
{
    if (c->n_used)
        memset(c->slots, 0, c->n_slots * sizeof(*c->slots));
    c->n_used = 0;
}

/* The key's state, looked up the first time it is named. */
static int look_up(struct store__commit *c, struct store_snap *snap, struct str key,
                   struct pending **ret, struct err *err)
{
    if (2 * (c->n_used + 1) > c->n_slots)
        slots_grow(c);
    uint32_t hash = (uint32_t)map_hash(key);
    struct pending *p = slot_for(c->slots, c->n_slots, key, hash);
    if (!p->is_used) {
        struct store_entry entry = { 0 };
        int r = store__snap_peek(snap, key, &entry, err);
        if (r < 0)
            return r;
        *p = (struct pending){ key, entry.mod_rev, entry.create_rev, 0, hash, true };
        c->n_used++;
    }
    *ret = p;
    return 0;
}

/* ---- Deciding one transaction ---- */

static int fail_txn(struct store_txn *t, int code, struct str reason)
{
    t->result = code;
    (void)snprintf(t->reason, sizeof(t->reason), STR_FMT, STR_ARG(reason));
    return code;
}

/* So many changes can have one revision. Conditions alone change nothing, but are bounded, too. */
static int check_count(const struct store_txn *t, struct err *err)
{
    enum { CHECK, FIRST, CHANGE, SORTS };
    size_t n[SORTS] = { 0 };
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct store_op *op = &t->ops[i];
        size_t sort = op->type == STORE_CHECK ? CHECK : op->goes_first ? FIRST : CHANGE;
        if (++n[sort] > LIMIT_STORE_TXN_OPS)
            return err_set(err, ERR_TOO_LARGE, "%zu operations are more than %u", t->n_ops,
                           LIMIT_STORE_TXN_OPS);
    }
    return 0;
}

int store_txn_check(const struct store_txn *t, struct err *err)
{
    size_t total = 0;
    if (t->n_ops == 0)
        return err_set(err, ERR_INVALID, "a transaction without operations");
    int r = check_count(t, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct store_op *op = &t->ops[i];
        size_t value_n = op->type == STORE_PUT ? op->value.n : 0;
        if (op->key.n == 0)
            return err_set(err, ERR_INVALID, "an empty key");
        if (op->key.n > LIMIT_STORE_KEY_BYTES)
            return err_set(err, ERR_TOO_LARGE, "a key of %zu bytes is longer than %u", op->key.n,
                           LIMIT_STORE_KEY_BYTES);
        if (value_n > LIMIT_STORE_VALUE_BYTES)
            return err_set(err, ERR_TOO_LARGE, "a value of %zu bytes is larger than %u", value_n,
                           LIMIT_STORE_VALUE_BYTES);
        total += op->key.n + value_n;
    }
    if (total > LIMIT_STORE_TXN_BYTES)
        return err_set(err, ERR_TOO_LARGE, "a transaction of %zu bytes is larger than %u", total,
                       LIMIT_STORE_TXN_BYTES);
    return 0;
}

/* All conditions, before anything is changed. 1: there is something to change. */
static int check_conditions(struct store__commit *c, struct store_snap *snap, struct store_txn *t,
                            struct err *err)
{
    bool changes = false;
    c->touch++;
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct store_op *op = &t->ops[i];
        struct pending *p;
        int r = look_up(c, snap, op->key, &p, err);
        if (r < 0)
            return r;
        if (p->touched == c->touch)
            return err_set(err, ERR_INVALID, "a key is named twice in one transaction");
        p->touched = c->touch;
        if (op->expect_rev != STORE_ANY && op->expect_rev != p->mod_rev) {
            t->failed_op = i;
            t->failed_rev = p->mod_rev;
            return err_set(err, ERR_CONFLICT, "a condition failed");
        }
        changes |= op->type == STORE_PUT || (op->type == STORE_DELETE && p->mod_rev);
    }
    return changes;
}

static int check_space(const struct store__commit *c, const struct store_txn *t, struct err *err)
{
    for (size_t i = 0; c->is_tight && i < t->n_ops; i++)
        if (t->ops[i].type == STORE_PUT && !t->ops[i].is_ending)
            return err_set(err, ERR_NO_SPACE,
                           "the disk is nearly full: until there is room, things can only be "
                           "deleted");
    return 0;
}

static bool is_change(struct store__commit *c, const struct store_op *op, struct pending **ret)
{
    *ret = slot_for(c->slots, c->n_slots, op->key, (uint32_t)map_hash(op->key));
    assert((*ret)->is_used); /* since check_conditions() */
    return op->type == STORE_PUT || (op->type == STORE_DELETE && (*ret)->mod_rev);
}

static bool has_part(struct store__commit *c, const struct store_txn *t, bool first)
{
    struct pending *p;
    for (size_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].goes_first == first && is_change(c, &t->ops[i], &p))
            return true;
    return false;
}

/* Those operations that go first, or the others. */
static void record_part(struct store__commit *c, struct store_txn *t, bool first, bool goes_on,
                        int64_t now_ns)
{
    uint64_t rev = c->next_rev++;
    size_t at = record_begin(&c->records, rev, c->first_rev, now_ns);
    if (goes_on)
        record_go_on(&c->records, at);
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct store_op *op = &t->ops[i];
        struct pending *p;
        if (op->goes_first != first || !is_change(c, op, &p))
            continue;
        struct record_op rec = {
            .type = op->type,
            .key = op->key,
            .value = op->type == STORE_PUT ? op->value : STR(""),
            .create_rev = p->mod_rev ? p->create_rev : rev,
            .prev_rev = p->mod_rev,
        };
        record_add(&c->records, at, &rec);
        p->mod_rev = op->type == STORE_PUT ? rev : 0;
        p->create_rev = rec.create_rev;
    }
    record_end(&c->records, at, c->seed);
    t->rev = rev;
}

static void record_txn(struct store__commit *c, struct store_txn *t, int64_t now_ns)
{
    bool has_rest = has_part(c, t, false);
    if (has_part(c, t, true))
        record_part(c, t, true, has_rest, now_ns);
    if (has_rest)
        record_part(c, t, false, false, now_ns);
}

/* 1: it is to be recorded; 0: it has nothing to change. */
static int check_txn(struct store__commit *c, struct store_snap *snap, struct store_txn *t,
                     struct err *err)
{
    int r = store_txn_check(t, err);
    if (r < 0)
        return r;
    r = check_space(c, t, err);
    if (r < 0)
        return r;
    return check_conditions(c, snap, t, err);
}

static void decide(struct store__commit *c, struct store_snap *snap, struct store_txn *t,
                   int64_t now_ns)
{
    struct err err = ERR_INIT(&c->arena);
    t->rev = 0;
    t->reason[0] = '\0';
    int r = check_txn(c, snap, t, &err);
    if (r < 0)
        (void)fail_txn(t, r, err.msg);
    else if (r > 0)
        record_txn(c, t, now_ns);
    else
        t->rev = c->next_rev - 1;
}

/* ---- What somebody else has decided ---- */

/* As it is: no condition, and a number of its own. */
static int record_arrival(struct store__commit *c, struct store_snap *snap,
                          const struct store_arrival *arrival, int64_t now_ns, struct err *err)
{
    const struct store_txn *t = &arrival->txn;
    size_t at = record_begin(&c->records, t->rev, c->first_rev, now_ns), n = 0;
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct store_op *op = &t->ops[i];
        struct pending *p;
        int r = look_up(c, snap, op->key, &p, err);
        if (r < 0)
            return r;
        if (op->type == STORE_DELETE && !p->mod_rev)
            continue;
        struct record_op rec = { .type = op->type,
                                 .key = op->key,
                                 .value = op->type == STORE_PUT ? op->value : STR(""),
                                 .create_rev =
                                     op->type == STORE_PUT ? op->expect_rev : p->create_rev,
                                 .prev_rev = p->mod_rev };
        record_add(&c->records, at, &rec);
        p->mod_rev = op->type == STORE_PUT ? t->rev : 0;
        p->create_rev = rec.create_rev;
        n++;
    }
    if (n)
        record_end(&c->records, at, c->seed);
    else
        c->records.n = at;
    c->next_rev = t->rev + 1;
    return 0;
}

static int decide_all(struct store *s, struct store__commit *c, struct store_snap *snap,
                      int64_t now_ns, struct err *err)
{
    if (!s->source) {
        for (struct store_txn *t = c->taken; t; t = t->next)
            decide(c, snap, t, now_ns);
        return 0;
    }
    for (struct store_txn *t = c->taken; t; t = t->next) {
        const struct store_arrival *arrival = (const struct store_arrival *)t;
        int r = record_arrival(c, snap, arrival, now_ns, err);
        if (r < 0)
            return r;
        if (arrival->break_rev)
            atomic_store_explicit(&s->break_rev, arrival->break_rev, memory_order_release);
    }
    return 0;
}

/* ---- One group ---- */

/* Waits for work. False: there is none and the store is closing. */
static bool take_group(struct store *s, struct store__commit *c, uint64_t *ret_seal)
{
    (void)pthread_mutex_lock(&s->queue_lock);
    while (!s->queue && !s->seal_ticket && !s->commit_stops)
        (void)pthread_cond_wait(&s->queue_moved, &s->queue_lock);
    *ret_seal = s->seal_ticket;
    s->seal_ticket = 0;
    size_t n = 0, bytes = 0;
    struct store_txn **end = &s->queue;
    bool goes_on = false;
    while (*end && (goes_on || (n < STORE__GROUP_TXNS && bytes < STORE__GROUP_BYTES))) {
        goes_on = s->source && ((struct store_arrival *)*end)->goes_on;
        for (size_t i = 0; i < (*end)->n_ops && i < LIMIT_STORE_TXN_OPS; i++)
            bytes += (*end)->ops[i].key.n + (*end)->ops[i].value.n;
        end = &(*end)->next;
        n++;
    }
    struct store_txn *rest = *end;
    *end = NULL;
    c->taken = s->queue;
    s->queue = rest;
    if (!rest)
        s->queue_last = &s->queue;
    bool go_on = c->taken || *ret_seal || !s->commit_stops;
    (void)pthread_mutex_unlock(&s->queue_lock);
    return go_on;
}

static void insert_records(struct store *s, struct store__commit *c, struct memtable *table)
{
    struct str rest = buf_str(&c->records);
    struct record rec;
    size_t need;
    int64_t keys = 0;
    while (rest.n) {
        enum record_verdict verdict = record_read(rest, s->wal.tail->head.seed, &rec, &need);
        assert(verdict == RECORD_GOOD);
        struct record_op op;
        while (record_op_next(&rec.ops, &op)) {
            memtable_add(table, &(struct memtable_change){ op.type, rec.rev, op.create_rev,
                                                           op.prev_rev, op.key, op.value });
            keys += op.type == STORE_DELETE ? -1 : op.prev_rev == 0;
        }
        rest = str_skip(rest, rec.bytes);
    }
    atomic_fetch_add_explicit(&s->keys, (uint64_t)keys, memory_order_relaxed);
}

static void publish(struct store *s, uint64_t rev)
{
    atomic_store_explicit(&s->rev, rev, memory_order_release);
    (void)pthread_mutex_lock(&s->waiters_lock);
    if (s->n_waiters)
        (void)pthread_cond_broadcast(&s->rev_moved);
    (void)pthread_mutex_unlock(&s->waiters_lock);
    store__feeds_wake(s);
    if (s->source)
        s->source->published(s->source, rev);
}

static void answer(struct store_txn *t)
{
    for (struct store_txn *next; t; t = next) {
        next = t->next; /* the transaction is the caller's again once done() was called */
        t->next = NULL;
        t->done(t);
    }
}

static void fail_group(struct store *s, struct store__commit *c, int code, struct str reason)
{
    s->failing = code;
    for (struct store_txn *t = c->taken; t; t = t->next)
        if (t->result == 0 || t->result == -ERR_CONFLICT)
            (void)fail_txn(t, code, reason);
}

static void seal_active(struct store *s)
{
    struct store__layers *l = store__layers_get(s);
    struct memtable *old = l->active;
    uint64_t rev = atomic_load_explicit(&s->rev, memory_order_relaxed);
    struct memtable *active = memtable_new(rev);
    memtable_seal(old, rev);
    store__layers_set(s, active, old);
    memtable_unref(active);
    store__layers_unref(l);
    (void)FAILPOINT("checkpoint-sealed");
    (void)pthread_mutex_lock(&s->keeper_lock);
    s->has_sealed = true;
    (void)pthread_cond_broadcast(&s->keeper_moved);
    (void)pthread_mutex_unlock(&s->keeper_lock);
}

static void seal_what_there_is(struct store *s)
{
    struct store__layers *l = store__layers_get(s);
    bool is_empty = memtable_is_empty(l->active);
    store__layers_unref(l);
    if (!is_empty)
        seal_active(s);
}

/* Room in memory for a group: seals a full table, and waits for the keeper when it is behind. A
 * keeper that cannot write is a reason to refuse. */
static int make_room(struct store *s, bool seal_asked, struct err *err)
{
    struct store__layers *l = store__layers_get(s);
    bool is_full = memtable_bytes(l->active) >= s->table_bytes ||
                   memtable_changes(l->active) >= STORE__TABLE_CHANGES;
    bool is_empty = memtable_is_empty(l->active);
    store__layers_unref(l);
    if (is_empty || (!is_full && !seal_asked))
        return 0;
    int r = 0;
    (void)pthread_mutex_lock(&s->keeper_lock);
    while (s->has_sealed && is_full && s->keeper_result == 0)
        (void)pthread_cond_wait(&s->keeper_moved, &s->keeper_lock);
    bool can_seal = !s->has_sealed;
    if (!can_seal && is_full)
        r = err_set(err, (enum err_code) - s->keeper_result, "%s", s->keeper_reason);
    (void)pthread_mutex_unlock(&s->keeper_lock);
    if (can_seal)
        seal_active(s);
    return r;
}

static void acknowledge_seal(struct store *s, uint64_t ticket)
{
    (void)pthread_mutex_lock(&s->keeper_lock);
    if (s->seals_answered < ticket)
        s->seals_answered = ticket;
    (void)pthread_cond_broadcast(&s->keeper_moved);
    (void)pthread_mutex_unlock(&s->keeper_lock);
}

static bool is_done_with(const struct store *s, uint64_t room_ticket)
{
    return s->rooms_done >= room_ticket || s->keeper_stops;
}

/* Sleeps until the keeper is done, or wants a table sealed: then the ticket, else 0. */
static uint64_t wait_for_keeper(struct store *s, uint64_t room_ticket)
{
    (void)pthread_mutex_lock(&s->keeper_lock);
    while (!is_done_with(s, room_ticket) && (s->has_sealed || s->seals_answered == s->seals_asked))
        (void)pthread_cond_wait(&s->keeper_moved, &s->keeper_lock);
    uint64_t seal_ticket = is_done_with(s, room_ticket) ? 0 : s->seals_asked;
    (void)pthread_mutex_unlock(&s->keeper_lock);
    return seal_ticket;
}

/* Room on a full disk: the keeper gives up all of the history that it can. It has it as soon as
 * what is in memory is in the view, so that is sealed first. */
static void ask_for_room(struct store *s)
{
    (void)pthread_mutex_lock(&s->keeper_lock);
    bool can_seal = !s->has_sealed;
    (void)pthread_mutex_unlock(&s->keeper_lock);
    if (can_seal)
        seal_what_there_is(s);
    (void)pthread_mutex_lock(&s->keeper_lock);
    uint64_t ticket = ++s->rooms_asked, seal_ticket;
    (void)pthread_cond_broadcast(&s->keeper_moved);
    (void)pthread_mutex_unlock(&s->keeper_lock);
    while ((seal_ticket = wait_for_keeper(s, ticket))) {
        seal_what_there_is(s);
        acknowledge_seal(s, seal_ticket);
    }
}

/* Decides the group and writes its records, which are durable when this returns 0. */
static int write_group(struct store *s, struct store__commit *c, struct store_snap *snap,
                       struct err *err)
{
    int64_t now_ns = clock_wall_ns(s->clock);
    c->is_tight = s->is_tight;
    c->first_rev = c->next_rev = s->source ? c->taken->rev : store_snap_rev(snap) + 1;
    int r = wal_reserve(&s->wal, c->first_rev, now_ns, &c->seed, err);
    if (r < 0)
        return r;
    r = decide_all(s, c, snap, now_ns, err);
    if (r < 0)
        return r;
    (void)FAILPOINT("commit-encoded");
    if (c->records.n)
        r = wal_append(&s->wal, c->first_rev, buf_str(&c->records), err);
    if (r < 0 && s->wal.tail_is_broken) {
        /* Void what may have reached the disk as soon as possible: the next segment says so. */
        struct err ignored = ERR_INIT(&c->arena);
        (void)wal_reserve(&s->wal, c->first_rev, now_ns, &c->seed, &ignored);
    }
    return r;
}

static int commit_group(struct store *s, struct store__commit *c, struct store_snap *snap,
                        struct err *err)
{
    int r = write_group(s, c, snap, err);
    if (r < 0 || (c->records.n == 0 && c->next_rev <= store_snap_rev(snap) + 1))
        return r;
    (void)FAILPOINT("commit-synced");
    s->failing = 0;
    if (c->is_tight)
        s->has_deleted = true;
    insert_records(s, c, store__snap_layers(snap)->active);
    (void)FAILPOINT("commit-inserted");
    atomic_fetch_add_explicit(&s->n_commits, c->next_rev - c->first_rev, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->n_groups, 1, memory_order_relaxed);
    publish(s, c->next_rev - 1);
    (void)FAILPOINT("commit-published");
    return 0;
}

static int commit_taken(struct store *s, struct store__commit *c, struct err *err)
{
    struct store_snap *snap;
    int r = store__look_in_time(s, err);
    if (r < 0)
        return r;
    r = store_snap_begin(s, 0, &snap, err);
    if (r < 0)
        return r;
    r = commit_group(s, c, snap, err);
    store_snap_end(snap);
    return r;
}

/* On a disk that turns out to be full: the same once more, of which what deletes goes on. */
static int commit_again(struct store *s, struct store__commit *c, struct err *err)
{
    store__become_tight(s); /* the keeper, who only looks, may have thought otherwise meanwhile */
    buf_reset(&c->records);
    slots_reset(c);
    err_clear(err);
    for (struct store_txn *t = c->taken; t; t = t->next)
        t->result = 0;
    int r = make_room(s, false, err);
    if (r < 0)
        return r;
    return commit_taken(s, c, err);
}

/* Is there something in the group that is taken although the disk is full? */
static bool has_deletes(struct store__commit *c)
{
    struct err ignored = ERR_INIT(&c->arena);
    c->is_tight = true;
    for (struct store_txn *t = c->taken; t; t = t->next)
        if (check_space(c, t, &ignored) == 0)
            return true;
    return false;
}

/* The first time what is sealed already may keep history from going, the second time nothing; the
 * third is for what readers still held on to. */
static int commit_on_full_disk(struct store *s, struct store__commit *c, struct err *err)
{
    enum { TRIES = 3 };
    bool deletes = has_deletes(c);
    if (deletes)
        (void)store__give_reserve(s);
    int r = commit_again(s, c, err);
    for (int i = 0; r == -ERR_NO_SPACE && i < TRIES && deletes; i++) {
        ask_for_room(s);
        r = commit_again(s, c, err);
    }
    return r;
}

static bool is_closing(struct store *s)
{
    (void)pthread_mutex_lock(&s->queue_lock);
    bool stops = s->commit_stops;
    (void)pthread_mutex_unlock(&s->queue_lock);
    return stops;
}

/* What has arrived has happened: a mirror that has no room for it waits until it has, because it
 * may not leave anything out. */
static int commit_until_done(struct store *s, struct store__commit *c, int r, struct err *err)
{
    static const struct timespec pause = { .tv_nsec = 100 * NS_PER_MS };
    while (r < 0 && !is_closing(s)) {
        if (s->failing != r)
            log_error("the mirror cannot go on", LOG_ERR(err));
        s->failing = r;
        (void)nanosleep(&pause, NULL);
        buf_reset(&c->records);
        slots_reset(c);
        err_clear(err);
        r = make_room(s, false, err);
        if (r < 0)
            continue;
        r = commit_taken(s, c, err);
    }
    return r;
}

static void run_group(struct store *s, struct store__commit *c, uint64_t seal_ticket)
{
    struct err err = ERR_INIT(&c->arena);
    (void)FAILPOINT("commit-taken");
    for (struct store_txn *t = c->taken; t; t = t->next)
        t->result = 0;
    int room = make_room(s, seal_ticket != 0, &err);
    if (seal_ticket)
        acknowledge_seal(s, seal_ticket);
    if (!c->taken)
        return;
    int r = room < 0 ? room : commit_taken(s, c, &err);
    if (s->source)
        r = commit_until_done(s, c, r, &err);
    else if (r == -ERR_NO_SPACE)
        r = commit_on_full_disk(s, c, &err);
    if (r < 0)
        fail_group(s, c, r, err.msg);
    answer(take(&c->taken));
    (void)FAILPOINT("commit-acknowledged");
}

void *store__commit_main(void *arg)
{
    struct store *s = arg;
    struct store__commit *c = s->commit;
    uint64_t seal_ticket;
    while (take_group(s, c, &seal_ticket)) {
        run_group(s, c, seal_ticket);
        arena_reset(&c->arena);
        buf_reset(&c->records);
        slots_reset(c);
        if (!s->is_tight && wal_wants_next(&s->wal)) {
            (void)pthread_mutex_lock(&s->keeper_lock);
            s->prepare_wanted = true;
            (void)pthread_cond_broadcast(&s->keeper_moved);
            (void)pthread_mutex_unlock(&s->keeper_lock);
        }
    }
    return NULL;
}

/* ---- Submitting ---- */

void store__enqueue(struct store *s, struct store_txn *t)
{
    struct store_txn *last = t;
    while (last->next)
        last = last->next;
    (void)pthread_mutex_lock(&s->queue_lock);
    assert(!s->commit_stops);
    bool was_empty = !s->queue;
    *s->queue_last = t;
    s->queue_last = &last->next;
    (void)pthread_mutex_unlock(&s->queue_lock);
    if (was_empty)
        (void)pthread_cond_signal(&s->queue_moved);
}

static void submit(struct store *s, struct store_txn *t)
{
    t->next = NULL;
    if (s->source)
        s->source->submit(s->source, t);
    else
        store__enqueue(s, t);
}

void store_submit(struct store *s, struct store_txn *t)
{
    for (size_t i = 0; s->codec && i < t->n_ops; i++)
        assert(t->ops[i].type != STORE_PUT);
    submit(s, t);
}

static void post_done(struct store_txn *t)
{
    (void)sem_post(t->owner);
}

static int submit_and_wait(struct store *s, struct store_txn *t, struct err *err)
{
    int r = s->source && s->source->prepare ? s->source->prepare(s->source, t, err) : 0;
    if (r < 0)
        return r;
    sem_t done;
    (void)sem_init(&done, 0, 0);
    t->done = post_done;
    /* cppcheck-suppress autoVariables ; it is waited for before this function returns */
    t->owner = &done;
    submit(s, t);
    while (sem_wait(&done) < 0)
        ; /* EINTR */
    (void)sem_destroy(&done);
    if (t->result == 0)
        return 0;
    if (t->result == -ERR_CONFLICT)
        return err_set(err, ERR_CONFLICT, "condition %zu failed: the key's revision is %" PRIu64,
                       t->failed_op, t->failed_rev);
    return err_set(err, (enum err_code) - t->result, "%s", t->reason);
}

static int seal_values(struct store_codec *c, struct store_op *ops, size_t n, struct buf *sealed,
                       struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (ops[i].type != STORE_PUT)
            continue;
        int r = c->seal(c, ops[i].key, ops[i].value, &sealed[i], err);
        if (r < 0)
            return r;
        if (r > 0)
            ops[i].value = buf_str(&sealed[i]);
    }
    return 0;
}

static int seal_and_submit(struct store *s, struct store_txn *t, struct store_op *stored,
                           struct buf *sealed, struct err *err)
{
    int r = seal_values(s->codec, stored, t->n_ops, sealed, err);
    if (r < 0)
        return r;
    struct store_op *ops = t->ops;
    t->ops = stored;
    r = submit_and_wait(s, t, err);
    t->ops = ops;
    return r;
}

/* The caller's operations stay as they are: it may look at them afterwards. */
static int commit_sealed(struct store *s, struct store_txn *t, struct err *err)
{
    autofree struct store_op *stored = mem_dup(t->ops, t->n_ops * sizeof(*stored));
    autofree struct buf *sealed = mem_array(t->n_ops, sizeof(*sealed));
    int r = seal_and_submit(s, t, stored, sealed, err);
    for (size_t i = 0; i < t->n_ops; i++)
        buf_done(&sealed[i]);
    return r;
}

int store_commit(struct store *s, struct store_txn *t, struct err *err)
{
    return s->codec && t->n_ops ? commit_sealed(s, t, err) : submit_and_wait(s, t, err);
}
