#include "judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- Orders ---- */

/* All operations on one object. */
static struct order_op *ops_of(const struct judge *j, size_t key, size_t *ret_n)
{
    size_t n = 0;
    for (size_t c = 0; c < j->n_clients; c++)
        n += j->clients[c].n_ops;
    struct order_op *ops = mem_array(n + 1, sizeof(*ops));
    n = 0;
    for (size_t c = 0; c < j->n_clients; c++)
        for (size_t i = 0; i < j->clients[c].n_ops; i++)
            if (j->clients[c].ops[i].key == key)
                ops[n++] = j->clients[c].ops[i].op;
    *ret_n = n;
    return ops;
}

/* What happened at the time of an operation. */
static void print_around(const struct order_op *ops, size_t n, const struct order_op *stuck)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++)
        if (ops[i].begin_ns <= stuck->end_ns &&
            (ops[i].result == ORDER_UNKNOWN || ops[i].end_ns >= stuck->begin_ns))
            printf("  " STR_FMT "%s\n", STR_ARG(order_words(&a, &ops[i])),
                   &ops[i] == stuck ? "   <- cannot be" : "");
    arena_done(&a);
}

bool judge_orders(const struct judge *j)
{
    bool is_right = true;
    for (size_t key = 0; key < RECORD_KEYS; key++) {
        size_t n;
        const struct order_op *stuck = NULL;
        struct order_op *ops = ops_of(j, key, &n);
        enum order_verdict v = order_check(ops, n, &stuck);
        if (v != ORDER_RIGHT) {
            is_right = false;
            printf("k%zu: %s\n", key,
                   v == ORDER_WRONG ? "no order fits" : "too many orders to try");
        }
        if (v == ORDER_WRONG)
            print_around(ops, n, stuck);
        free(ops);
    }
    return is_right;
}

/* ---- Watches ---- */

static bool is_change(const struct record_event *e)
{
    return e->type != SPN_EVENT_BOOKMARK;
}

static bool wrong(const char *what, uint64_t rev, uint64_t value)
{
    printf("%s: revision %" PRIu64 ", value %" PRIu64 "\n", what, rev, value);
    return false;
}

static bool is_ordered(const struct record_watch *w)
{
    uint64_t seen = w->run->start_rev;
    for (size_t i = 0; i < w->n_events; i++) {
        const struct record_event *e = &w->events[i];
        if (is_change(e) ? e->rev <= seen : e->rev < seen)
            return wrong("a watch went back, or repeats", e->rev, e->value);
        seen = e->rev;
    }
    return true;
}

/* ADDED if it was absent, else MODIFIED or DELETED, which says what was there last. */
static bool makes_sense(const struct record_watch *w)
{
    uint64_t values[RECORD_KEYS] = { 0 };
    for (size_t i = 0; i < w->n_events; i++) {
        const struct record_event *e = &w->events[i];
        if (!is_change(e))
            continue;
        uint64_t *now = &values[e->key];
        if ((e->type == SPN_EVENT_ADDED) != (*now == 0))
            return wrong("an event that does not follow from those before it", e->rev, e->value);
        if (e->type == SPN_EVENT_DELETED && e->value != *now)
            return wrong("a deleted object is not what it was", e->rev, e->value);
        *now = e->type == SPN_EVENT_DELETED ? 0 : e->value;
    }
    return true;
}

static const struct record_event *next_change(const struct record_watch *w, size_t *i)
{
    while (*i < w->n_events && !is_change(&w->events[*i]))
        ++*i;
    return *i < w->n_events ? &w->events[(*i)++] : NULL;
}

static bool is_same(const struct record_watch *x, size_t from, const struct record_watch *y)
{
    for (size_t i = from, k = 0;;) {
        const struct record_event *e = next_change(x, &i), *f = next_change(y, &k);
        if (!e && !f)
            return true;
        if (!e || !f)
            return wrong("only one of two watches saw", e ? e->rev : f->rev,
                         e ? e->value : f->value);
        if (e->type != f->type || e->key != f->key || e->value != f->value || e->rev != f->rev)
            return wrong("two watches differ", e->rev, f->rev);
    }
}

bool judge_watches(const struct judge *j)
{
    for (size_t i = 0; i < j->n_watches; i++)
        if (!is_ordered(&j->watches[i]) || !makes_sense(&j->watches[i]) ||
            !is_same(&j->watches[0], 0, &j->watches[i]))
            return false;
    return true;
}

bool judge_resumed(const struct judge *j, const struct record_watch *later, uint64_t from)
{
    const struct record_watch *all = &j->watches[0];
    size_t i = 0;
    while (i < all->n_events && all->events[i].rev <= from)
        i++;
    return is_same(all, i, later);
}

/* ---- Writes and reads beside the watch ---- */

static const struct record_event *event_at(const struct judge *j, uint64_t rev)
{
    const struct record_watch *w = &j->watches[0];
    size_t low = 0, high = w->n_events;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->events[middle].rev < rev)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < w->n_events && w->events[low].rev == rev && !is_change(&w->events[low]))
        low++;
    return low < w->n_events && w->events[low].rev == rev ? &w->events[low] : NULL;
}

