/* Regular expressions as small programs, run by a machine that is in many places at once (Thompson,
 * Pike): for each character of the text each instruction is looked at no more than once. Places are
 * kept in the order in which a backtracking matcher would try them, so the first to arrive at the
 * end is the match it would have found. */
#include "base/regexp.h"

#include <assert.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/regexp_class.h"
#include "base/utf8.h"

#include "base/banned.h"

enum opcode {
    ONE_OF, /* takes a character of `class` */
    CHAR,   /* takes the character `x` */
    SPLIT,  /* goes on at `x`, or else at `y` */
    JUMP,   /* goes on at `x` */
    PLACE,  /* takes nothing: `x` is the enum regexp_op of what must hold here */
    MATCH,
};

struct inst {
    uint32_t op, x;
    union {
        uint32_t y;
        const struct regexp_class *class;
    };
};

struct regexp {
    struct inst *insts;
    uint32_t n;
    bool from_start; /* it can only match at the start of the text */
};

struct compiler {
    struct arena *a;
    struct inst *insts;
    uint32_t n, room;
    bool too_large;
};

static uint32_t emit(struct compiler *c, enum opcode op, uint32_t x)
{
    if (c->n == c->room && !c->too_large) {
        uint32_t room = c->room ? c->room * 2 : 32;
        c->insts = arena_grow(c->a, c->insts, c->room * sizeof(struct inst),
                              room * sizeof(struct inst), alignof(struct inst));
        c->room = room;
    }
    if (c->n >= LIMIT_REGEXP_INSTS) {
        c->too_large = true;
        return 0;
    }
    c->insts[c->n] = (struct inst){ .op = op, .x = x };
    return c->n++;
}

static void emit_node(struct compiler *c, const struct regexp_node *n);

static void emit_class(struct compiler *c, const struct regexp_class *class)
{
    bool single = class->n == 1 && class->ranges->from == class->ranges->to;
    if (single && !class->negated && !class->fold && !class->properties) {
        emit(c, CHAR, class->ranges->from);
        return;
    }
    uint32_t i = emit(c, ONE_OF, 0);
    c->insts[i].class = class;
}

/* A split whose two ways lead to `here`, which comes next, and to a place set later. */
static uint32_t emit_split(struct compiler *c)
{
    uint32_t split = emit(c, SPLIT, 0);
    c->insts[split].x = c->n;
    return split;
}

static void set_exit(struct compiler *c, uint32_t split, uint32_t exit, bool lazy)
{
    struct inst *i = &c->insts[split];
    i->y = exit;
    if (lazy) {
        i->y = i->x;
        i->x = exit;
    }
}

static void emit_either(struct compiler *c, const struct regexp_node *n)
{
    uint32_t jumps = UINT32_MAX; /* to the end, chained by their x until it is known */
    for (const struct regexp_node *child = n->child; child; child = child->next) {
        uint32_t split = child->next ? emit_split(c) : 0;
        emit_node(c, child);
        if (!child->next)
            break;
        jumps = emit(c, JUMP, jumps);
        if (!c->too_large)
            set_exit(c, split, c->n, false);
    }
    while (jumps != UINT32_MAX && !c->too_large) {
        uint32_t next = c->insts[jumps].x;
        c->insts[jumps].x = c->n;
        jumps = next;
    }
}

/* One or more of the child. */
static void emit_plus(struct compiler *c, const struct regexp_node *n)
{
    uint32_t start = c->n;
    emit_node(c, n->child);
    uint32_t split = emit(c, SPLIT, start);
    if (!c->too_large)
        set_exit(c, split, c->n, n->lazy);
}

static void emit_star(struct compiler *c, const struct regexp_node *n)
{
    uint32_t split = emit_split(c);
    if (n->child->nullable) { /* (x+)?: else an empty round would count before a longer one */
        emit_plus(c, n);
    } else {
        emit_node(c, n->child);
        emit(c, JUMP, split);
    }
    if (!c->too_large)
        set_exit(c, split, c->n, n->lazy);
}

