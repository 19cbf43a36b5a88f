/* defaults_rules.h - defaults that depend on other fields. A type of kinds/ names its rule,
 * `type Volume rule(volume)`, and the rule is called with every object of that type.
 *
 * It is called after the plain values of the type were filled in and before anything below is
 * looked at, so it sees what kinds/ says of its own fields and not yet what it says of theirs. The
 * object is a struct that typed_read() left, but parts of it may be missing or null all the same.
 * Private to this folder. */
#pragma once

#include "base/value.h"

/* defaults_pod.c */
void defaults__container(struct arena *a, struct value *container);
void defaults__volume(struct arena *a, struct value *volume);
void defaults__image_volume(struct arena *a, struct value *source);
void defaults__pod(struct arena *a, struct value *pod);
void defaults__pod_spec(struct arena *a, struct value *spec);
void defaults__pod_status(struct arena *a, struct value *status);

/* defaults_core.c */
void defaults__service(struct arena *a, struct value *service);
void defaults__service_spec(struct arena *a, struct value *spec);
void defaults__service_port(struct arena *a, struct value *port);
void defaults__secret(struct arena *a, struct value *secret);
void defaults__persistent_volume(struct arena *a, struct value *volume);
void defaults__namespace(struct arena *a, struct value *ns);
void defaults__node_spec(struct arena *a, struct value *spec);
void defaults__node_status(struct arena *a, struct value *status);
void defaults__limit_range_item(struct arena *a, struct value *item);

/* defaults_workload.c */
void defaults__replication_controller(struct arena *a, struct value *rc);
void defaults__template_labels(struct arena *a, struct value *workload);
void defaults__deployment_strategy(struct arena *a, struct value *strategy);
void defaults__deployment_strategy_by_one(struct arena *a, struct value *strategy);
void defaults__daemon_set_strategy(struct arena *a, struct value *strategy);
void defaults__stateful_set_spec(struct arena *a, struct value *spec);
void defaults__stateful_set_strategy(struct arena *a, struct value *strategy);
void defaults__job(struct arena *a, struct value *job);
void defaults__autoscaler_v1(struct arena *a, struct value *autoscaler);
void defaults__autoscaler_behavior(struct arena *a, struct value *behavior);

/* defaults_cluster.c */
void defaults__network_policy_spec(struct arena *a, struct value *spec);
void defaults__subject(struct arena *a, struct value *subject);
void defaults__subject_v1alpha1(struct arena *a, struct value *subject);
void defaults__device_request(struct arena *a, struct value *request);
void defaults__device_request_v1beta1(struct arena *a, struct value *request);
void defaults__priority_level_v1beta3(struct arena *a, struct value *level);
void defaults__definition(struct arena *a, struct value *crd);
void defaults__definition_v1beta1(struct arena *a, struct value *crd);
void defaults__conversion_v1beta1(struct arena *a, struct value *conversion);

/* defaults_signer.c */
void defaults__signing_request(struct arena *a, struct value *spec);

/* ---- What the rules share ---- */

/* Whether a container's image is tagged `latest`, or has neither tag nor digest
 * (defaults_image.c). */
bool defaults__is_latest_image(struct str reference);

/* The others are in defaults.c. */

/* Absent, null, or what Go's zero value is written as: "", 0, false, no items, no keys. */
bool defaults__is_zero(const struct value *v);
bool defaults__is_text(const struct value *obj, struct str key, struct str text);

/* Sets a field that is absent or null. */
void defaults__fill(struct arena *a, struct value *obj, struct str key, struct value v);
/* Sets a field that is zero, too: for what is no pointer in Go. */
void defaults__fill_zero(struct arena *a, struct value *obj, struct str key, struct value v);

/* Fills a map with the entries of `more` that it lacks; `more` may be absent. Both have their keys
 * in order, as typed_read() leaves maps, and so has the result: the work is linear. */
void defaults__fill_map(struct arena *a, struct value *obj, struct str key,
                        const struct value *more);
