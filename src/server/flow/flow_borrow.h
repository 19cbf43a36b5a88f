/* flow_borrow.h - how many seats each priority level has for the next while, by what each wanted in
 * the last one.
 *
 * As upstream: a level always keeps what it may not lend, gets up to its own seats if it wants
 * them, and what is left goes to those that want more, each with the same part of its wish, no
 * further than its limit. Unlike upstream, what a level wants is looked at from time to time and
 * not summed up at each change. Rules only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one level wanted. */
struct flow_demand {
    double sum, squares; /* of the looks since the last time */
    uint32_t n, highest;
    double smoothed; /* falls slowly, rises at once */
};

void flow_demand_look(struct flow_demand *d, uint32_t seats);

struct flow_share {
    bool is_exempt;
    uint32_t nominal, least, most; /* its own, what it never lends, how far it may borrow */
    struct flow_demand demand;     /* looked at; begins anew */
    uint32_t seats;                /* the result */
};

/* Deals out all that the levels have together. */
void flow_borrow(struct flow_share *shares, size_t n);
