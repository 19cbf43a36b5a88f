/* pod_config.h - what a pod's sandbox and containers get: the CRI's configurations, from a Pod.
 *
 * Rules, but for what pod_objects.h is asked. Trees are CRI's PodSandboxConfig and ContainerConfig
 * (wire/cri.messages). */
#pragma once

#include "node/pod/node_facts.h"
#include "node/pod/pod_objects.h"

/* A volume of a pod where it lies on this machine; made by volume/volumes.h. */
struct pod_volume {
    struct str name;   /* in the pod's spec */
    struct str path;   /* on the machine; empty: it is an image, see `image` */
    struct str image;  /* an image volume: what the runtime calls it */
    bool is_read_only; /* whatever mounts say */
    bool is_block;     /* a device, for volumeDevices */
    bool selinux_relabel;
};

struct pod_place {
    const struct node_facts *node;
    const struct pod_objects *objects;
    /* As the agent runs it: with the annotations kubernetes.io/config.source ("api", "file") and
     * config.seen (when), which are the node's own. */
    const struct value *pod;
    const struct str *pod_ips;
    size_t n_pod_ips; /* 0: not known yet */
    const struct pod_volume *volumes;
    size_t n_volumes;
    struct str cgroup_parent; /* of the pod; empty: the runtime's choice */
    /* Told what becomes an event of type Warning of the pod. NULL: nobody asks. */
    void (*warn)(void *arg, const char *reason, struct str message);
    void *warn_arg;
};

/* A container that is about to be made. */
struct container_case {
    const struct value *spec;         /* of containers, initContainers or ephemeralContainers */
    uint32_t attempt;                 /* 0 at the first time */
    struct str image;                 /* what the runtime calls it */
    const struct value *image_status; /* CRI's Image: uid, username */
    struct str target_id;             /* an ephemeral container's target; empty: none */
};

/* ERR_* with the message that the container's waiting.message is to show; its reason is
 * CreateContainerConfigError. Makes files below the pod's folder where a container needs some
 * (hosts, termination log, sub-paths), so it may block. */
int pod_container_config(const struct pod_place *p, const struct container_case *c, struct arena *a,
                         struct value *ret, struct err *err);
int pod_sandbox_config(const struct pod_place *p, uint32_t attempt, struct arena *a,
                       struct value *ret, struct err *err);

/* Gives back what a container's sub-paths held, once it has ended. */
void pod_container_release(const struct pod_place *p, struct str container_name);

/* CRI's LinuxContainerResources of a container, for UpdateContainerResources. */
struct value pod_container_resources(struct arena *a, const struct node_facts *node,
                                     const struct value *pod, const struct value *container);

/* Changes when a container must be made anew because its spec has changed (its image). Hexadecimal.
 */
struct str pod_container_hash(struct arena *a, const struct value *spec);

/* Where logs of a pod are: LOG_DIR/NS_NAME_UID; and of a container below it: NAME/ATTEMPT.log. */
struct str pod_log_folder(struct arena *a, const struct node_facts *node, const struct value *pod);
struct str pod_folder(struct arena *a, const struct node_facts *node,
                      struct str uid); /* ROOT/pods/UID */

/* Whether this node can run it: false with upstream's reason ("OutOfcpu", "NodeAffinity",
 * "SysctlForbidden", "PodOSNotSupported", ...) and message for the pod's status. `others` are the
 * pods that run here already. */
bool pod_is_admitted(const struct node_facts *node, const struct value *node_object,
                     const struct value *pod, const struct value *const *others, size_t n_others,
                     struct arena *a, struct str *ret_reason, struct str *ret_message);
