/* pod_security_check.h - what keeps a pod from being as secure as a level asks for.
 *
 * The checks are those of upstream's Pod Security Standards, version by version, in its order and
 * words. Rules only: a pod, or the template of one, as a tree. */
#pragma once

#include "admission/pod_security/pod_security_policy.h"

enum { POD_SECURITY_CHECKS_MAX = 32 };

struct pod_security_finding {
    struct str reason; /* "hostPort" */
    struct str detail; /* "container \"c\" uses hostPort 80"; may be empty */
};

struct pod_security_findings {
    size_t n; /* 0: it is secure enough */
    struct pod_security_finding at[POD_SECURITY_CHECKS_MAX];
};

/* `annotations` are those of the pod; texts lie in the arena. */
void pod_security_check(struct arena *a, const struct pod_security_mode *mode,
                        const struct value *annotations, const struct value *spec,
                        struct pod_security_findings *ret);
/* All of them: "REASON (DETAIL), REASON"; without details for many pods at once. */
struct str pod_security_findings_text(struct arena *a, const struct pod_security_findings *f,
                                      bool with_details);
