/* slices.h - EndpointSlices of a Service: what is there, what should be, and the least that has to
 * be written for it.
 *
 * All endpoints of a slice have the same ports and are of one IP family; a slice has at most
 * SLICE_MAX of them. Slices that are as they should be are left alone. Rules only. */
#pragma once

#include "controllers/endpoints/zones.h"

enum { SLICE_MAX = 100 };

#define SLICE_SERVICE_LABEL "kubernetes.io/service-name"
#define SLICE_MANAGED_BY    "endpointslice.kubernetes.io/managed-by"
#define SLICE_HEADLESS      "service.kubernetes.io/headless"
#define SLICE_TRIGGER_TIME  "endpoints.kubernetes.io/last-change-trigger-time"
#define SLICE_CONTROLLER    "endpointslice-controller.k8s.io"
#define SLICE_MIRRORING     "endpointslicemirroring-controller.k8s.io"

struct slice_list {
    struct spn_value **items;
    size_t n;
};

/* What users are told of hints for zones. */
struct slice_event {
    bool is_warning;
    const char *reason, *message;
};

/* What has to be written, in this order. */
struct slice_plan {
    struct slice_list create, update, remove;
    struct slice_event events[2]; /* one of each family at most */
    size_t n_events;
};

/* A pod that a Service selects, and its node. */
struct slice_backend {
    const struct spn_value *pod;
    bool has_node;        /* the node is known */
    struct spn_text zone; /* of the node; empty: none */
};

struct slice_wish {
    const struct spn_value *service;
    const struct slice_backend *backends;
    size_t n_backends;
    const struct spn_value *const *slices; /* that are there, of ours */
    size_t n_slices;
    struct spn_text trigger_time;
    struct zones zones; /* only where zones_are_wanted() */
};

/* False: the node of a pod is not known yet, so the pod is left out for now. */
bool slices_plan(struct spn_arena *a, const struct slice_wish *wish, struct slice_plan *ret);

/* ---- For slices of other origin ---- */

void slice_list_add(struct spn_arena *a, struct slice_list *l, struct spn_value *slice);
/* A text that is equal for lists of ports that mean the same. */
struct spn_text slice_ports_key(struct spn_arena *a, const struct spn_value *ports);
/* Which endpoint: by addresses, host name and whom it refers to. */
struct spn_text slice_endpoint_key(struct spn_arena *a, const struct spn_value *endpoint);
/* Whether two endpoints of one key are equal in all else, hints apart. */
bool slice_endpoint_eq(const struct spn_value *x, const struct spn_value *y);
/* Slices of `remove` get the contents of those of `create`, as far as there are some that `owner`
 * owns. */
void slices_recycle(struct spn_arena *a, const struct spn_value *owner, const char *owner_kind,
                    struct slice_plan *plan);
/* With nothing but its type, owner and namespace. */
struct spn_value *slice_new(struct spn_arena *a, const struct spn_value *owner,
                            const char *owner_kind, bool is_v6);
/* A list, or null where it is empty, as other clients leave it. */
void slice_set_list(struct spn_arena *a, struct spn_value *slice, const char *key,
                    struct spn_value *list);
