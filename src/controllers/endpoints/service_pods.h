/* service_pods.h - which Services a change of a pod is about, and which pods a Service has, from
 * caches. */
#pragma once

#include <sampan/controller.h>

/* Lives as long as the manager. */
struct service_pods {
    struct spn_cache *services, *pods;
};

/* The controller's own objects are Services. Changes of pods that matter reach it. */
void service_pods_watch(struct service_pods *sp, struct spn_manager *m, struct spn_controller *c);

/* Pods that a Service selects, in the order of their names. They are held until _done(). */
struct service_pod_list {
    struct spn_objects held;
    const struct spn_value **items; /* in the arena */
    size_t n;
};
void service_pods_of(struct service_pods *sp, const struct spn_value *service, struct spn_arena *a,
                     struct service_pod_list *ret);
void service_pod_list_done(struct service_pod_list *l);
