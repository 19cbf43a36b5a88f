/* Histories of one object, some of which cannot have happened. */
#include "order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/idiom.h"

#define READ(from, to, v)                         \
    {                                             \
        ORDER_READ, ORDER_DONE, v, 0, from, to, 0 \
    }
#define CREATE(from, to, v)                         \
    {                                               \
        ORDER_CREATE, ORDER_DONE, v, 0, from, to, 0 \
    }
#define EXISTS(from, to, v)                            \
    {                                                  \
        ORDER_CREATE, ORDER_REFUSED, v, 0, from, to, 0 \
    }
#define UPDATE(from, to, e, v)                      \
    {                                               \
        ORDER_UPDATE, ORDER_DONE, v, e, from, to, 0 \
    }
#define STALE(from, to, e, v)                          \
    {                                                  \
        ORDER_UPDATE, ORDER_REFUSED, v, e, from, to, 0 \
    }
#define NOTHING(from, to, e)                           \
    {                                                  \
        ORDER_UPDATE, ORDER_ABSENT, 99, e, from, to, 0 \
    }
#define DELETE(from, to)                            \
    {                                               \
        ORDER_DELETE, ORDER_DONE, 0, 0, from, to, 0 \
    }
#define GONE(from, to)                                \
    {                                                 \
        ORDER_DELETE, ORDER_ABSENT, 0, 0, from, to, 0 \
    }
#define MAYBE_CREATE(from, v)                         \
    {                                                 \
        ORDER_CREATE, ORDER_UNKNOWN, v, 0, from, 0, 0 \
    }
#define MAYBE_UPDATE(from, e, v)                      \
    {                                                 \
        ORDER_UPDATE, ORDER_UNKNOWN, v, e, from, 0, 0 \
    }
#define MAYBE_DELETE(from)                            \
    {                                                 \
        ORDER_DELETE, ORDER_UNKNOWN, 0, 0, from, 0, 0 \
    }

enum { OPS_MAX = 6 };

static const struct {
    const char *about;
    enum order_verdict verdict;
    size_t n;
    struct order_op ops[OPS_MAX];
} histories[] = {
    { "one after the other",
      ORDER_RIGHT,
      4,
      { CREATE(0, 1, 1), READ(2, 3, 1), UPDATE(4, 5, 1, 2), READ(6, 7, 2) } },
    { "a stale read", ORDER_WRONG, 3, { CREATE(0, 1, 1), UPDATE(2, 3, 1, 2), READ(4, 5, 1) } },
    { "a read beside the write may see either",
      ORDER_RIGHT,
      4,
      { CREATE(0, 1, 1), UPDATE(2, 9, 1, 2), READ(3, 4, 1), READ(5, 6, 2) } },
    { "but nobody goes back",
      ORDER_WRONG,
      4,
      { CREATE(0, 1, 1), UPDATE(2, 9, 1, 2), READ(3, 4, 2), READ(5, 6, 1) } },
    { "a lost update",
      ORDER_WRONG,
      3,
      { CREATE(0, 1, 1), UPDATE(2, 3, 1, 2), UPDATE(4, 5, 1, 3) } },
    { "both of two updates of one state",
      ORDER_WRONG,
      3,
      { CREATE(0, 1, 1), UPDATE(2, 9, 1, 2), UPDATE(2, 9, 1, 3) } },
    { "one of them is refused",
      ORDER_RIGHT,
      3,
      { CREATE(0, 1, 1), UPDATE(2, 9, 1, 2), STALE(2, 9, 1, 3) } },
    { "refused for nothing", ORDER_WRONG, 2, { CREATE(0, 1, 1), STALE(2, 3, 1, 2) } },
    { "a value that nobody wrote", ORDER_WRONG, 2, { CREATE(0, 1, 1), READ(2, 3, 7) } },
    { "read before it was written", ORDER_WRONG, 2, { READ(0, 1, 1), CREATE(2, 3, 1) } },
    { "two creates", ORDER_WRONG, 2, { CREATE(0, 9, 1), CREATE(0, 9, 2) } },
    { "there is one", ORDER_RIGHT, 2, { CREATE(0, 9, 1), EXISTS(0, 9, 2) } },
    { "there is none", ORDER_WRONG, 1, { EXISTS(0, 1, 1) } },
    { "deleted",
      ORDER_RIGHT,
      5,
      { CREATE(0, 1, 1), DELETE(2, 3), READ(4, 5, 0), GONE(6, 7), CREATE(8, 9, 2) } },
    { "back from the dead", ORDER_WRONG, 3, { CREATE(0, 1, 1), DELETE(2, 3), READ(4, 5, 1) } },
    { "deleted twice", ORDER_WRONG, 3, { CREATE(0, 1, 1), DELETE(2, 9), DELETE(2, 9) } },
    { "an update finds nothing",
      ORDER_RIGHT,
      3,
      { CREATE(0, 1, 1), DELETE(2, 3), NOTHING(4, 5, 1) } },
    { "an update finds nothing where there is one",
      ORDER_WRONG,
      2,
      { CREATE(0, 1, 1), NOTHING(2, 3, 1) } },
    { "an unknown create was done", ORDER_RIGHT, 2, { MAYBE_CREATE(0, 1), READ(5, 6, 1) } },
    { "was not done", ORDER_RIGHT, 2, { MAYBE_CREATE(0, 1), READ(5, 6, 0) } },
    { "was done late", ORDER_RIGHT, 3, { MAYBE_CREATE(0, 1), READ(5, 6, 0), READ(7, 8, 1) } },
    { "was undone", ORDER_WRONG, 3, { MAYBE_CREATE(0, 1), READ(5, 6, 1), READ(7, 8, 0) } },
    { "was done before it was asked for", ORDER_WRONG, 2, { READ(0, 1, 1), MAYBE_CREATE(5, 1) } },
    { "an unknown update replaced what it expected",
      ORDER_RIGHT,
      4,
      { CREATE(0, 1, 1), MAYBE_UPDATE(2, 1, 2), STALE(4, 5, 1, 3), READ(6, 7, 2) } },
    { "and nothing else",
      ORDER_WRONG,
      4,
      { CREATE(0, 1, 1), UPDATE(2, 3, 1, 2), MAYBE_UPDATE(4, 1, 3), READ(6, 7, 3) } },
    { "an unknown delete hits what came later",
      ORDER_RIGHT,
      5,
      { MAYBE_DELETE(0), CREATE(1, 2, 1), READ(3, 4, 1), READ(5, 6, 0), CREATE(7, 8, 2) } },
    { "but only once",
      ORDER_WRONG,
      5,
      { MAYBE_DELETE(0), CREATE(1, 2, 1), READ(3, 4, 0), CREATE(5, 6, 2), READ(7, 8, 0) } },
};

