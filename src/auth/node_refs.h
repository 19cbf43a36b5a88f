/* node_refs.h - what a pod and a volume refer to, and what its node has to see because of that.
 * Rules only; texts point into the object. */
#pragma once

#include "base/value.h"

/* What a node may be related to. */
enum node_thing {
    NODE_THING_NODE,
    NODE_THING_POD,
    NODE_THING_SECRET,
    NODE_THING_CONFIG_MAP,
    NODE_THING_ACCOUNT, /* of services */
    NODE_THING_CLAIM,
    NODE_THING_RESOURCE_CLAIM,
    NODE_THING_VOLUME,
    NODE_THING_ATTACHMENT,
    NODE_THING_SLICE,
    NODE_THING_CERTIFICATE_REQUEST,
};

/* A pod that stands for one that its node runs without the API. */
#define NODE_MIRROR_ANNOTATION STR("kubernetes.io/config.mirror")
bool node_refs_is_mirror(const struct value *pod);

typedef void node_refs_take(void *to, enum node_thing thing, struct str ns, struct str name);

/* Secrets, config maps, claims and the service account. Claims of their own (ephemeral volumes,
 * resource claims by template) have names that lie in the arena or in the pod's status. */
void node_refs_of_pod(struct arena *a, const struct value *pod, node_refs_take *take, void *to);
/* Secrets that a node needs to mount a volume. */
void node_refs_of_volume(const struct value *volume, node_refs_take *take, void *to);
