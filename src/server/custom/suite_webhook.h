/* suite_webhook.h - a custom kind of two versions, and the webhook that converts between them, in
 * this process.
 *
 * Widgets are cluster-scoped and stored as v1. The webhook speaks cleartext HTTP on loopback and
 * has a thread of its own. It notes in `spec.by` of each object that it was there, and refuses a
 * call with an object that is called "bad". */
#pragma once

#include <stdatomic.h>

#include "server/core/api.h"
#include "server/custom/custom.h"
#include "server/http/suite_server.h"

enum { SUITE_WEBHOOK_HELD = 4 }; /* slow calls at a time */

struct suite_webhook {
    struct arena arena;
    struct api *api; /* has its store and its hook_workers */
    struct custom *custom;
    const struct custom_version *v1, *v2;

    atomic_size_t n_calls, n_objects;
    /* The answer to every call: JSON with single quotes, $ for the uid of the request. NULL: it
     * works. */
    _Atomic(const char *) answer;
    atomic_int status;   /* of that answer; 0: 200 */
    atomic_bool is_slow; /* calls wait for suite_webhook_release() */

    bool owns_store;
    struct suite_server server;
    struct http_exchange *held[SUITE_WEBHOOK_HELD];
    size_t n_held;
    struct loop_msg release;
};

/* Defines widgets in `api`, which gets workers for the webhook. One that is empty gets a store and
 * custom kinds as well, which end with the webhook. */
void suite_webhook_start(struct suite_webhook *w, struct api *api);
void suite_webhook_stop(struct suite_webhook *w);

/* A widget as it was written in that version; returns the revision. */
uint64_t suite_webhook_put(struct suite_webhook *w, const char *name,
                           const struct custom_version *version);
/* Its key; with an empty name, the prefix of all. */
struct str suite_webhook_key(struct suite_webhook *w, const char *name);

/* The slow calls that wait are answered. Waits until there is one. */
void suite_webhook_release(struct suite_webhook *w);
void suite_webhook_await_calls(const struct suite_webhook *w, size_t n);

/* "VERSION" of stored bytes, and ", converted" if the webhook has done that. In the arena. */
const char *suite_webhook_shown(struct suite_webhook *w, const struct store_entry *e);
