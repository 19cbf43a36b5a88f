/* lanes.h - things in the order in which they came, in one lane for each priority. A link is part
 * of the thing. Priorities are few: a lane that begins moves the higher ones. One owner, one
 * thread. */
#pragma once

#include <stddef.h>

struct lane_link {
    struct lane_link *prev, *next;
};

struct lane {
    struct lane_link *first, *last; /* an all-zero lane is empty and valid */
};

void lane_push(struct lane *lane, struct lane_link *link);
void lane_remove(struct lane *lane, struct lane_link *link);

struct lanes_row;

struct lanes {
    struct lanes_row *rows; /* by rising priority; none is empty */
    size_t n, cap;
};

void lanes_done(struct lanes *l); /* an all-zero one is empty and valid */
void lanes_push(struct lanes *l, int priority, struct lane_link *link);
/* `priority` is the one that it was pushed with. */
void lanes_remove(struct lanes *l, int priority, struct lane_link *link);
/* The first of the highest priority; NULL if there is none. */
struct lane_link *lanes_first(const struct lanes *l);
