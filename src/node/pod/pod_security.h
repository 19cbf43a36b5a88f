/* pod_security.h - as whom and with what rights containers run. Reads no files but /sys. */
#pragma once

#include "node/pod/pod_config.h"

/* CRI's LinuxContainerSecurityContext. ERR_INVALID in upstream's words. */
int container_security(const struct pod_place *p, const struct container_case *c, struct arena *a,
                       struct value *ret, struct err *err);
/* CRI's LinuxSandboxSecurityContext. */
int sandbox_security(const struct pod_place *p, struct arena *a, struct value *ret,
                     struct err *err);
/* Refuses a container that must not run as root and would. */
int container_check_root(const struct pod_place *p, const struct container_case *c, struct arena *a,
                         struct err *err);
