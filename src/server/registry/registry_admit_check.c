/* What upstream's admission plugins that are always on refuse after an object was found right, and
 * the rules of validation that look at another object than the one that is written. */
#include "api/certificate.h"
#include "api/quantity.h"
#include "api/validate/validate_common.h"
#include "base/base64.h"
#include "server/http/errors.h"
#include "server/registry/registry_internal.h"
#include "base/banned.h"

static int forbid(struct call *c, const struct value *obj, struct str why, struct err *err)
{
    return error_forbidden(err, c->req.resource, value_str(value_dig(obj, "metadata", "name")),
                           why);
}

/* ---- Claims of volumes ---- */

static struct str storage_request(const struct value *claim)
{
    struct str size = value_str(value_dig(claim, "spec", "resources", "requests", "storage"));
    return size.n ? size : STR("0");
}

/* Only what was made on demand grows, and only where its class says so. */
static int check_resize(struct call *c, const struct value *obj, const struct value *old_obj,
                        struct err *err)
{
    struct registry_entry class;
    if (quantity_cmp(storage_request(obj), storage_request(old_obj)) <= 0)
        return 0;
    if (!str_eq(value_str(value_dig(old_obj, "status", "phase")), STR("Bound")))
        return forbid(c, obj, STR("Only bound persistent volume claims can be expanded"), err);
    struct str name = value_str(value_dig(obj, "spec", "storageClassName"));
    struct str legacy = value_str(value_get(value_dig(obj, "metadata", "annotations"),
                                            STR("volume.beta.kubernetes.io/storage-class")));
    if (legacy.n)
        name = legacy;
    int r = name.n ? registry__read_other(c, STR("storage.k8s.io"), STR("storageclasses"), STR(""),
                                          name, &class, err)
                   : 0;
    const struct value *allows = r == 1 ? value_get(&class.obj, STR("allowVolumeExpansion")) : NULL;
    if (r < 0 || is_true(allows))
        return r < 0 ? r : 0;
    return forbid(c, obj,
                  STR("only dynamically provisioned pvc can be resized and the storageclass that "
                      "provisions the pvc must support resize"),
                  err);
}

/* ---- Requests for certificates ---- */

/* Nobody becomes an administrator by a certificate that the cluster has signed. */
static int check_subject(struct call *c, const struct value *obj, struct err *err)
{
    autobuf text = { 0 };
    autopem block = { 0 };
    struct certificate request;
    struct str signer = value_str(value_dig(obj, "spec", "signerName"));
    if (!str_eq(signer, STR("kubernetes.io/kube-apiserver-client")) ||
        !base64_decode(&text, value_str(value_dig(obj, "spec", "request"))))
        return 0;
    struct str pem = buf_str(&text);
    if (!pem_next(&pem, &block) || !certificate_request_read(buf_str(&block.bytes), &request) ||
        !certificate_is_of(request.subject, STR("system:masters")))
        return 0;
    return forbid(c, obj,
                  arena_printf(c->arena,
                               "use of " STR_FMT " signer with system:masters group is not allowed",
                               STR_ARG(signer)),
                  err);
}

/* ---- Namespaces: labels that say how secure their pods have to be ---- */

static bool is_security_level(struct str text)
{
    static const struct str levels[] = { STR("privileged"), STR("baseline"), STR("restricted") };
    return is_one_of(text, VALUES(levels));
}

/* "latest" or "v1.N" */
static bool is_security_version(struct str text)
{
    uint64_t minor;
    if (str_eq(text, STR("latest")))
        return true;
    if (!str_starts(text, STR("v1.")))
        return false;
    text = str_skip(text, 3);
    return str_to_u64(text, &minor) && minor <= INT64_MAX && (text.n == 1 || text.p[0] != '0');
}

static void note_security_labels(struct field_errors *e, const struct value *ns)
{
    static const struct {
        struct str level, version;
    } modes[] = {
        { STR("pod-security.kubernetes.io/enforce"),
          STR("pod-security.kubernetes.io/enforce-version") },
        { STR("pod-security.kubernetes.io/audit"),
          STR("pod-security.kubernetes.io/audit-version") },
        { STR("pod-security.kubernetes.io/warn"), STR("pod-security.kubernetes.io/warn-version") },
    };
    const struct value *labels = value_dig(ns, "metadata", "labels");
    const struct field_path *path = path_at(path_root("metadata"), "labels");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        const struct value *level = value_get(labels, modes[i].level),
                           *version = value_get(labels, modes[i].version);
        if (level && !is_security_level(value_str(level)))
            fault_text(e, path_key(path, modes[i].level), value_str(level),
                       "must be one of privileged, baseline, restricted");
        if (version && !is_security_version(value_str(version)))
            fault_text(e, path_key(path, modes[i].version), value_str(version),
                       "must be \"latest\" or \"v1.x\"");
    }
}

