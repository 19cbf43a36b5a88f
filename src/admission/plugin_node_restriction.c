/* NodeRestriction: nodes change only what is theirs. The Node authorizer has decided by resource
 * and name; here is what has to be decided by what is written. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "admission/node_restriction_internal.h"
#include "api/inner.h"
#include "api/pem.h"
#include "api/errors.h"
#include "api/words.h"
#include "auth/node_rules.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "net/crypto/x509.h"
#include "base/banned.h"

/* ---- What the parts share ---- */

int restricted__forbid(const struct restricted *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(r->req->arena, fmt, ap);
    va_end(ap);
    return admission_forbid(r->req, r->obj, why, r->err);
}

const char *restricted__quoted(const struct restricted *r, struct str text)
{
    return admission_quoted(r->req, text);
}

const char *restricted__operation(const struct restricted *r)
{
    return r->req->operation == ADMISSION_CREATE   ? "CREATE"
           : r->req->operation == ADMISSION_UPDATE ? "UPDATE"
                                                   : "DELETE";
}

int restricted__read(const struct restricted *r, const struct restricted_lookup *what,
                     struct value *ret, struct err *err)
{
    const struct kind_resource named = { .group = what->group, .plural = what->kind };
    int n = what->name.n
                ? admission_read(r->req, what->group, what->plural, what->ns, what->name, ret, err)
                : 0;
    return n == 0 ? error_not_found(err, &named, what->name) : n < 0 ? n : 0;
}

static bool is_empty(const struct value *v)
{
    return !v || v->type == VALUE_NULL ||
           ((v->type == VALUE_ARRAY || v->type == VALUE_OBJECT) && !v->n);
}

bool restricted__same(const struct value *a, const struct value *b)
{
    return is_empty(a) || is_empty(b) ? is_empty(a) && is_empty(b) : value_eq(a, b);
}

static struct str name_of(const struct restricted *r)
{
    return r->req->name.n ? r->req->name : value_str(value_dig(r->obj, "metadata", "name"));
}

/* ---- Nodes ---- */

/* What stands before the slash of a label. */
static struct str label_domain(struct str label)
{
    ptrdiff_t at = str_find(label, '/');
    return at < 0 ? STR("") : str_take(label, (size_t)at);
}

static bool is_within(struct str domain, struct str of)
{
    return str_eq(domain, of) ||
           (domain.n > of.n && str_ends(domain, of) && domain.p[domain.n - of.n - 1] == '.');
}

/* Labels by which workloads are steered are not the node's to set, but for some. */
static bool is_forbidden_label(struct str label)
{
    static const struct str own[] = {
        STR("kubernetes.io/hostname"),
        STR("topology.kubernetes.io/zone"),
        STR("topology.kubernetes.io/region"),
        STR("failure-domain.beta.kubernetes.io/zone"),
        STR("failure-domain.beta.kubernetes.io/region"),
        STR("beta.kubernetes.io/instance-type"),
        STR("node.kubernetes.io/instance-type"),
        STR("kubernetes.io/os"),
        STR("kubernetes.io/arch"),
        STR("beta.kubernetes.io/os"),
        STR("beta.kubernetes.io/arch"),
    };
    struct str domain = label_domain(label);
    if (is_within(domain, STR("node-restriction.kubernetes.io")))
        return true;
    if (!is_within(domain, STR("kubernetes.io")) && !is_within(domain, STR("k8s.io")))
        return false;
    return !words_have(label, WORDS(own)) && !is_within(domain, STR("kubelet.kubernetes.io")) &&
           !is_within(domain, STR("node.kubernetes.io"));
}

static void add_changed(struct arena *a, const struct value *labels, const struct value *others,
                        bool only_absent, struct value *list)
{
    value_each_field (f, labels) {
        const struct value *other = value_get(others, f->key);
        bool is_changed = only_absent ? !other : !other || !value_eq(&f->val, other);
        if (is_changed && is_forbidden_label(f->key))
            value_put_item(a, list, value_string(f->key));
    }
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(value_str(a), value_str(b));
}

