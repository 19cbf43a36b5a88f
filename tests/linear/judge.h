/* judge.h - whether clients and watches of a run saw the same world.
 *
 * - Each object's history is linearizable (order.h).
 * - Watches are ordered, without repeats, the same for everybody, and complete: each acknowledged
 * write is there, once, at the revision that its writer was told, and nothing that nobody asked
 * for.
 * - A bookmark is true: nothing at or below it comes later.
 * - A list is what the watch says of its revision; a read object has the value of its revision.
 *
 * What is wrong is printed. */
#pragma once

#include "record.h"

struct judge {
    const struct record_client *clients;
    size_t n_clients;
    const struct record_watch *watches;
    size_t n_watches;
};

bool judge_orders(const struct judge *j);
bool judge_watches(const struct judge *j);
bool judge_writes(const struct judge *j);
bool judge_lists(const struct judge *j);
/* Whether `later`, begun at a revision of the first watch, saw the rest of it. */
bool judge_resumed(const struct judge *j, const struct record_watch *later, uint64_t from);
