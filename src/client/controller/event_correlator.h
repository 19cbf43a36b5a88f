/* event_correlator.h - which events are written, and as what. Private to this folder.
 *
 * The same event again becomes a higher count of the first one. Many that differ only in their
 * message become one. Of one object come only so many. The rules, their order and their numbers are
 * those of client-go's EventCorrelator. No I/O; time is an argument. One thread. */
#pragma once

#include "base/arena.h"

/* An event. Texts are lent. */
struct event_note {
    struct str name, ns; /* its own */
    struct str obj_api_version, obj_kind, obj_ns, obj_name, obj_uid, obj_version;
    struct str obj_field; /* which part of it; empty: the whole */
    struct str type, reason, message;
    struct str component, host;       /* the source */
    struct str reporter, reporter_at; /* the same, unless several were combined: then empty */
    unsigned count;
    int64_t first_ns, last_ns; /* wall */
};

struct event_correlator_options {
    unsigned spam_burst;
    double spam_per_second;
    unsigned similar_max;
    int64_t similar_within_ns;
};

struct event_correlator;

struct event_correlator *event_correlator_new(const struct event_correlator_options *opt);
struct event_correlator *event_correlator_free(struct event_correlator *c);

/* What becomes of an event that was just made, in the arena. With a count above 1 one of that name
 * has been made before. False: it is one too many. `now_ns` is wall time. */
bool event_correlator_take(struct event_correlator *c, struct arena *a, struct event_note *e,
                           int64_t now_ns);

/* "NAME.HEX", or only the number if the whole would be no name. In the arena. */
struct str event_name(struct arena *a, struct str obj_name, int64_t now_ns);
