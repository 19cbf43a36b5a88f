/* pod_security_policy.h - how secure the pods of a namespace have to be.
 *
 * A policy has a level and a version for each of three modes: what is enforced, what auditors are
 * told of, and what clients are warned of. The labels of a namespace say it; where they do not, the
 * configuration of the plugin does (PodSecurityConfiguration,
 * pod-security.admission.config.k8s.io). Rules only. */
#pragma once

#include "base/err.h"
#include "base/value.h"

struct field_errors;

enum pod_security_level {
    POD_SECURITY_PRIVILEGED,
    POD_SECURITY_BASELINE,
    POD_SECURITY_RESTRICTED,
    POD_SECURITY_LEVELS,
};

#define POD_SECURITY_LATEST INT64_MAX

struct pod_security_mode {
    enum pod_security_level level;
    int64_t minor; /* of the version 1.x; or POD_SECURITY_LATEST */
};

struct pod_security_policy {
    struct pod_security_mode enforce, audit, warn;
};

/* Who is not held to any policy. */
struct pod_security_exemptions {
    const struct str *at;
    size_t n;
};

struct pod_security_config {
    struct pod_security_policy defaults;
    struct pod_security_exemptions users, namespaces, runtime_classes;
};

/* What counts without a configuration: everything is allowed. */
extern const struct pod_security_config pod_security_config_default;

/* Of a tree that was read strictly; everything lies in the arena. ERR_INVALID. */
int pod_security_config_read(struct arena *a, const struct value *tree,
                             struct pod_security_config *ret, struct err *err);
bool pod_security_exempts(const struct pod_security_exemptions *of, struct str name);

/* What the labels come to. There always is a policy: what cannot be read is noted, enforced as the
 * strictest, and neither audited nor warned of. */
struct pod_security_policy pod_security_policy_of(const struct value *labels,
                                                  const struct pod_security_policy *defaults,
                                                  struct field_errors *faults);
bool pod_security_is_privileged(const struct pod_security_policy *p); /* in all modes */
bool pod_security_mode_eq(const struct pod_security_mode *a, const struct pod_security_mode *b);
/* Of a namespace that is exempt: "enforce=restricted:latest, warn=...", what its labels ask for in
 * vain; empty: nothing. */
struct str pod_security_ignored(struct arena *a, const struct value *labels,
                                const struct pod_security_policy *p,
                                const struct pod_security_policy *defaults);
/* "restricted:v1.30" */
struct str pod_security_mode_text(struct arena *a, const struct pod_security_mode *m);
