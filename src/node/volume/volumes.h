/* volumes.h - the volumes of pods, on this machine's disk.
 *
 * Where they lie is upstream's: ROOT/pods/UID/volumes/kubernetes.io~KIND/NAME. What is there is
 * found again after a restart by looking. All calls may block; calls for one pod are made one after
 * the other. */
#pragma once

#include "node/pod/pod_config.h"

struct volumes;

/* Both arguments must outlive it. Makes the node's folder, and what is mounted in it propagate to
 * containers, as far as the system lets it. */
struct volumes *volumes_new(const struct node_facts *node, const struct pod_objects *objects);
struct volumes *volumes_free(struct volumes *v);

/* Makes the volumes of a pod, or brings those that follow objects (configMap, secret, downwardAPI,
 * projected) up to date, atomically. In `ret` in the order of spec.volumes. On failure the others
 * are made all the same, `err` has what the event FailedMount says of the first that failed
 * (`MountVolume.SetUp failed for volume "x" : ...`), and its causes have that of each. A volume
 * that no container uses is not made: its path is empty. Image volumes are the caller's to pull:
 * their `image` is the reference of the spec. */
int volumes_make(struct volumes *v, const struct value *pod, struct arena *a,
                 struct pod_volume **ret, size_t *ret_n, struct err *err);

/* Unmounts and removes all that the pod has on disk, its folder included. Safe against what the pod
 * left behind (links, mounts, open files). 0 also if there is nothing. */
int volumes_remove(struct volumes *v, struct str uid, struct arena *a, struct err *err);
/* uids of pods that have a folder: of these some may be gone for good. */
int volumes_list(struct volumes *v, struct arena *a, struct str **ret, size_t *ret_n,
                 struct err *err);

/* How much the pod's emptyDirs with a sizeLimit use; the first that is over: its name, else empty.
 */
struct str volumes_over_limit(struct volumes *v, const struct value *pod, struct arena *a,
                              uint64_t *ret_used);
/* Bytes and inodes of a volume, for statistics. */
struct volume_usage {
    uint64_t used, capacity, available, inodes_used, inodes, inodes_free;
};
int volumes_usage(const struct pod_volume *of, struct volume_usage *ret, struct err *err);
