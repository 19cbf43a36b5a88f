#include "client/queue/due_heap.h"

#include <stdbool.h>

#include "client/suite_client.h"

enum { N_NODES = 300, N_STEPS = 20000 };

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int64_t earliest(const struct due_node *nodes)
{
    int64_t at = INT64_MAX;
    for (size_t i = 0; i < N_NODES; i++)
        if (nodes[i].place && nodes[i].at_ns < at)
            at = nodes[i].at_ns;
    return at;
}

static void the_first_is_always_the_earliest(void **state)
{
    (void)state;
    static struct due_node nodes[N_NODES];
    struct due_heap h = { 0 };
    unsigned seed = 1;
    size_t in_heap = 0;
    for (size_t i = 0; i < N_STEPS; i++) {
        struct due_node *node = &nodes[next_random(&seed) % N_NODES];
        bool was_in = node->place;
        if (next_random(&seed) % 5 < 2) {
            due_heap_remove(&h, node);
            in_heap -= was_in;
        } else {
            due_heap_put(&h, node, next_random(&seed) % 1000);
            in_heap += !was_in;
        }
        assert_int_equal(h.n, in_heap);
        assert_true(!in_heap || due_heap_first(&h)->at_ns == earliest(nodes));
    }
    int64_t before = 0;
    for (struct due_node *first; (first = due_heap_first(&h)); before = first->at_ns) {
        assert_true(first->at_ns >= before);
        due_heap_remove(&h, first);
    }
    due_heap_done(&h);
}

static void the_earlier_time_counts(void **state)
{
    (void)state;
    struct due_heap h = { 0 };
    struct due_node a = { 0 }, b = { 0 };
    due_heap_put(&h, &a, 10);
    due_heap_put(&h, &b, 20);
    due_heap_put(&h, &b, 30);
    assert_int_equal(b.at_ns, 20);
    due_heap_put(&h, &b, 5);
    assert_ptr_equal(due_heap_first(&h), &b);
    due_heap_remove(&h, &b);
    due_heap_remove(&h, &b);
    assert_ptr_equal(due_heap_first(&h), &a);
    due_heap_done(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_always_the_earliest),
        cmocka_unit_test(the_earlier_time_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