/* x{2,4} is xx(x(x)?)? and x{2,} is xx+. */
static void emit_repeat(struct compiler *c, const struct regexp_node *n)
{
    bool endless = n->max == REGEXP_NO_MAX;
    if (endless && n->min == 0) {
        emit_star(c, n);
        return;
    }
    for (uint32_t i = 0; i + (endless ? 1 : 0) < n->min && !c->too_large; i++)
        emit_node(c, n->child);
    if (endless) {
        emit_plus(c, n);
        return;
    }
    uint32_t splits = UINT32_MAX; /* chained by their y */
    for (uint32_t i = n->min; i < n->max && !c->too_large; i++) {
        uint32_t split = emit_split(c);
        c->insts[split].y = splits;
        splits = split;
        emit_node(c, n->child);
    }
    while (splits != UINT32_MAX && !c->too_large) {
        uint32_t next = c->insts[splits].y;
        set_exit(c, splits, c->n, n->lazy);
        splits = next;
    }
}

static void emit_node(struct compiler *c, const struct regexp_node *n)
{
    if (c->too_large)
        return;
    switch (n->op) {
    case REGEXP_EMPTY:
        return;
    case REGEXP_CLASS:
        emit_class(c, n->class);
        return;
    case REGEXP_SEQUENCE:
        for (const struct regexp_node *child = n->child; child; child = child->next)
            emit_node(c, child);
        return;
    case REGEXP_EITHER:
        emit_either(c, n);
        return;
    case REGEXP_REPEAT:
        emit_repeat(c, n);
        return;
    default:
        emit(c, PLACE, n->op);
    }
}

int regexp_compile(struct arena *a, struct str pattern, struct regexp **ret, struct err *err)
{
    struct regexp_node *tree;
    int r = regexp_parse(a, pattern, &tree, err);
    if (r < 0)
        return r;
    struct compiler c = { .a = a };
    emit_node(&c, tree);
    emit(&c, MATCH, 0);
    if (c.too_large)
        return err_set(err, ERR_INVALID,
                       "error parsing regexp: expression too large: `" STR_FMT "`",
                       STR_ARG(pattern));
    *ret = arena_new(a, struct regexp);
    **ret =
        (struct regexp){ .insts = c.insts,
                         .n = c.n,
                         .from_start = c.insts->op == PLACE && c.insts->x == REGEXP_BEGIN_TEXT };
    return 0;
}

/* One place the machine is in, and where in the text the match began. */
struct place {
    uint32_t pc;
    size_t start;
};

/* Places in order, each once: a sparse set. */
struct places {
    struct place *dense;
    uint32_t *sparse;
    uint32_t n;
};

struct machine {
    const struct regexp *re;
    struct str text;
    const struct allowance *allowance; /* NULL: none */
    struct places now, next;
    uint32_t *stack; /* instructions still to be followed */
};

