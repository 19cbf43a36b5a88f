/* Annotations that were fields once, and must agree with them. */
#include "api/validate/suite_validate.h"

static const char noted_pod[] = "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}]}}";

/* ---- Tolerations ---- */

static const struct suite_change tolerations[] = {
    { "metadata/annotations/scheduler.alpha.kubernetes.io|tolerations",
      "'[{\\u0022key\\u0022:\\u0022a\\u0022,\\u0022operator\\u0022:\\u0022Exists\\u0022}]'", NULL },
    { "metadata/annotations/scheduler.alpha.kubernetes.io|tolerations",
      "'[{\\u0022key\\u0022:\\u0022a b\\u0022,\\u0022operator\\u0022:\\u0022Exists\\u0022}]'",
      "metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].key: Invalid value: 'a "
      "b': " QUALIFIED_NAME },
    { "metadata/annotations/scheduler.alpha.kubernetes.io|tolerations", "'{'",
      "metadata.annotations: Invalid value: 'scheduler.alpha.kubernetes.io/tolerations': "
      "unexpected end of JSON input" },
};

/* ---- Profiles ---- */

static const struct suite_change profiles[] = {
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'runtime/default'", NULL },
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'docker/default'", NULL },
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'unconfined'", NULL },
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'localhost/p'", NULL },
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'localhost/../p'",
      "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: '../p': must "
      "not contain '..'" },
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'odd'",
      "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: 'odd': must "
      "be a valid seccomp profile" },
    { "metadata/annotations/container.seccomp.security.alpha.kubernetes.io|c", "'localhost//p'",
      "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: Invalid value: '/p': "
      "must be a relative path" },
    { "metadata/annotations/container.seccomp.security.alpha.kubernetes.io|c", "'odd'",
      "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: Invalid value: "
      "'odd': must be a valid seccomp profile" },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'runtime/default'",
      NULL },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'localhost/p'",
      NULL },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'unconfined'",
      NULL },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'odd'",
      "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "
      "'odd': invalid AppArmor profile name: 'odd'" },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|zz", "'runtime/default'",
      "metadata.annotations[container.apparmor.security.beta.kubernetes.io/zz]: Invalid value: "
      "'zz': container not found" },
};

/* ---- Profiles with fields ---- */

static const char profiled_pod[] =
    "{" META
    ",'spec':{'securityContext':{'seccompProfile':{'type':'RuntimeDefault'}},'containers':[{'name':"
    "'c','image':'c:1','securityContext':{'seccompProfile':{'type':'Localhost','localhostProfile':'"
    "p'},'appArmorProfile':{'type':'Localhost','localhostProfile':'p'}}}]}}";

static const struct suite_change profiles_and_fields[] = {
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'docker/default'", NULL },
    { "metadata/annotations/seccomp.security.alpha.kubernetes.io|pod", "'unconfined'",
      "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field "
      "must match" },
    { "metadata/annotations/container.seccomp.security.alpha.kubernetes.io|c", "'localhost/p'",
      NULL },
    { "metadata/annotations/container.seccomp.security.alpha.kubernetes.io|c", "'localhost/q'",
      "spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: seccomp "
      "profile in annotation and field must match" },
    { "metadata/annotations/container.seccomp.security.alpha.kubernetes.io|c", "'runtime/default'",
      "spec.containers[0].securityContext.seccompProfile.type: Forbidden: seccomp type in "
      "annotation and field must match" },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'localhost/p'",
      NULL },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'localhost/q'",
      "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor "
      "profile in annotation and field must match" },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'unconfined'",
      "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in "
      "annotation and field must match" },
};

/* ---- Updates ---- */

static const char confined_pod[] =
    "{'metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion':'1','annotations':{'"
    "container.apparmor.security.beta.kubernetes.io/c':'runtime/"
    "default'}},'spec':{'containers':[{'name':'c','image':'c:1'},{'name':'d','image':'d:1'}]}}";

static const struct suite_change profile_updates[] = {
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|c", "'unconfined'",
      "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not "
      "remove or update AppArmor annotations" },
    { "metadata/annotations/container.apparmor.security.beta.kubernetes.io|d", "'runtime/default'",
      "metadata.annotations[container.apparmor.security.beta.kubernetes.io/d]: Forbidden: may not "
      "add AppArmor annotations" },
    { "metadata/annotations", NULL,
      "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not "
      "remove or update AppArmor annotations" },
    { "metadata/annotations/other", "'x'", NULL },
};

/* ---- Mirrors and costs ---- */

static const struct suite_change others[] = {
    { "metadata/annotations/kubernetes.io|config.mirror", "'x'",
      "metadata.annotations[kubernetes.io/config.mirror]: Invalid value: 'x': must set "
      "spec.nodeName if mirror pod annotation is set" },
    { "metadata/annotations/controller.kubernetes.io|pod-deletion-cost", "'-5'", NULL },
    { "metadata/annotations/controller.kubernetes.io|pod-deletion-cost", "'2147483648'",
      "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "
      "'2147483648': must be a 32bit integer" },
    { "metadata/annotations/controller.kubernetes.io|pod-deletion-cost", "'05'",
      "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: '05': must "
      "be a 32bit integer" },
    { "metadata/annotations/controller.kubernetes.io|pod-deletion-cost", "'much'",
      "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: 'much': "
      "must be a 32bit integer" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", noted_pod, tolerations),
        SUITE_CREATES("v1", "Pod", noted_pod, profiles),
        SUITE_CREATES("v1", "Pod", profiled_pod, profiles_and_fields),
        SUITE_UPDATES("v1", "Pod", confined_pod, profile_updates),
        SUITE_CREATES("v1", "Pod", noted_pod, others),
    };
    return SUITE_MAIN(tables);
}