/* The forbidden labels that differ, in order; empty: none. */
static struct str changed_labels(const struct restricted *r)
{
    const struct value *labels = value_dig(r->obj, "metadata", "labels"),
                       *old_labels = value_dig(r->req->old_obj, "metadata", "labels");
    struct value list = value_array();
    autobuf out = { 0 };
    add_changed(r->req->arena, labels, old_labels, false, &list);
    add_changed(r->req->arena, old_labels, labels, true, &list);
    if (list.n)
        qsort(list.items, list.n, sizeof(*list.items), compare_texts);
    value_each_item (it, &list)
        buf_printf(&out, "%s" STR_FMT, out.n ? ", " : "", STR_ARG(value_str(it)));
    return arena_str(r->req->arena, buf_str(&out));
}

static int check_node_update(const struct restricted *r)
{
    const struct value *old_obj = r->req->old_obj,
                       *source = value_dig(r->obj, "spec", "configSource");
    const char *node = restricted__quoted(r, r->node);
    if (!is_empty(source) && !restricted__same(source, value_dig(old_obj, "spec", "configSource")))
        return restricted__forbid(
            r, "node %s is not allowed to update configSource to a new non-nil configSource", node);
    if (!restricted__same(value_dig(r->obj, "spec", "taints"),
                          value_dig(old_obj, "spec", "taints")))
        return restricted__forbid(r, "node %s is not allowed to modify taints", node);
    if (!restricted__same(value_dig(r->obj, "metadata", "ownerReferences"),
                          value_dig(old_obj, "metadata", "ownerReferences")))
        return restricted__forbid(r, "node %s is not allowed to modify ownerReferences", node);
    struct str labels = changed_labels(r);
    if (labels.n)
        return restricted__forbid(r, "is not allowed to modify labels: " STR_FMT, STR_ARG(labels));
    return 0;
}

static int check_node(const struct restricted *r)
{
    const char *node = restricted__quoted(r, r->node);
    if (!str_eq(name_of(r), r->node))
        return restricted__forbid(r, "node %s is not allowed to modify node %s", node,
                                  restricted__quoted(r, name_of(r)));
    if (r->req->operation == ADMISSION_UPDATE)
        return check_node_update(r);
    if (r->req->operation != ADMISSION_CREATE)
        return 0;
    if (value_dig(r->obj, "spec", "configSource"))
        return restricted__forbid(
            r, "node %s is not allowed to create pods with a non-nil configSource", node);
    struct str labels = changed_labels(r);
    if (labels.n)
        return restricted__forbid(r, "node %s is not allowed to set the following labels: " STR_FMT,
                                  node, STR_ARG(labels));
    return 0;
}

/* ---- What bears the node's name ---- */

static int check_lease(const struct restricted *r)
{
    if (!str_eq(r->req->ns, STR("kube-node-lease")))
        return restricted__forbid(
            r, "can only access leases in the \"kube-node-lease\" system namespace");
    if (!str_eq(name_of(r), r->node))
        return restricted__forbid(
            r, "can only access node lease with the same name as the requesting node");
    return 0;
}

static int check_storage_node(const struct restricted *r)
{
    if (!str_eq(name_of(r), r->node))
        return restricted__forbid(
            r, "can only access CSINode with the same name as the requesting node");
    if (str_eq(r->req->sub, STR("status")))
        return restricted__forbid(r, "CSIVolumeHealth feature gate is disabled");
    return 0;
}

static int check_slice(const struct restricted *r)
{
    bool is_new = r->req->operation == ADMISSION_CREATE;
    const struct value *slice = is_new ? r->obj : r->req->old_obj;
    if (r->req->operation == ADMISSION_UPDATE ||
        str_eq(value_str(value_dig(slice, "spec", "nodeName")), r->node))
        return 0;
    return restricted__forbid(
        r, "can only %s ResourceSlice with the same NodeName as the requesting node",
        is_new ? "create" : "delete");
}

