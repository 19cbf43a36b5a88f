/* columns_access.c - who may do what, what pods may ask for, and certificates. */
#include "api/columns/columns_internal.h"
#include "api/words.h"
#include "base/clock.h"
#include "base/banned.h"

static void print_binding(struct row *row)
{
    enum { USER, GROUP, ACCOUNT, KIND_COUNT }; /* in the order of the columns */
    static const struct str kinds[KIND_COUNT] = { STR("User"), STR("Group"),
                                                  STR("ServiceAccount") };
    struct arena *a = row->arena;
    struct texts texts[KIND_COUNT] = { { a }, { a }, { a } };
    value_each_item (subject, row_at(row, "subjects")) {
        struct str kind = value_text(subject, "kind");
        struct str name = value_text(subject, "name");
        struct str namespace = value_text(subject, "namespace");
        size_t i = words_find(kind, WORDS(kinds));
        if (i == ACCOUNT)
            columns_texts_add(&texts[i], columns_cat(a, namespace, STR("/"), name));
        else if (i < KIND_COUNT)
            columns_texts_add(&texts[i], name);
    }
    columns_row_add_name(row);
    columns_row_add(row, columns_cat(a, row_text(row, "roleRef", "kind"), STR("/"),
                                     row_text(row, "roleRef", "name")));
    columns_row_add_age(row);
    for (size_t i = 0; i < KIND_COUNT; i++)
        columns_row_add(row, columns_texts_join(&texts[i], STR(", ")));
}

static void print_pod_security(struct row *row)
{
    struct texts capabilities = { row->arena }, volumes = { row->arena };
    bool privileged = columns_bool(row_at(row, "spec", "privileged"));
    columns_texts_add_all(&capabilities, row_at(row, "spec", "allowedCapabilities"));
    columns_texts_add_all(&volumes, row_at(row, "spec", "volumes"));
    columns_row_add_name(row);
    columns_row_add(row, privileged ? STR("true") : STR("false"));
    columns_row_add(row, columns_texts_join(&capabilities, STR(",")));
    columns_row_add(row, row_text(row, "spec", "seLinux", "rule"));
    columns_row_add(row, row_text(row, "spec", "runAsUser", "rule"));
    columns_row_add(row, row_text(row, "spec", "fsGroup", "rule"));
    columns_row_add(row, row_text(row, "spec", "supplementalGroups", "rule"));
    columns_row_add_bool(row, columns_bool(row_at(row, "spec", "readOnlyRootFilesystem")));
    columns_row_add(row, columns_texts_join(&volumes, STR(",")));
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
    columns_row_add_name(row);
    columns_row_add_age(row);
    columns_row_add(row, columns_or(row_text(row, "spec", "signerName"), STR("<none>")));
    columns_row_add(row, row_text(row, "spec", "username"));
    columns_row_add(row, columns_is_set(seconds)
                             ? columns_duration(row->arena, columns_int32(seconds) * NS_PER_SEC)
                             : STR("<none>"));
    columns_row_add(row, signing_condition(row));
}

static void print_trust_bundle(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, columns_or(row_text(row, "spec", "signerName"), STR("<none>")));
}

static void print_pod_certificate(struct row *row)
{
    static const struct str ends[] = { STR("Issued"), STR("Denied"), STR("Failed") };
    struct str state = STR("Pending");
    value_each_item (condition, row_at(row, "status", "conditions")) {
        struct str type = value_text(condition, "type");
        if (words_have(type, WORDS(ends)))
            state = type;
    }
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "podName"));
    columns_row_add(row, row_text(row, "spec", "serviceAccountName"));
    columns_row_add(row, row_text(row, "spec", "nodeName"));
    columns_row_add(row, row_text(row, "spec", "signerName"));
    columns_row_add(row, state);
    columns_row_add(row,
                    columns_labels(row->arena, row_at(row, "spec", "unverifiedUserAnnotations")));
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
