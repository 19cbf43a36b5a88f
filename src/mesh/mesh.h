/* mesh.h - the control plane of a service mesh: follows an API server, serves proxies.
 *
 *     informers ──► changes, for a moment ──► realm ──► xds: what has changed, to each proxy
 *
 * Informers only say which kinds have changed. The loop of the server waits for a moment of quiet,
 * builds a new realm from the caches, and pushes. Statuses are written on a thread of their own. */
#pragma once

#include "base/err.h"
#include <sampan/client.h>
#include <sampan/stop.h>

struct tls_context;

struct mesh_options {
    struct str listen, listen_tls;
    struct tls_context *tls; /* of listen_tls */
    struct str root_ns, domain;
    bool trusts_plain;
    int64_t quiet_ms, most_ms; /* how long to wait for more changes; 0: 10 and 100 */
};

/* Works until it is stopped. */
int mesh_run(const struct mesh_options *opt, struct spn_client *client, struct spn_stop *stop,
             struct err *err);
