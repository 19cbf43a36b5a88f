/* lease_record.h - what a Lease says about who leads, and how it is read and written. Private to
 * this folder. No I/O and no clock. */
#pragma once

#include <sampan/value.h>

#include "base/clock.h"

/* Texts are lent. */
struct lease_record {
    struct spn_text holder; /* empty: nobody */
    int64_t seconds;        /* so long it is good after a change */
    int64_t transitions;    /* so often the leader was another one than before */
    struct spn_text acquired, renewed;
};

/* Text lies in the tree. */
struct lease_record lease_record_read(const struct spn_value *lease);
/* Replaces the spec of a Lease. Text is copied. */
void lease_record_write(struct spn_arena *a, struct spn_value *lease, const struct lease_record *r);
/* A change of any of it is a sign of life. */
bool lease_record_eq(const struct lease_record *a, const struct lease_record *b);
struct lease_record lease_record_copy(struct spn_arena *a, const struct lease_record *r);
struct spn_text lease_time(struct spn_arena *a, int64_t wall_ns); /* with microseconds */
