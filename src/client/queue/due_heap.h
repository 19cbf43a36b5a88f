/* due_heap.h - things that are due at some time, the next one first. A node is part of the thing;
 * it may be taken out at any time. One owner, one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct due_node {
    int64_t at_ns;
    uint32_t place; /* 0: in no heap */
};

struct due_heap {
    struct due_node **nodes; /* from 1 on */
    uint32_t n, cap;
};

void due_heap_done(struct due_heap *h); /* an all-zero heap is empty and valid */
/* Puts the node in. If it is there already, the earlier time counts. */
void due_heap_put(struct due_heap *h, struct due_node *node, int64_t at_ns);
void due_heap_remove(struct due_heap *h, struct due_node *node); /* it may be in none */
struct due_node *due_heap_first(const struct due_heap *h);       /* NULL if there is none */
