/* controllers_flags.h - flags that say how controllers work, for `sampan controllers` and `sampan
 * up`, named and read as kube-controller-manager's. */
#pragma once

#include <getopt.h>

#include "controllers/controllers.h"

/* What getopt_long() returns for them; that of other flags is smaller. */
enum controllers_flag {
    CONTROLLERS_ALLOCATE_CIDRS = 1000,
    CONTROLLERS_CLUSTER_CIDR,
    CONTROLLERS_NODE_BITS,
    CONTROLLERS_NODE_BITS_V4,
    CONTROLLERS_NODE_BITS_V6,
    CONTROLLERS_SIGNING_DURATION,
    CONTROLLERS_HOST_PATHS,
    CONTROLLERS_AUTOSCALER_SYNC,
    CONTROLLERS_LEGACY_TOKENS,
    CONTROLLERS_NODE_MONITOR,
    CONTROLLERS_NODE_GRACE,
    CONTROLLERS_VOLUME_SYNC,
    CONTROLLERS_FLAGS_END,
};

#define CONTROLLERS_OPTIONS                                                                    \
    { "allocate-node-cidrs", optional_argument, NULL, CONTROLLERS_ALLOCATE_CIDRS },            \
        { "cluster-cidr", required_argument, NULL, CONTROLLERS_CLUSTER_CIDR },                 \
        { "node-cidr-mask-size", required_argument, NULL, CONTROLLERS_NODE_BITS },             \
        { "node-cidr-mask-size-ipv4", required_argument, NULL, CONTROLLERS_NODE_BITS_V4 },     \
        { "node-cidr-mask-size-ipv6", required_argument, NULL, CONTROLLERS_NODE_BITS_V6 },     \
        { "cluster-signing-duration", required_argument, NULL, CONTROLLERS_SIGNING_DURATION }, \
        { "enable-hostpath-provisioner", optional_argument, NULL, CONTROLLERS_HOST_PATHS },    \
        { "horizontal-pod-autoscaler-sync-period", required_argument, NULL,                    \
          CONTROLLERS_AUTOSCALER_SYNC },                                                       \
        { "legacy-service-account-token-clean-up-period", required_argument, NULL,             \
          CONTROLLERS_LEGACY_TOKENS },                                                         \
        { "node-monitor-period", required_argument, NULL, CONTROLLERS_NODE_MONITOR },          \
        { "node-monitor-grace-period", required_argument, NULL, CONTROLLERS_NODE_GRACE },      \
    {                                                                                          \
        "pvclaimbinder-sync-period", required_argument, NULL, CONTROLLERS_VOLUME_SYNC          \
    }

extern const char controllers_flags_usage[];

/* False, after a message of `command`, if `given` is nothing for that flag. Text stays where it is.
 */
bool controllers_flags_take(const char *command, enum controllers_flag flag, const char *given,
                            struct controllers_options *ret);