/* A certificate for a node is for the one that asks. */
static int check_signing_request(const struct restricted *r)
{
    static const struct str signers[] = { STR("kubernetes.io/kubelet-serving"),
                                          STR("kubernetes.io/kube-apiserver-client-kubelet") };
    autobuf text = { 0 };
    autopem block = { 0 };
    struct x509_request request;
    if (!words_have(value_str(value_dig(r->obj, "spec", "signerName")), WORDS(signers)))
        return 0;
    (void)base64_decode(&text, value_str(value_dig(r->obj, "spec", "request")));
    struct str pem = buf_str(&text);
    if (!pem_next(&pem, &block) || !str_eq(block.type, STR("CERTIFICATE REQUEST")))
        return restricted__forbid(r, "unable to parse csr: PEM block type must be CERTIFICATE "
                                     "REQUEST");
    if (!x509_read_request(r->req->arena, buf_str(&block.bytes), &request))
        return restricted__forbid(r, "unable to parse csr: asn1: structure error");
    struct str name = arena_printf(r->req->arena, "system:node:" STR_FMT, STR_ARG(r->node));
    if (!str_eq(request.name, name))
        return restricted__forbid(r, "can only create a node CSR with CN=" STR_FMT, STR_ARG(name));
    return 0;
}

/* ---- The status of claims ---- */

static void drop_free_fields(struct arena *a, struct value *claim)
{
    static const struct str meta_fields[] = { STR("resourceVersion"), STR("managedFields") },
                            status_fields[] = { STR("capacity"), STR("conditions"),
                                                STR("allocatedResourceStatuses"),
                                                STR("allocatedResources") };
    struct value *meta = value_ensure(a, claim, STR("metadata")),
                 *status = value_ensure(a, claim, STR("status"));
    for (size_t i = 0; i < ARRAY_LEN(meta_fields); i++)
        value_drop(a, meta, meta_fields[i]);
    for (size_t i = 0; i < ARRAY_LEN(status_fields); i++)
        value_drop(a, status, status_fields[i]);
}

static int check_claim(const struct restricted *r)
{
    if (!str_eq(r->req->sub, STR("status")))
        return restricted__forbid(r, "may only update PVC status");
    if (r->req->operation != ADMISSION_UPDATE)
        return restricted__forbid(r, "unexpected operation \"%s\"", restricted__operation(r));
    struct value now = value_borrow(r->obj), was = value_borrow(r->req->old_obj);
    drop_free_fields(r->req->arena, &now);
    drop_free_fields(r->req->arena, &was);
    if (value_eq(&now, &was))
        return 0;
    struct field_errors e = FIELD_ERRORS_INIT(r->req->arena);
    struct str diff = inner_diff(&e, STR("v1"), STR("PersistentVolumeClaim"), &was, &now);
    return restricted__forbid(r,
                              "node %s is not allowed to update fields other than status.quantity "
                              "and status.conditions: " STR_FMT,
                              restricted__quoted(r, r->node), STR_ARG(diff));
}

/* ---- The table ---- */

#define ALL (ADMISSION_CREATE | ADMISSION_UPDATE | ADMISSION_DELETE)

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ALL, ADMISSION_ANY_PATH },
    { STR(""), STR("nodes"), ALL, ADMISSION_ANY_PATH },
    { STR(""), STR("persistentvolumeclaims"), ALL, ADMISSION_ANY_PATH },
    { STR(""), STR("serviceaccounts"), ADMISSION_CREATE, STR("token") },
    { STR("certificates.k8s.io"), STR("podcertificaterequests"), ALL, ADMISSION_ANY_PATH },
    { STR("coordination.k8s.io"), STR("leases"), ALL, ADMISSION_ANY_PATH },
    { STR("storage.k8s.io"), STR("csinodes"), ALL, ADMISSION_ANY_PATH },
    { STR("resource.k8s.io"), STR("resourceslices"), ALL, ADMISSION_ANY_PATH },
    { STR("certificates.k8s.io"), STR("certificatesigningrequests"), ADMISSION_CREATE, STR("") },
    { .operations = 0 },
};
static restricted_check *const checks[] = {
    restricted__pod,
    check_node,
    check_claim,
    restricted__token,
    restricted__pod_certificate,
    check_lease,
    check_storage_node,
    check_slice,
    check_signing_request,
};
static_assert(ARRAY_LEN(checks) + 1 == ARRAY_LEN(targets), "one for each");

static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    struct restricted r = { .req = req, .obj = obj, .err = err };
    if (!node_rules_identify(req->user, &r.node))
        return 0;
    if (!r.node.n)
        return restricted__forbid(&r, "could not determine node from user %s",
                                  restricted__quoted(&r, req->user->name));
    return checks[req->target - targets](&r);
}

const struct admission_plugin plugin_node_restriction = {
    .name = "NodeRestriction",
    .targets = targets,
    .mutate = mutate,
};
