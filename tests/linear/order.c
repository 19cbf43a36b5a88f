#include "order.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

enum { STATES_MAX = 20 * 1000 * 1000 };

/* ---- What an operation does ---- */

static bool step_read(const struct order_op *op, uint64_t state, uint64_t *ret)
{
    *ret = state;
    return state == op->value;
}

static bool step_create(const struct order_op *op, uint64_t state, uint64_t *ret)
{
    *ret = state ? state : op->value;
    return op->result == ORDER_UNKNOWN || (op->result == ORDER_DONE) == (state == 0);
}

static bool step_update(const struct order_op *op, uint64_t state, uint64_t *ret)
{
    const bool fits = state && state == op->expects;
    *ret = fits ? op->value : state;
    switch (op->result) {
    case ORDER_DONE:
        return fits;
    case ORDER_REFUSED:
        return !fits;
    case ORDER_ABSENT:
        return state == 0;
    case ORDER_UNKNOWN:
        return true;
    }
    return false;
}

static bool step_delete(const struct order_op *op, uint64_t state, uint64_t *ret)
{
    *ret = 0;
    return op->result == ORDER_UNKNOWN || (op->result == ORDER_DONE) == (state != 0);
}

bool order_step(const struct order_op *op, uint64_t state, uint64_t *ret)
{
    static bool (*const steps[])(const struct order_op *, uint64_t, uint64_t *) = {
        [ORDER_READ] = step_read,
        [ORDER_CREATE] = step_create,
        [ORDER_UPDATE] = step_update,
        [ORDER_DELETE] = step_delete,
    };
    return steps[op->kind](op, state, ret);
}

/* ---- The search ---- */

/* Begins and ends in the order of time; those that are placed are taken out. */
struct mark {
    struct mark *before, *after;
    const struct order_op *op;
    struct mark *end; /* of a begin; NULL: this is an end */
    int64_t at_ns;
    size_t number; /* of the operation */
};

struct placed {
    struct mark *mark;
    uint64_t state; /* before it */
};

struct search {
    struct arena arena;
    struct mark *marks, head;
    struct placed *stack;
    size_t n_placed;
    unsigned char *config; /* the state, and a bit for each operation that is placed */
    size_t config_bytes;
    struct map seen;
};

static int64_t end_of(const struct order_op *op)
{
    return op->result == ORDER_UNKNOWN ? INT64_MAX : op->end_ns;
}

/* Of two marks at one moment the begin comes first: they overlap. */
static int by_time(const void *a, const void *b)
{
    const struct mark *x = *(struct mark *const *)a, *y = *(struct mark *const *)b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->end == NULL) - (y->end == NULL);
}

static void link_marks(struct search *s, const struct order_op *ops, size_t n)
{
    struct mark **sorted = mem_array(2 * n, sizeof(struct mark *));
    s->marks = mem_array(2 * n, sizeof(struct mark));
    for (size_t i = 0; i < n; i++) {
        struct mark *begin = &s->marks[2 * i], *end = begin + 1;
        *begin = (struct mark){ .op = &ops[i], .end = end, .at_ns = ops[i].begin_ns, .number = i };
        *end = (struct mark){ .op = &ops[i], .at_ns = end_of(&ops[i]), .number = i };
        sorted[2 * i] = begin;
        sorted[2 * i + 1] = end;
    }
    qsort(sorted, 2 * n, sizeof(*sorted), by_time);
    struct mark *last = &s->head;
    for (size_t i = 0; i < 2 * n; i++) {
        sorted[i]->before = last;
        last->after = sorted[i];
        last = sorted[i];
    }
    free(sorted);
}

static void take_out(struct mark *m)
{
    m->before->after = m->after;
    if (m->after)
        m->after->before = m->before;
}

static void put_back(struct mark *m)
{
    m->before->after = m;
    if (m->after)
        m->after->before = m;
}

static void set_config(struct search *s, uint64_t state, size_t number, bool is_placed)
{
    unsigned char *bits = s->config + sizeof(state);
    memcpy(s->config, &state, sizeof(state));
    if (is_placed)
        bits[number / 8] |= (unsigned char)(1u << number % 8);
    else
        bits[number / 8] &= (unsigned char)~(1u << number % 8);
}

static bool is_new_config(struct search *s)
{
    const struct str config = { (const char *)s->config, s->config_bytes };
    if (map_get(&s->seen, config))
        return false;
    (void)map_set(&s->seen, arena_str(&s->arena, config), s);
    return true;
}

/* Places the operation of a begin now, if it fits and has not been tried. */
static bool place(struct search *s, struct mark *m, uint64_t *state)
{
    uint64_t next;
    if (!order_step(m->op, *state, &next))
        return false;
    set_config(s, next, m->number, true);
    if (!is_new_config(s)) {
        set_config(s, *state, m->number, false);
        return false;
    }
    s->stack[s->n_placed++] = (struct placed){ m, *state };
    *state = next;
    take_out(m);
    take_out(m->end);
    return true;
}

static struct mark *unplace(struct search *s, uint64_t *state)
{
    struct placed *p = &s->stack[--s->n_placed];
    *state = p->state;
    set_config(s, *state, p->mark->number, false);
    put_back(p->mark->end);
    put_back(p->mark);
    return p->mark;
}

/* Ends of what has no answer come last: when one of them is reached, all others are placed. */
static enum order_verdict search(struct search *s, const struct order_op **ret_stuck)
{
    uint64_t state = 0;
    size_t deepest = 0;
    struct mark *m = s->head.after;
    while (m && (m->end || m->op->result != ORDER_UNKNOWN)) {
        if (s->seen.n > STATES_MAX)
            return ORDER_TOO_HARD;
        if (m->end) {
            m = place(s, m, &state) ? s->head.after : m->after;
            continue;
        }
        if (ret_stuck && s->n_placed >= deepest) {
            deepest = s->n_placed;
            *ret_stuck = m->op;
        }
        if (!s->n_placed)
            return ORDER_WRONG;
        m = unplace(s, &state)->after;
    }
    return ORDER_RIGHT;
}

enum order_verdict order_check(const struct order_op *ops, size_t n,
                               const struct order_op **ret_stuck)
{
    if (n == 0)
        return ORDER_RIGHT;
    struct search s = { .config_bytes = sizeof(uint64_t) + (n + 7) / 8 };
    arena_init(&s.arena);
    s.config = mem_array(s.config_bytes, 1);
    s.stack = mem_array(n, sizeof(*s.stack));
    link_marks(&s, ops, n);
    enum order_verdict verdict = search(&s, ret_stuck);
    free(s.marks);
    free(s.stack);
    free(s.config);
    map_done(&s.seen);
    arena_done(&s.arena);
    return verdict;
}

struct str order_words(struct arena *a, const struct order_op *op)
{
    static const char *const kinds[] = { "read", "create", "update", "delete" };
    static const char *const results[] = { "done", "refused", "absent", "unknown" };
    return arena_printf(
        a, "%" PRId64 " to %" PRId64 ": client %u: %s %" PRIu64 " (expects %" PRIu64 "): %s",
        op->begin_ns, op->result == ORDER_UNKNOWN ? INT64_C(-1) : op->end_ns, op->client,
        kinds[op->kind], op->value, op->expects, results[op->result]);
}
