/* controllers.h - the built-in controllers: programs that bring the cluster to what objects say.
 *
 * Each controller has a folder of its own and a row in controllers.c, with upstream's name. All of
 * them stand on libsampan (include/sampan) and know nothing of the server, so they run in its
 * process or anywhere else, also against another API server. A folder has
 *
 *     plan.h, plan.c      what is there and what should be done: rules only, no I/O, table-tested
 *     NAME.c              reads caches, asks the plan, and does what it says
 *
 * What several of them need is in common/. They share informers: one cache per resource. */
#pragma once

#include <sampan/controller.h>

/* What controllers are told; texts outlive the manager. Zero means the usual. */
struct controllers_options {
    const char *names; /* "*,-job-controller": which run; NULL: "*" */
    /* Where certificates for clusters come from: PEM; empty: nobody signs. */
    struct spn_text ca_cert, ca_key;
    int64_t signing_ms;      /* the longest time of such a certificate; 0: a year */
    struct spn_text root_ca; /* what pods believe: PEM; empty: that of the client's configuration */
    /* Signs a token of a service account with these claims, in the arena; any thread. NULL: nobody
     * does, and Secrets for tokens stay empty. */
    int (*sign)(void *arg, struct spn_arena *a, const struct spn_value *claims,
                struct spn_text *ret, struct spn_err *err);
    void *sign_arg;
    /* How quickly things that are slow upstream happen; 0: upstream's time. */
    int64_t node_monitor_ms, node_grace_ms, volume_sync_ms, autoscaler_sync_ms;
    bool makes_host_paths;   /* volumes may be directories of this machine; for development */
    int64_t legacy_token_ms; /* tokens in Secrets that are unused for so long go; 0: a year */
    /* Blocks of addresses for the pods of each node: of these networks, one of each family,
     * "10.1.0.0/16,fd00::/56", so many bits for a node, and none of those of Services. */
    bool allocates_node_cidrs;
    const char *cluster_cidr, *service_cidr;
    unsigned node_bits, node_bits_v4, node_bits_v6; /* 0: 24 and 64 */
};

/* What a controller may use when it is added. Lives as long as the manager. */
struct controllers_env {
    struct spn_manager *manager;
    struct spn_client *client;
    const struct controllers_options *opt;
};

/* A controller. `add` calls spn_manager_add() and its like; what it allocates is given to `*ret`,
 * which `done` frees after the manager has stopped. */
struct controllers_row {
    const char *name; /* upstream's: "replicaset-controller" */
    int (*add)(const struct controllers_env *env, void **ret, struct spn_err *err);
    void (*done)(void *made);
};

/* SPN_INVALID: a name is none of a controller, of these or of those that are part of the server. */
int controllers_check_names(const char *names, struct spn_err *err);
/* Whether a list like that of the options has a controller in it. */
bool controllers_is_wanted(const char *names, const char *name);

struct controllers; /* those that were added to a manager */

/* Before spn_manager_run(). */
int controllers_add(const struct controllers_env *env, struct controllers **ret,
                    struct spn_err *err);
struct controllers *controllers_free(struct controllers *all); /* the manager has stopped */
