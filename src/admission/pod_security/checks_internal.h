/* checks_internal.h - shared by the checks of pods: what they look at, and how they say what they
 * found. */
#pragma once

#include "admission/pod_security/pod_security_check.h"
#include "base/buf.h"

/* One pod. */
struct checked {
    struct arena *arena;
    const struct value *annotations, *spec;
    const struct value **containers; /* all: init containers, containers, ephemeral ones */
    size_t n_containers;
    struct pod_security_findings *findings;
};

typedef void checks__fn(const struct checked *p);

/* ---- Looking ---- */

/* A field of securityContext, of a container or the pod's spec; NULL: it is not set. */
const struct value *checks__security(const struct value *of, struct str field);
bool checks__is_windows(const struct checked *p);
/* Users inside are not users of the host. */
bool checks__has_user_namespace(const struct checked *p);

/* ---- Saying ---- */

/* Names of bad things, in the order in which they were found. All zero: none. */
struct checks__names {
    struct str *at;
    size_t n, room;
};

void checks__add(const struct checked *p, struct checks__names *names, struct str name);
/* As a set has them: sorted, each once. */
void checks__sort(struct checks__names *names);
/* "a", "b" with these quotes */
struct str checks__quoted(const struct checked *p, const struct checks__names *names);
struct str checks__joined(const struct checked *p, const struct checks__names *names,
                          const char *between);
static inline const char *checks__plural(const struct checks__names *names, const char *one,
                                         const char *many)
{
    return names->n == 1 ? one : many;
}
/* container "a", or containers "a", "b" */
struct str checks__containers(const struct checked *p, const struct checks__names *names);
/* The pod and its containers, as far as they set something bad: `pod and container "a"`. */
struct str checks__setters(const struct checked *p, bool is_pod,
                           const struct checks__names *containers);
/* Notes a finding. */
void checks__find(const struct checked *p, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- The checks; a number is the version from which on it looks so ---- */

checks__fn check_app_armor, check_selinux, check_selinux_31, check_seccomp_annotations,
    check_seccomp, check_seccomp_required, check_seccomp_required_25, check_sysctls,
    check_sysctls_27, check_sysctls_29, check_sysctls_32, check_sysctls_37; /* profiles */
checks__fn check_host_namespaces, check_host_paths, check_host_ports, check_host_probes,
    check_host_process, check_volumes; /* the host */
checks__fn check_privileged, check_capabilities, check_capabilities_required,
    check_capabilities_required_25, check_escalation, check_escalation_25, check_proc_mount,
    check_proc_mount_35, check_non_root, check_non_root_35, check_user,
    check_user_35; /* privileges */
