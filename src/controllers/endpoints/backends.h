/* backends.h - the pods behind a Service, as Endpoints and EndpointSlices both see them.
 *
 * Rules only: no I/O, no clock. Trees are lent. */
#pragma once

#include <sampan/value.h>

/* It has an address and has not ended. */
bool backend_counts(const struct spn_value *pod, bool with_terminating);
bool backend_has_hostname(const struct spn_value *pod, const struct spn_value *service);

/* Its first address of the family; empty: it has none. */
struct spn_text backend_address(struct spn_arena *a, const struct spn_value *pod, bool is_v6);
/* All of them, as strings. */
struct spn_value *backend_addresses(struct spn_arena *a, const struct spn_value *pod, bool is_v6);
/* False: the pod has no port of that name. */
bool backend_port(const struct spn_value *pod, const struct spn_value *service_port, int64_t *ret);

/* {kind, namespace, name, uid} */
struct spn_value *backend_ref(struct spn_arena *a, const struct spn_value *pod);

/* Whether something that matters here differs between two states of a pod. */
bool backend_differs(const struct spn_value *old_pod, const struct spn_value *new_pod);

/* The Service chooses its pods. One without a selector has its addresses from elsewhere. */
bool service_has_selector(const struct spn_value *service);
bool service_selects(const struct spn_value *service, const struct spn_value *pod_labels);
bool service_is_external(const struct spn_value *service);
bool service_has_ip(const struct spn_value *service);    /* it is not headless */
bool service_says_none(const struct spn_value *service); /* clusterIP: None */
bool service_publishes_unready(const struct spn_value *service);

/* When what led to the present state happened: the newest of these. In the arena. */
struct spn_text backend_trigger(struct spn_arena *a, const struct spn_value *service,
                                const struct spn_value *const *pods, size_t n_pods);
