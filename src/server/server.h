/* server.h - a control plane's API server: store, loops, workers and routes, put together.
 *
 * Threads: one per loop, one to commit, one to checkpoint, workers when something blocks. The
 * caller's thread only starts and stops it. */
#pragma once

#include "admission/config.h"
#include "api/kind.h"
#include "base/err.h"
#include "net/tls.h"
#include "remote/remote.h"
#include "server/apiservice/apiservice.h"
#include "server/audit/audit.h"
#include "server/core/kubelet.h"
#include "server/core/service_ip.h"
#include "server/flow/flow.h"
#include "server/guard/authorization.h"
#include "server/guard/identity.h"
#include "server/guard/openid_users.h"
#include "server/secrecy/secrecy.h"
#include "store/store.h"

struct server;

struct server_options {
    struct store_options store;
    struct remote_options etcd;     /* with servers: instead of a store of its own */
    struct str listen;              /* "127.0.0.1:6443"; port 0 picks a free one */
    struct tls_context *tls;        /* its client CA says who is known */
    size_t n_loops;                 /* 0: one per CPU, at most API_LOOPS_MAX */
    struct str advertise;           /* the IP that others are told; empty: see advertise.h */
    struct service_ranges services; /* without a network: the defaults of service_ip.h */
    bool hides_managers;            /* see api.h */
    int64_t event_ttl_ns;           /* 0: EXPIRE_EVENT_NS */
    int64_t continue_ttl_ns;        /* 0: TOKEN_TTL_NS */
    enum kind_choice versions;      /* of the API that are served */
    struct authorization_options authorization;
    struct admission_choice admission;
    struct admission_options admission_options;
    bool leaves_roles;    /* cluster roles are not aggregated: a controller does that */
    bool leaves_quotas;   /* what quotas limit is not counted: likewise */
    bool leaves_policies; /* types in policies are not checked: likewise */
    struct identity_options identity;
    struct openid_users_options openid; /* file or flags; the rest is the identity's */
    struct secrecy_options secrecy;     /* what is encrypted at rest */
    struct audit_options audit;         /* all 0: nothing is audited */
    struct flow_options flow;
    struct kubelet_options kubelet;         /* as whom it comes to nodes */
    struct apiservices_options apiservices; /* as whom it comes to extension servers */
};

/* Serving when it returns 0. */
int server_start(const struct server_options *opt, struct server **ret, struct err *err);
/* New certificates for the connections to come. Any thread. */
void server_set_tls(struct server *s, struct tls_context *tls);
/* New keys, tokens and rules of who is believed, for the requests to come. The main thread. */
int server_set_identity(struct server *s, const struct identity_options *opt, struct err *err);
/* A new certificate for nodes, for the connections to come. Any thread. */
int server_set_kubelet(struct server *s, const struct kubelet_options *opt, struct err *err);
/* The same for extension servers. The main thread. */
int server_set_apiservices(struct server *s, const struct apiservices_options *opt,
                           struct err *err);
/* Looks soon whether files have changed that say what is encrypted at rest, whose tokens are
 * believed, and who decides what is allowed. Any thread. */
void server_look(struct server *s);
struct str server_address(const struct server *s);
/* Drains, closes the store, frees. Blocks, but not for ever: if something still runs LIMIT_STOP_MS
 * after the drain, the server is returned and is as it was; all that one can do then is to end the
 * process. What was acknowledged is durable all the same. */
struct server *server_stop(struct server *s);
