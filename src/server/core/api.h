/* api.h - what every API request needs of the server it came to. One per server; immutable once
 * serving, so any thread may read it. */
#pragma once

#include <stdatomic.h>

#include "admission/admission.h"
#include "api/kind.h"
#include "base/clock.h"
#include "net/loop.h"
#include "net/workers.h"
#include "server/core/service_ip.h"
#include "store/store.h"

struct account_use;
struct apiservice_keeper;
struct apiservices;
struct audit;
struct authorization;
struct custom_kinds;
struct flow;
struct flow_keeper;
struct guard;
struct identity;
struct kubelet;
struct openid_users;
struct relay_set;
struct secrecy;
struct tally;
struct list_counts;
struct list_sizes;
struct turns;
struct uninitialized;
struct watch_hub;

enum { API_LOOPS_MAX = 4 };

struct api {
    struct store *store;
    struct workers *workers;      /* writes run here */
    struct workers *hook_workers; /* what may wait for a webhook */
    struct workers *read_workers; /* what only reads, but takes long */
    struct workers *backup_workers;
    struct workers *token_workers;  /* errands about tokens (guard/errand.h); NULL: none */
    struct workers *access_workers; /* and about what is allowed */
    const struct clock *clock;
    struct list_counts *list_counts;
    struct list_sizes *list_sizes; /* NULL: none are remembered */
    struct custom_kinds *custom;
    struct apiservices *apiservices;             /* NULL: nobody else serves anything */
    struct apiservice_keeper *apiservice_keeper; /* NULL: nobody keeps them true */
    struct guard *guard;
    struct authorization *authorization; /* makes the guard's chain */
    struct flow *flow;                   /* NULL: everybody is served at once */
    struct flow_keeper *flow_keeper;
    struct quota_keeper *quota_keeper;   /* NULL: nobody counts what quotas limit */
    struct identity *identity;           /* atomic: api_identity() */
    struct openid_users *openid_users;   /* NULL: no issuer is believed */
    struct kubelet *kubelet;             /* the way to nodes */
    struct secrecy *secrecy;             /* NULL: nothing is encrypted at rest */
    struct audit *audit;                 /* NULL: nothing is audited */
    struct uninitialized *uninitialized; /* NULL: there are no initializers */
    uint32_t event_ttl_s;                /* 0: the store does not end events by itself */
    atomic_bool has_quotas;              /* some namespace has, or had, one (quota_charge.h) */
    struct turns *turns;                 /* of writers of one object; NULL: they take none */
    struct service_ranges services;
    struct admission_choice admission;
    struct admission_memory *admission_memory; /* NULL: plugins remember nothing */
    struct admission_config *admission_config; /* NULL: plugins are told nothing */
    enum kind_choice versions;                 /* that are served */
    int64_t continue_ttl_ns; /* how old a list can be that goes on; 0: as what is kept */
    bool hides_managers;     /* answers have no managedFields unless they are asked for */
    bool aggregates_roles;   /* no controller does that: see aggregation.h */
    bool checks_policies;    /* the same of policy_status.h */
    const char *scratch_dir; /* for files that are made on the way, beside the store */
    struct loop *loops[API_LOOPS_MAX];
    struct watch_hub *hubs[API_LOOPS_MAX];   /* one a loop */
    struct relay_set *relays[API_LOOPS_MAX]; /* the same; NULL: nobody ends them */
    /* Tells watches that definitions of custom kinds have changed; any thread. NULL: there are
     * none. */
    void (*on_kinds_changed)(struct api *api);
    /* Objects of priority and fairness have changed; as the above. NULL: nobody keeps them. */
    void (*on_flow_changed)(struct api *api);
    /* A quota was written or deleted, or an object of the namespace has gone or may use less; as
     * the above. NULL: nobody counts. */
    void (*on_quota_changed)(struct api *api, struct str ns);
    void (*on_less_used)(struct api *api, struct str ns);
    /* An APIService was written or deleted; a Service, or endpoints, of a namespace; a definition
     * of a custom kind. As the above. NULL: nobody keeps APIServices true. */
    void (*on_apiservice_changed)(struct api *api, struct str name);
    void (*on_service_changed)(struct api *api, struct str ns);
    void (*on_definition_changed)(struct api *api);
    /* A token that stands in a Secret was used; any thread, waits for nobody. NULL: nobody notes
     * it. */
    void (*on_legacy_token)(struct api *api, const struct account_use *use);
    size_t n_loops;
    struct tally *tally; /* of requests, one shard a loop */
};

/* Which of the loops an exchange is on. */
static inline size_t api_loop_index(const struct api *api, const struct loop *loop)
{
    size_t i = 0;
    while (i + 1 < api->n_loops && api->loops[i] != loop)
        i++;
    return i;
}

/* Who is believed at the moment. It stays good until the server ends. */
static inline const struct identity *api_identity(const struct api *api)
{
    return __atomic_load_n(&api->identity, __ATOMIC_ACQUIRE);
}