/* Writes and reads of a state: the watch has it, at its revision. */
static bool is_watched(const struct judge *j, const struct record_op *o)
{
    const struct record_event *e = event_at(j, o->rev);
    if (!e || e->key != o->key || e->value != o->op.value || e->type == SPN_EVENT_DELETED)
        return wrong("no watch saw what a client was told", o->rev, o->op.value);
    return true;
}

/* Which writes may have happened, by their values. */
static bool *possible_values(const struct judge *j, uint64_t n)
{
    bool *possible = mem_array(n + 1, sizeof(bool));
    for (size_t c = 0; c < j->n_clients; c++)
        for (size_t i = 0; i < j->clients[c].n_ops; i++) {
            const struct order_op *op = &j->clients[c].ops[i].op;
            if ((op->kind == ORDER_CREATE || op->kind == ORDER_UPDATE) &&
                (op->result == ORDER_DONE || op->result == ORDER_UNKNOWN))
                possible[op->value] = true;
        }
    return possible;
}

static bool events_were_asked_for(const struct judge *j)
{
    const struct record_watch *w = &j->watches[0];
    const uint64_t n = atomic_load(&w->run->values);
    bool *possible = possible_values(j, n), is_right = true;
    for (size_t i = 0; i < w->n_events && is_right; i++) {
        const struct record_event *e = &w->events[i];
        if (!is_change(e) || e->type == SPN_EVENT_DELETED)
            continue;
        if (e->value > n || !possible[e->value])
            is_right = wrong("nobody wrote this, or it was refused, or it is here twice", e->rev,
                             e->value);
        else
            possible[e->value] = false;
    }
    free(possible);
    return is_right;
}

static bool deletes_add_up(const struct judge *j)
{
    size_t n_sure = 0, n_unknown = 0, n_seen = 0;
    for (size_t c = 0; c < j->n_clients; c++)
        for (size_t i = 0; i < j->clients[c].n_ops; i++) {
            const struct order_op *op = &j->clients[c].ops[i].op;
            n_sure += op->kind == ORDER_DELETE && op->result == ORDER_DONE;
            n_unknown += op->kind == ORDER_DELETE && op->result == ORDER_UNKNOWN;
        }
    for (size_t i = 0; i < j->watches[0].n_events; i++)
        n_seen += j->watches[0].events[i].type == SPN_EVENT_DELETED;
    if (n_seen >= n_sure && n_seen <= n_sure + n_unknown)
        return true;
    printf("%zu deletes were watched, but %zu were acknowledged, and %zu may have been done\n",
           n_seen, n_sure, n_unknown);
    return false;
}

bool judge_writes(const struct judge *j)
{
    for (size_t c = 0; c < j->n_clients; c++)
        for (size_t i = 0; i < j->clients[c].n_ops; i++) {
            const struct record_op *o = &j->clients[c].ops[i];
            if (o->op.result == ORDER_DONE && o->rev && !is_watched(j, o))
                return false;
        }
    return events_were_asked_for(j) && deletes_add_up(j);
}

/* ---- Lists ---- */

static int by_rev(const void *a, const void *b)
{
    const struct record_list *x = *(const struct record_list *const *)a;
    const struct record_list *y = *(const struct record_list *const *)b;
    return (x->rev > y->rev) - (x->rev < y->rev);
}

static const struct record_list **sorted_lists(const struct judge *j, size_t *ret_n)
{
    size_t n = 0;
    for (size_t c = 0; c < j->n_clients; c++)
        n += j->clients[c].n_lists;
    const struct record_list **all = mem_array(n + 1, sizeof(*all));
    n = 0;
    for (size_t c = 0; c < j->n_clients; c++)
        for (size_t i = 0; i < j->clients[c].n_lists; i++)
            all[n++] = &j->clients[c].lists[i];
    qsort(all, n, sizeof(*all), by_rev);
    *ret_n = n;
    return all;
}

static bool is_state(const struct record_list *now, const struct record_list *l)
{
    for (size_t key = 0; key < RECORD_KEYS; key++)
        if (now->values[key] != l->values[key] || now->revs[key] != l->revs[key])
            return wrong("a list is not what was there at its revision", l->rev, l->values[key]);
    return true;
}

bool judge_lists(const struct judge *j)
{
    const struct record_watch *w = &j->watches[0];
    struct record_list now = { 0 };
    size_t n, at = 0;
    const struct record_list **all = sorted_lists(j, &n);
    bool is_right = true;
    for (size_t i = 0; i < n && is_right; i++) {
        for (; at < w->n_events && w->events[at].rev <= all[i]->rev; at++) {
            const struct record_event *e = &w->events[at];
            const bool is_there = e->type != SPN_EVENT_DELETED;
            if (!is_change(e))
                continue;
            now.values[e->key] = is_there ? e->value : 0;
            now.revs[e->key] = is_there ? e->rev : 0;
        }
        is_right = is_state(&now, all[i]);
    }
    free(all);
    return is_right;
}
