/* plane.h - what acts on the API, in the process of the server: controllers, the scheduler and
 * simulated nodes.
 *
 * They are clients like any other, on the loopback interface, with tokens that only this process
 * knows. They are one manager with upstream's two leases. If it ends before it is told to, because
 * it lost a lease, say, it begins anew. */
#pragma once

#include "base/err.h"
#include "controllers/controllers.h"

struct plane;

/* What programs show to the server: lines of a token file (auth/token_file.h). */
struct plane_tokens {
    struct str controllers, scheduler, nodes;
    struct str own_node;      /* of an agent in this process */
    struct str own_node_name; /* whose it is; empty: nobody's */
};
/* Texts lie in the arena. */
int plane_tokens_new(struct arena *a, struct plane_tokens *ret, struct err *err);
struct str plane_tokens_text(struct arena *a, const struct plane_tokens *t);

/* They and their texts outlive the plane. */
struct plane_options {
    const char *dir;
    struct str address;     /* of the server */
    struct str server_name; /* to ask for, if that is not its address */
    struct str ca_cert, ca_key, account_key;
    struct str root_ca; /* by which pods believe the server */
    struct plane_tokens tokens;
    const struct controllers_options *controllers; /* which, and how; without keys */
    bool no_scheduler;
    unsigned simulated_nodes; /* 0: none */
    bool has_metrics;         /* metrics.k8s.io is served by this process */
};

int plane_start(const struct plane_options *opt, struct plane **ret, struct err *err);
/* Waits until controllers and scheduler work, at most so long. False: they do not yet; another
 * process may lead. */
bool plane_wait(struct plane *p, int64_t ms);
/* Ends all of it, in good order. The server still serves. */
struct plane *plane_stop(struct plane *p);
