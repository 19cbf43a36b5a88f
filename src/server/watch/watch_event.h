/* watch_event.h - what a watch sends, as bytes: a line of JSON, a protobuf frame or a CBOR item,
 * each with the type of the event and the object in the form that was asked for. No I/O. */
#pragma once

#include "server/http/selection.h"

enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

/* Bytes in front of an event in protobuf that tell its length. A WebSocket message has a length of
 * its own and goes without them. */
enum { WATCH_FRAME_BYTES = 4 };

/* A stored object. With `columns`, a Table says which ones it has: in the first event only. */
int watch_event_object(struct buf *out, const struct encoder *e, enum watch_type type,
                       struct selection_subject *subject, bool columns, struct err *err);
/* How far the watch has come, and whether that is the end of the initial events. */
int watch_event_bookmark(struct buf *out, struct arena *a, const struct encoder *e, uint64_t rev,
                         bool initial_end, bool columns, struct err *err);
/* Why the watch ends. */
void watch_event_error(struct buf *out, struct arena *a, const struct encoder *e,
                       const struct err *why);