static void each_history_is_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(histories); i++) {
        const struct order_op *stuck = NULL;
        enum order_verdict v = order_check(histories[i].ops, histories[i].n, &stuck);
        if (v != histories[i].verdict)
            fail_msg("%s: verdict %d", histories[i].about, (int)v);
        if (v == ORDER_WRONG)
            assert_non_null(stuck);
    }
}

enum { ROUNDS = 200, APART_NS = 10, REACH_NS = 50 };

static enum order_result result_of(const struct order_op *op, uint64_t value)
{
    if (op->kind == ORDER_CREATE)
        return value ? ORDER_REFUSED : ORDER_DONE;
    if (op->kind != ORDER_READ && !value)
        return ORDER_ABSENT;
    return op->kind == ORDER_UPDATE && op->expects != value ? ORDER_REFUSED : ORDER_DONE;
}

/* Each operation takes effect at a moment of its own, and lasts from some time before to some time
 * after it. */
static void make_history(unsigned seed, struct order_op ops[static ROUNDS])
{
    uint64_t value = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct order_op *op = &ops[i];
        *op = (struct order_op){ .kind = (enum order_kind)(rand_r(&seed) % 4),
                                 .expects = rand_r(&seed) % 3 ? value : 4000,
                                 .begin_ns = APART_NS * i - rand_r(&seed) % REACH_NS,
                                 .end_ns = APART_NS * i + rand_r(&seed) % REACH_NS };
        op->value = op->kind == ORDER_READ ? value : (uint64_t)i + 1;
        op->result = result_of(op, value);
        assert_true(order_step(op, value, &value));
    }
}

static void what_happened_is_right_and_a_wrong_value_is_found(void **state)
{
    struct order_op ops[ROUNDS];
    (void)state;
    for (unsigned seed = 1; seed <= 50; seed++) {
        make_history(seed, ops);
        assert_int_equal(order_check(ops, ROUNDS, NULL), ORDER_RIGHT);
        size_t i = ROUNDS / 2;
        while (ops[i].kind != ORDER_READ)
            i++;
        ops[i].value = 5000; /* nobody writes that */
        assert_int_equal(order_check(ops, ROUNDS, NULL), ORDER_WRONG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_history_is_judged),
        cmocka_unit_test(what_happened_is_right_and_a_wrong_value_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
