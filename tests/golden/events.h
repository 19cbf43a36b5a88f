/* events.h - the audit events of one request, as the server's log has them. */
#pragma once

#include "base/value.h"

/* Those with that id, in order, from a log of JSON lines. A server writes the last one when the
 * answer is sent or a moment later, so up to a few seconds are waited for `n_wanted` of them; for
 * none, a moment. Annotations under apiserver.latency.k8s.io/ are left out. In the arena. */
struct value events_of(struct arena *a, const char *log, struct str id, size_t n_wanted);