static bool have_same_faults(const struct field_errors *a, const struct field_errors *b)
{
    const struct err_cause *x = a->first, *y = b->first;
    for (; x && y && str_eq(x->field, y->field) && str_eq(x->msg, y->msg); x = x->next)
        y = y->next;
    return !x && !y;
}

/* What was wrong before may stay so. */
static int check_security_labels(struct call *c, const struct value *ns, const struct value *old_ns,
                                 struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena), old = FIELD_ERRORS_INIT(c->arena);
    note_security_labels(&e, ns);
    if (e.n && old_ns)
        note_security_labels(&old, old_ns);
    if (old.n && have_same_faults(&e, &old))
        return 0;
    return field_errors_report(&e, c->stored->group, c->stored->type->name,
                               value_str(value_dig(ns, "metadata", "name")), err);
}

int registry__admit_check(struct call *c, const struct value *obj, const struct value *old_obj,
                          struct err *err)
{
    if (registry__is(c, STR(""), STR("pods")))
        return old_obj ? 0 : registry__check_overhead(c, obj, err);
    if (registry__is(c, STR("scheduling.k8s.io"), STR("priorityclasses")))
        return registry__check_priority_class(c, obj, !old_obj, err);
    if (old_obj && registry__is(c, STR(""), STR("persistentvolumeclaims")))
        return check_resize(c, obj, old_obj, err);
    if (!old_obj && registry__is(c, STR("certificates.k8s.io"), STR("certificatesigningrequests")))
        return check_subject(c, obj, err);
    if (registry__is(c, STR(""), STR("namespaces")))
        return check_security_labels(c, obj, old_obj, err);
    return 0;
}

/* ---- Devices: who may look into those that others use ---- */

/* The first of a list that wants it, at `*ret`. */
static bool wants_admin_access(const struct value *list, bool in_exactly, size_t *ret)
{
    size_t i = 0;
    value_each_item (it, list) {
        const struct value *of = in_exactly ? value_get(it, STR("exactly")) : it;
        *ret = i++;
        if (is_true(value_get(of, STR("adminAccess"))))
            return true;
    }
    return false;
}

static int check_admin_namespace(struct call *c, struct field_errors *e,
                                 const struct field_path *list, size_t i, struct err *err)
{
    static const struct str label = STR("resource.kubernetes.io/admin-access");
    struct registry_entry ns;
    int r = registry__read_other(c, STR(""), STR("namespaces"), STR(""), c->req.ns, &ns, err);
    const struct value *labels = r == 1 ? value_dig(&ns.obj, "metadata", "labels") : NULL;
    if (r < 0 || str_eq(value_str(value_get(labels, label)), STR("true")))
        return r < 0 ? r : 0;
    fault_forbidden(e, path_at(path_item(list, i), "adminAccess"),
                    "admin access to devices requires the `" STR_FMT
                    ": true` label on the containing namespace",
                    STR_ARG(label));
    return 0;
}

int registry__check_others(struct call *c, struct field_errors *e, struct str sub,
                           const struct value *obj, const struct value *old_obj, struct err *err)
{
    bool is_claim = registry__is(c, STR("resource.k8s.io"), STR("resourceclaims")),
         is_template = registry__is(c, STR("resource.k8s.io"), STR("resourceclaimtemplates"));
    size_t i;
    if (is_claim && str_eq(sub, STR("status"))) {
        const struct field_path *allocation = path_at(path_root("status"), "allocation"),
                                *results = path_at(path_at(allocation, "devices"), "results");
        if (wants_admin_access(value_dig(old_obj, "status", "allocation", "devices", "results"),
                               false, &i) ||
            !wants_admin_access(value_dig(obj, "status", "allocation", "devices", "results"), false,
                                &i))
            return 0;
        return check_admin_namespace(c, e, results, i, err);
    }
    if (old_obj || (!is_claim && !is_template)) /* neither spec ever changes */
        return 0;
    const struct value *requests = is_claim ? value_dig(obj, "spec", "devices", "requests")
                                            : value_dig(obj, "spec", "spec", "devices", "requests");
    const struct field_path *devices = path_at(path_root("spec"), "devices");
    if (!wants_admin_access(requests, true, &i))
        return 0;
    return check_admin_namespace(c, e, path_at(devices, "requests"), i, err);
}
