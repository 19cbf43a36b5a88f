#include "client/queue/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/banned.h"

struct lanes_row {
    int priority;
    struct lane lane;
};

void lane_push(struct lane *lane, struct lane_link *link)
{
    *link = (struct lane_link){ .prev = lane->last };
    if (lane->last)
        lane->last->next = link;
    else
        lane->first = link;
    lane->last = link;
}

void lane_remove(struct lane *lane, struct lane_link *link)
{
    if (link->prev)
        link->prev->next = link->next;
    else
        lane->first = link->next;
    if (link->next)
        link->next->prev = link->prev;
    else
        lane->last = link->prev;
}

void lanes_done(struct lanes *l)
{
    free(l->rows);
    *l = (struct lanes){ 0 };
}

/* The row of that priority, or the place where it belongs. */
static size_t row_place(const struct lanes *l, int priority)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->rows[middle].priority < priority)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_row(struct lanes *l, size_t at, int priority)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 4;
        l->rows = mem_resize(l->rows, l->cap, sizeof(*l->rows));
    }
    memmove(l->rows + at + 1, l->rows + at, (l->n - at) * sizeof(*l->rows));
    l->rows[at] = (struct lanes_row){ .priority = priority };
    l->n++;
}

static void remove_row(struct lanes *l, size_t at)
{
    l->n--;
    memmove(l->rows + at, l->rows + at + 1, (l->n - at) * sizeof(*l->rows));
}

void lanes_push(struct lanes *l, int priority, struct lane_link *link)
{
    size_t at = row_place(l, priority);
    if (at == l->n || l->rows[at].priority != priority)
        insert_row(l, at, priority);
    lane_push(&l->rows[at].lane, link);
}

void lanes_remove(struct lanes *l, int priority, struct lane_link *link)
{
    size_t at = row_place(l, priority);
    lane_remove(&l->rows[at].lane, link);
    if (!l->rows[at].lane.first)
        remove_row(l, at);
}

struct lane_link *lanes_first(const struct lanes *l)
{
    return l->n ? l->rows[l->n - 1].lane.first : NULL;
}
