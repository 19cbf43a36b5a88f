/* xray.h - the way of one request through the server, for a client that asked to see it.
 *
 *     xray_stage(x, "defaults", STR("v1"), obj);
 *     ... the defaults are filled in ...
 *     xray_stage(x, "conversion", STR("apps/v1"), obj);
 *
 * A stage ends where the next one begins: whoever begins one shows the object as it is then, and
 * what has changed belongs to the stage before. The stage that is open when the request is refused
 * is the one that refused it. An x-ray lies in the request's arena and belongs to the thread that
 * has the request.
 *
 * Nearly every request has none, a NULL pointer: then nothing happens. */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "base/value.h"

struct xray;

struct xray *xray_new(struct arena *a, const struct clock *clock);

void xray__stage(struct xray *x, const char *part, struct str name, const struct value *obj);
void xray__aside(struct xray *x, const char *part, struct str name, int64_t took_ns,
                 const char *verdict);

/* The next stage: which part of the server, and what in it. `obj` is NULL if there is none, or none
 * that is to be looked at. */
static inline void xray_stage(struct xray *x, const char *part, struct str name,
                              const struct value *obj)
{
    if (x)
        xray__stage(x, part, name, obj);
}

/* What was done beside the stage that is open, at the same time as others: how long it took, and
 * what came of it in a word. */
static inline void xray_aside(struct xray *x, const char *part, struct str name, int64_t took_ns,
                              const char *verdict)
{
    if (x)
        xray__aside(x, part, name, took_ns, verdict);
}

/* Ends the last stage, which has refused the request if `code` is not of the 200s, and writes all
 * of it: {"kind":"Xray",...,"answer":ANSWER}. The answer is complete JSON. */
void xray_write(struct xray *x, int code, struct str answer, struct buf *out);

/* What makes `now` of `was`: a list of {"op","path","was","value"} with paths as in JSON patches.
 * Either may be NULL. */
struct value xray_changes(struct arena *a, const struct value *was, const struct value *now);
