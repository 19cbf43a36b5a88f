#include "client/queue/lanes.h"

#include "base/idiom.h"
#include "client/suite_client.h"

struct guest {
    int priority;
    struct lane_link link;
};

static struct guest *first_of(const struct lanes *l)
{
    struct lane_link *link = lanes_first(l);
    return link ? container_of(link, struct guest, link) : NULL;
}

static void who_came_first_goes_first_in_each_lane(void **state)
{
    (void)state;
    static const int priorities[] = { 0, 5, -3, 0, 5, INT32_MIN, INT32_MAX, -3 };
    static const size_t want[] = { 6, 1, 4, 0, 3, 2, 7, 5 };
    struct guest guests[ARRAY_LEN(priorities)];
    struct lanes l = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(guests); i++) {
        guests[i].priority = priorities[i];
        lanes_push(&l, priorities[i], &guests[i].link);
    }
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct guest *g = first_of(&l);
        assert_int_equal(g - guests, want[i]);
        lanes_remove(&l, g->priority, &g->link);
    }
    assert_null(first_of(&l));
    lanes_done(&l);
}

static void one_leaves_from_anywhere(void **state)
{
    (void)state;
    struct lane_link links[4];
    struct lane lane = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        lane_push(&lane, &links[i]);
    lane_remove(&lane, &links[1]);
    assert_ptr_equal(lane.first->next, &links[2]);
    assert_ptr_equal(links[2].prev, &links[0]);
    lane_remove(&lane, &links[3]);
    assert_ptr_equal(lane.last, &links[2]);
    lane_remove(&lane, &links[0]);
    assert_ptr_equal(lane.first, &links[2]);
    lane_remove(&lane, &links[2]);
    assert_null(lane.first);
    assert_null(lane.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_came_first_goes_first_in_each_lane),
        cmocka_unit_test(one_leaves_from_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
