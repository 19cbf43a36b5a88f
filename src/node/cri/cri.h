/* cri.h - calls to a container runtime: CRI v1 by gRPC over its socket.
 *
 * Requests and answers are trees with the names of CRI's api.proto (wire/cri.messages,
 * wire/message.h). Any thread may call; calls share one connection, which is made again after a
 * loss. */
#pragma once

#include "base/err.h"
#include "base/value.h"

struct cri;

/* "unix:///run/containerd/containerd.sock", or the path alone. Texts are copied. ERR_INVALID: no
 * such address can be; ERR_UNAVAILABLE: the system has no thread left. It does not dial yet. */
int cri_new(struct str endpoint, struct cri **ret, struct err *err);
struct cri *cri_free(struct cri *c); /* nobody calls any more */

enum { CRI_USUAL_MS = 120000 };

/* `method` is "RunPodSandbox", "PullImage", ...: one of RuntimeService or ImageService. `request`
 * NULL: an empty one. Waits at most `timeout_ms` (0: CRI_USUAL_MS, -1: for ever). The answer lies
 * in the arena.
 *
 * The message of an error is as Go's clients have it, because events and statuses quote it:
 * "rpc error: code = NotFound desc = ...". Its code is
 * grpc_status_err()'s; ERR_UNAVAILABLE also if the runtime cannot be reached. */
int cri_call(struct cri *c, const char *method, const struct value *request, int64_t timeout_ms,
             struct arena *a, struct value *ret, struct err *err);

/* What stands behind "desc = " in such a message; the whole of it if that is not there. */
struct str cri_description(struct str message);
