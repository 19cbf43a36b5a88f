/* A small world that is right, and what is noticed when a part of it is changed. */
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

/* k0 is made (1), replaced (2) and deleted; k1 is made (3). */
struct world {
    struct record_run run;
    struct record_op ops[5];
    struct record_list lists[2];
    struct record_event events[2][5];
    struct record_client client;
    struct record_watch watches[2];
};

static void fill(struct world *w)
{
    const struct record_op ops[] = {
        { { ORDER_CREATE, ORDER_DONE, 1, 0, 10, 20, 0 }, 0, 11 },
        { { ORDER_UPDATE, ORDER_DONE, 2, 1, 30, 40, 0 }, 0, 12 },
        { { ORDER_CREATE, ORDER_DONE, 3, 0, 50, 60, 0 }, 1, 13 },
        { { ORDER_READ, ORDER_DONE, 3, 0, 70, 80, 0 }, 1, 13 },
        { { ORDER_DELETE, ORDER_DONE, 0, 0, 90, 99, 0 }, 0, 0 },
    };
    const struct record_list lists[] = {
        { .rev = 12, .values = { 2 }, .revs = { 12 } },
        { .rev = 15, .values = { 0, 3 }, .revs = { 0, 13 } },
    };
    const struct record_event events[] = {
        { SPN_EVENT_ADDED, 0, 1, 11 },    { SPN_EVENT_MODIFIED, 0, 2, 12 },
        { SPN_EVENT_BOOKMARK, 0, 0, 12 }, { SPN_EVENT_ADDED, 1, 3, 13 },
        { SPN_EVENT_DELETED, 0, 2, 14 },
    };
    *w = (struct world){ .run = { .start_rev = 10, .values = 3 } };
    memcpy(w->ops, ops, sizeof(ops));
    memcpy(w->lists, lists, sizeof(lists));
    w->client = (struct record_client){
        .run = &w->run, .ops = w->ops, .n_ops = 5, .lists = w->lists, .n_lists = 2
    };
    for (size_t i = 0; i < 2; i++) {
        memcpy(w->events[i], events, sizeof(events));
        w->watches[i] =
            (struct record_watch){ .run = &w->run, .events = w->events[i], .n_events = 5 };
    }
}

static struct judge judge_of(struct world *w)
{
    return (struct judge){ &w->client, 1, w->watches, 2 };
}

static void a_right_world_is_right(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    const struct judge j = judge_of(&w);
    assert_true(judge_orders(&j) && judge_watches(&j) && judge_writes(&j) && judge_lists(&j));
    struct record_watch rest = { .run = &w.run, .events = &w.events[0][3], .n_events = 2 };
    assert_true(judge_resumed(&j, &rest, 12));
    assert_false(judge_resumed(&j, &rest, 11));
}

static void lose_an_event(struct world *w)
{
    w->watches[1].n_events--;
}

static void repeat_an_event(struct world *w)
{
    w->events[0][1] = w->events[1][1] = w->events[0][0];
}

static void swap_events(struct world *w)
{
    const struct record_event first = w->events[1][0];
    w->events[1][0] = w->events[1][1];
    w->events[1][1] = first;
}

static void pass_a_bookmark(struct world *w)
{
    w->events[0][2].rev = w->events[1][2].rev = 13;
}

static void differ(struct world *w)
{
    w->events[1][3].value = 4;
}

static void add_what_is_there(struct world *w)
{
    w->events[0][1].type = w->events[1][1].type = SPN_EVENT_ADDED;
}

static void delete_another_state(struct world *w)
{
    w->events[0][4].value = w->events[1][4].value = 1;
}

static void forget_a_write(struct world *w)
{
    w->ops[2].rev = 15;
}

static void write_a_refused_one(struct world *w)
{
    w->ops[1].op.result = ORDER_REFUSED;
    w->ops[1].rev = 0;
}

static void read_another_value(struct world *w)
{
    w->ops[3].op.value = 2;
}

static void lose_a_delete(struct world *w)
{
    w->watches[0].n_events = w->watches[1].n_events = 4;
}

static void list_the_past(struct world *w)
{
    w->lists[0].values[0] = 1;
}

static void list_half_of_it(struct world *w)
{
    w->lists[1].values[1] = w->lists[1].revs[1] = 0;
}

static void read_too_early(struct world *w)
{
    w->ops[3].op.begin_ns = 41;
    w->ops[3].op.end_ns = 42;
}

static void what_is_changed_is_noticed(void **state)
{
    static const struct {
        void (*change)(struct world *w);
        bool (*judge)(const struct judge *j);
    } rows[] = {
        { lose_an_event, judge_watches },
        { repeat_an_event, judge_watches },
        { swap_events, judge_watches },
        { pass_a_bookmark, judge_watches },
        { differ, judge_watches },
        { add_what_is_there, judge_watches },
        { delete_another_state, judge_watches },
        { forget_a_write, judge_writes },
        { write_a_refused_one, judge_writes },
        { read_another_value, judge_writes },
        { lose_a_delete, judge_writes },
        { list_the_past, judge_lists },
        { list_half_of_it, judge_lists },
        { read_too_early, judge_orders },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w;
        fill(&w);
        rows[i].change(&w);
        const struct judge j = judge_of(&w);
        if (rows[i].judge(&j))
            fail_msg("change %zu was not noticed", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_world_is_right),
        cmocka_unit_test(what_is_changed_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
