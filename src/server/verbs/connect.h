/* connect.h - the way of a request to a node or a pod: where that is, and how it gets there.
 *
 *     worker: checks, the objects, a name to addresses ──► loop: relay.h passes it on
 *
 * A Node's addresses are dialled as they stand there: who may write Nodes says where logs come
 * from. A proxy, which passes on what the client wants, goes to no loopback or link-local address,
 * so that a Node or a Pod is no way into the server's own machine; and nobody dials addresses that
 * are only simulated. */
#pragma once

#include "base/value.h"
#include "net/outgoing/relay.h"
#include "net/spdy/ws_spdy.h"
#include "server/core/kubelet.h"
#include "server/http/call.h"

struct connect_place {
    bool is_tls;
    enum kubelet_trust trust;
    struct str host, port;
    bool takes_websockets; /* a node that declares it; others are asked for SPDY */
};

/* The kubelet of a node, as its status says. */
int connect_find_node(struct call *c, struct str node, struct connect_place *ret, struct err *err);

/* The container of the pod that the client means, or the only one. */
int connect_find_container(struct call *c, const struct value *pod, struct str *ret,
                           struct err *err);

/* "host:port", for a URL. */
struct str connect_authority(struct arena *a, const struct connect_place *p);

/* A request that is about to be passed on; in the call's arena. */
struct connect_job {
    struct call *call;
    /* Method, target and what follows; the rest is filled in. TLS too, unless it is there: then the
     * reference is handed over. */
    struct relay_request req;
    struct relay_holder holder;
    /* A WebSocket of the client becomes SPDY on the way; NULL: bytes are passed on as they are. */
    const struct ws_spdy_options *translates;
    struct ws_spdy *translation;
};

/* Looks the host up, and passes the request on. `is_proxy`: it goes to no address that a proxy may
 * not go to. Answers the call in the end; on a worker, which may wait. */
void connect_pass(struct connect_job *job, const struct connect_place *p, bool is_proxy);

/* What the client sent, without what was for the server alone: credentials, and what is about its
 * connection; with a Host, and for whom it is passed on. */
void connect_headers(struct call *c, bool is_upgrade, struct relay_request *ret);
bool connect_is_upgrade(const struct call *c);

/* The answer to an upgrade is passed on, if it is one or a refusal. */
extern const struct relay_holder connect_upgrade_holder;

/* `key=value` of a query, encoded. */
void connect_add_param(struct buf *query, const char *key, struct str value);
/* A path, encoded. */
void connect_add_path(struct buf *path, struct str decoded);

/* Answers a proxy's request, after admission. On a worker. */
int connect_proxy(struct call *c, struct err *err);
