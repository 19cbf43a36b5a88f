/* sampan/events.h - tells users what a program did to their objects: `kubectl describe` shows it.
 *
 *     spn_event(w->events, obj, SPN_NORMAL, "Created", "created pod %s", name);
 *
 * Events are as client-go's recorder writes them (core/v1). The same one again raises the count of
 * the first; ten that differ only in their message within ten minutes become one, "(combined from
 * similar events)"; of one object a program writes 25 at once and then one in five minutes. What
 * comes faster than it can be written is dropped beyond a thousand that wait. */
#pragma once

#include <sampan/client.h>
#include <sampan/object.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_recorder;

/* Zero means the usual. */
struct spn_recorder_options {
    const char *component;     /* who says it: "hello-controller" */
    const char *host;          /* where it runs; NULL: not said */
    unsigned max_queued;       /* 1000 */
    unsigned tries;            /* 12, of an event that cannot be written */
    int64_t pause_ms;          /* 10 s between them */
    unsigned spam_burst;       /* 25, of one object */
    double spam_per_second;    /* one in 300 s */
    unsigned similar_max;      /* 10 */
    int64_t similar_within_ms; /* 10 min */
};

/* Starts a thread. The client must outlive it. SPN_UNAVAILABLE: the system has no thread left. */
SPN_API int spn_recorder_new(struct spn_client *c, const struct spn_recorder_options *opt,
                             struct spn_recorder **ret, struct spn_err *err);
/* The same recorder, speaking as another component; it ends with the first one. Its text is copied.
 * Only spn_event() and spn_event_of() take it. */
SPN_API struct spn_recorder *spn_recorder_as(struct spn_recorder *r, const char *component);
/* Drops what waits. Whoever minds calls spn_recorder_flush() before. */
SPN_API struct spn_recorder *spn_recorder_free(struct spn_recorder *r);
/* Waits until all of it is written or given up, at most so long. False: the time is over. */
SPN_API bool spn_recorder_flush(struct spn_recorder *r, int64_t ms);

enum spn_severity { SPN_NORMAL, SPN_WARNING };

/* `obj` has apiVersion, kind and metadata, or is an ObjectReference, which may name a part of an
 * object (fieldPath); without a namespace the event is in "default". Reason is one word for
 * programs: "Created". A message ends after 1024 bytes. Any thread; never waits. A recorder that is
 * NULL is nobody. */
SPN_API void spn_event(struct spn_recorder *r, const struct spn_value *obj,
                       enum spn_severity severity, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
SPN_API void spn_event_of(struct spn_recorder *r, const struct spn_object *o,
                          enum spn_severity severity, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

struct spn_recorder_stats {
    uint64_t written, filtered, dropped, failed; /* so far */
    size_t queued;                               /* now */
};
SPN_API void spn_recorder_stats(struct spn_recorder *r, struct spn_recorder_stats *ret);

#ifdef __cplusplus
}
#endif
