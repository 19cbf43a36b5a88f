/* columns_access.c - who may do what, what pods may ask for, and certificates. */
#include "api/columns/columns_internal.h"
#include "base/clock.h"
#include "base/banned.h"

static void print_binding(struct row *row)
{
    struct arena *a = row->arena;
    struct texts users = { a }, groups = { a }, accounts = { a };
    value_each_item (subject, row_at(row, "subjects")) {
        struct str kind = value_str(value_get(subject, STR("kind")));
        struct str name = value_str(value_get(subject, STR("name")));
        struct str namespace = value_str(value_get(subject, STR("namespace")));
        if (str_eq(kind, STR("ServiceAccount")))
            texts_add(&accounts, columns_cat(a, namespace, STR("/"), name));
        else if (str_eq(kind, STR("User")))
            texts_add(&users, name);
        else if (str_eq(kind, STR("Group")))
            texts_add(&groups, name);
    }
    row_add_name(row);
    row_add(row, columns_cat(a, row_text(row, "roleRef", "kind"), STR("/"),
                             row_text(row, "roleRef", "name")));
    row_add_age(row);
    row_add(row, texts_join(&users, STR(", ")));
    row_add(row, texts_join(&groups, STR(", ")));
    row_add(row, texts_join(&accounts, STR(", ")));
}

static void print_pod_security(struct row *row)
{
    struct texts capabilities = { row->arena }, volumes = { row->arena };
    bool privileged = columns_bool(row_at(row, "spec", "privileged"));
    texts_add_all(&capabilities, row_at(row, "spec", "allowedCapabilities"));
    texts_add_all(&volumes, row_at(row, "spec", "volumes"));
    row_add_name(row);
    row_add(row, privileged ? STR("true") : STR("false"));
    row_add(row, texts_join(&capabilities, STR(",")));
    row_add(row, row_text(row, "spec", "seLinux", "rule"));
    row_add(row, row_text(row, "spec", "runAsUser", "rule"));
    row_add(row, row_text(row, "spec", "fsGroup", "rule"));
    row_add(row, row_text(row, "spec", "supplementalGroups", "rule"));
    row_add_bool(row, columns_bool(row_at(row, "spec", "readOnlyRootFilesystem")));
    row_add(row, texts_join(&volumes, STR(",")));
}

/* A denial outweighs an approval; failure and issue are said besides. */
static struct str signing_condition(struct row *row)
{
    const struct value *conditions = row_at(row, "status", "conditions");
    struct str text = columns_of_type(conditions, STR("Denied"))     ? STR("Denied")
                      : columns_of_type(conditions, STR("Approved")) ? STR("Approved")
                                                                     : STR("Pending");
    bool failed = columns_of_type(conditions, STR("Failed"));
    bool issued = row_text(row, "status", "certificate").n;
    return columns_cat(row->arena, text, failed ? STR(",Failed") : STR(""),
                       issued ? STR(",Issued") : STR(""));
}

static void print_signing_request(struct row *row)
{
    const struct value *seconds = row_at(row, "spec", "expirationSeconds");
    row_add_name(row);
    row_add_age(row);
    row_add(row, columns_or(row_text(row, "spec", "signerName"), STR("<none>")));
    row_add(row, row_text(row, "spec", "username"));
    row_add(row, columns_is_set(seconds)
                     ? columns_duration(row->arena, columns_int32(seconds) * NS_PER_SEC)
                     : STR("<none>"));
    row_add(row, signing_condition(row));
}

static void print_trust_bundle(struct row *row)
{
    row_add_name(row);
    row_add(row, columns_or(row_text(row, "spec", "signerName"), STR("<none>")));
}

static void print_pod_certificate(struct row *row)
{
    struct str state = STR("Pending");
    value_each_item (condition, row_at(row, "status", "conditions")) {
        struct str type = value_str(value_get(condition, STR("type")));
        if (str_eq(type, STR("Issued")) || str_eq(type, STR("Denied")) ||
            str_eq(type, STR("Failed")))
            state = type;
    }
    row_add_name(row);
    row_add(row, row_text(row, "spec", "podName"));
    row_add(row, row_text(row, "spec", "serviceAccountName"));
    row_add(row, row_text(row, "spec", "nodeName"));
    row_add(row, row_text(row, "spec", "signerName"));
    row_add(row, state);
    row_add(row, columns_labels(row->arena, row_at(row, "spec", "unverifiedUserAnnotations")));
}

#define RBAC         STR("rbac.authorization.k8s.io")
#define CERTIFICATES STR("certificates.k8s.io")

const struct columns_rule columns_access_rules[] = {
    { RBAC, STR("RoleBinding"), print_binding },
    { RBAC, STR("ClusterRoleBinding"), print_binding },
    { STR("policy"), STR("PodSecurityPolicy"), print_pod_security },
    { STR("extensions"), STR("PodSecurityPolicy"), print_pod_security },
    { CERTIFICATES, STR("CertificateSigningRequest"), print_signing_request },
    { CERTIFICATES, STR("ClusterTrustBundle"), print_trust_bundle },
    { CERTIFICATES, STR("PodCertificateRequest"), print_pod_certificate },
    { .print = NULL },
};
