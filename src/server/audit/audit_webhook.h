/* audit_webhook.h - sends events to somebody's HTTP server, as an EventList.
 *
 * What fails is tried again, later each time, and then given up: others wait behind it. */
#pragma once

#include <stdatomic.h>

#include "base/err.h"

struct audit_webhook;

/* `config` is a file as of kubeconfig.h. Once `*cancel` is true, sending ends soon. */
int audit_webhook_new(const char *config, int64_t backoff_ns, const atomic_bool *cancel,
                      struct audit_webhook **ret, struct err *err);
struct audit_webhook *audit_webhook_free(struct audit_webhook *w);

/* Waits. Events are JSON as audit_event.h makes them. On one thread. */
int audit_webhook_send(struct audit_webhook *w, const struct str *events, size_t n,
                       struct err *err);
