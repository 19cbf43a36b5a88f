/* plan.h - volumes of drivers (CSI) on nodes: which should be attached to a node, which are, and
 * what the node is told of it. Rules only: no I/O.
 *
 * A VolumeAttachment asks the driver to attach a volume to a node. When it says that it has, the
 * node is told (status.volumesAttached), and the kubelet mounts it. As long as the kubelet has it
 * mounted the node says so (status.volumesInUse), and it must stay. */
#pragma once

#include <sampan/value.h>

/* Whether the controllers see to the node's volumes. */
bool attach_is_managed(const struct spn_value *node);
/* Whether a volume has to be attached; `driver` is NULL: nobody knows the driver. */
bool attach_is_needed(const struct spn_value *volume, const struct spn_value *driver);
/* Whether it may be attached to several nodes. */
bool attach_may_be_shared(const struct spn_value *volume);

/* The name of the VolumeAttachment, and how nodes call the volume. In the arena. */
struct spn_text attach_name(struct spn_arena *a, const struct spn_value *volume,
                            struct spn_text node);
struct spn_text attach_volume_name(struct spn_arena *a, const struct spn_value *volume);
struct spn_value *attach_make(struct spn_arena *a, const struct spn_value *volume,
                              struct spn_text node);

bool attach_is_done(const struct spn_value *attachment); /* and it is not on its way out */
/* The kubelet may still have it mounted. Nobody waits for a node that is gone, out of service, or
 * has not been ready for six minutes. */
bool attach_is_in_use(const struct spn_value *node, struct spn_text volume_name, int64_t now_ns);

/* status.volumesAttached with these volumes of drivers, and others left as they are; NULL: it says
 * that already. */
struct spn_value *attach_report(struct spn_arena *a, const struct spn_value *node,
                                const struct spn_text *volumes, size_t n);
/* Whether status.volumesAttached has it. */
bool attach_is_reported(const struct spn_value *node, struct spn_text volume_name);