static bool is_word(struct str text, size_t at)
{
    if (at >= text.n)
        return false;
    char c = text.p[at];
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool holds(enum regexp_op op, struct str text, size_t at)
{
    bool edge = (at > 0 && is_word(text, at - 1)) != is_word(text, at);
    switch (op) {
    case REGEXP_BEGIN_TEXT:
        return at == 0;
    case REGEXP_END_TEXT:
        return at == text.n;
    case REGEXP_BEGIN_LINE:
        return at == 0 || text.p[at - 1] == '\n';
    case REGEXP_END_LINE:
        return at == text.n || text.p[at] == '\n';
    case REGEXP_WORD_EDGE:
        return edge;
    default:
        return !edge;
    }
}

static bool put(struct places *set, uint32_t pc, size_t start)
{
    uint32_t i = set->sparse[pc];
    if (i < set->n && set->dense[i].pc == pc)
        return false;
    set->sparse[pc] = set->n;
    set->dense[set->n++] = (struct place){ pc, start };
    return true;
}

/* Adds `pc` and whatever can be reached from it without taking a character. */
static void follow(struct machine *m, struct places *set, uint32_t pc, size_t start, size_t at)
{
    uint32_t depth = 0;
    m->stack[depth++] = pc;
    while (depth) {
        pc = m->stack[--depth];
        if (!put(set, pc, start))
            continue;
        const struct inst *i = &m->re->insts[pc];
        if (i->op == SPLIT)
            m->stack[depth++] = i->y;
        if (i->op == SPLIT || i->op == JUMP)
            m->stack[depth++] = i->x;
        else if (i->op == PLACE && holds(i->x, m->text, at))
            m->stack[depth++] = pc + 1;
    }
}

static bool takes(const struct inst *i, uint32_t code)
{
    if (i->op == CHAR)
        return i->x == code;
    return i->op == ONE_OF && regexp_class_has(i->class, code);
}

/* Runs until no place is left that could be part of a better match. */
static bool run(struct machine *m, size_t from, size_t *ret_start, size_t *ret_end, bool any)
{
    bool found = false;
    for (size_t at = from, step; at <= m->text.n; at += step) {
        if (!found && (at == 0 || !m->re->from_start))
            follow(m, &m->now, 0, at, at);
        if (m->now.n == 0)
            break;
        if (m->allowance && allowance_ended(m->allowance) != ALLOWANCE_OPEN)
            return false;
        step = at < m->text.n ? utf8_step(m->text.p + at, m->text.n - at) : 1;
        assert(step);
        uint32_t code = at < m->text.n ? utf8_decode(m->text.p + at, step) : UINT32_MAX;
        m->next.n = 0;
        for (uint32_t k = 0; k < m->now.n; k++) {
            const struct place *p = &m->now.dense[k];
            if (m->re->insts[p->pc].op == MATCH) {
                found = true;
                *ret_start = p->start;
                *ret_end = at;
                if (any)
                    return true;
                break; /* those after it would only be tried without it */
            }
            if (code != UINT32_MAX && takes(&m->re->insts[p->pc], code))
                follow(m, &m->next, p->pc + 1, p->start, at + step);
        }
        struct places swap = m->now;
        m->now = m->next;
        m->next = swap;
    }
    return found;
}

enum { SMALL = 128 }; /* programs of so many instructions need no heap */

static bool search(const struct regexp *re, struct str text, size_t from, const struct allowance *w,
                   size_t *ret_start, size_t *ret_end, bool any)
{
    struct place small_dense[2 * SMALL];
    uint32_t small_words[4 * SMALL + 1];
    bool small = re->n <= SMALL;
    autofree struct place *large_dense =
        small ? NULL : mem_array((size_t)re->n * 2, sizeof(struct place));
    autofree uint32_t *large_words =
        small ? NULL : mem_array((size_t)re->n * 4 + 1, sizeof(uint32_t));
    struct place *dense = small ? small_dense : large_dense;
    uint32_t *words = small ? small_words : large_words;
    if (small)
        memset(small_words, 0, 2 * (size_t)re->n * sizeof(*small_words));
    struct machine m = {
        .re = re,
        .text = text,
        .allowance = w,
        .now = { .dense = dense, .sparse = words },
        .next = { .dense = dense + re->n, .sparse = words + re->n },
        .stack = words + 2 * (size_t)re->n,
    };
    return run(&m, from, ret_start, ret_end, any);
}

bool regexp_match(const struct regexp *re, struct str text, const struct allowance *w)
{
    size_t start, end;
    return search(re, text, 0, w, &start, &end, true);
}

bool regexp_find(const struct regexp *re, struct str text, size_t from, const struct allowance *w,
                 size_t *ret_start, size_t *ret_end)
{
    return search(re, text, from, w, ret_start, ret_end, false);
}
