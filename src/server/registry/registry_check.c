/* Rules of validation that look at another object than the one that is written. */
#include <stdlib.h>

#include "api/validate/validate_common.h"
#include "base/idiom.h"
#include "server/custom/custom.h"
#include "server/guard/guard.h"
#include "server/registry/registry_internal.h"
#include "base/banned.h"

/* ---- Devices: who may look into those that others use ---- */

/* The first of a list that wants it, at `*ret`. */
static bool wants_admin_access(const struct value *list, bool in_exactly, size_t *ret)
{
    size_t i = 0;
    value_each_item (it, list) {
        const struct value *of = in_exactly ? value_get(it, STR("exactly")) : it;
        *ret = i++;
        if (value_is_true(value_get(of, STR("adminAccess"))))
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

static int check_claim_status(struct call *c, struct field_errors *e, const struct value *obj,
                              const struct value *old_obj, struct err *err)
{
    const struct field_path *allocation = path_at(path_root("status"), "allocation"),
                            *results = path_at(path_at(allocation, "devices"), "results");
    size_t i;
    if (wants_admin_access(value_dig(old_obj, "status", "allocation", "devices", "results"), false,
                           &i) ||
        !wants_admin_access(value_dig(obj, "status", "allocation", "devices", "results"), false,
                            &i))
        return 0;
    return check_admin_namespace(c, e, results, i, err);
}

/* Once made, what is asked for does not change. */
static int check_requests(struct call *c, struct field_errors *e, const struct value *requests,
                          struct err *err)
{
    const struct field_path *devices = path_at(path_root("spec"), "devices");
    size_t i;
    if (!wants_admin_access(requests, true, &i))
        return 0;
    return check_admin_namespace(c, e, path_at(devices, "requests"), i, err);
}

static int check_claim(struct call *c, struct field_errors *e, const struct value *obj,
                       const struct value *old_obj, struct err *err)
{
    return old_obj ? 0 : check_requests(c, e, value_dig(obj, "spec", "devices", "requests"), err);
}

static int check_claim_template(struct call *c, struct field_errors *e, const struct value *obj,
                                const struct value *old_obj, struct err *err)
{
    return old_obj
               ? 0
               : check_requests(c, e, value_dig(obj, "spec", "spec", "devices", "requests"), err);
}

/* ---- Params of policies: who names them may read them ---- */

#define POLICIES STR("admissionregistration.k8s.io")

static int by_key(const void *a, const void *b)
{
    return str_cmp((*(const struct user_extra *const *)a)->key,
                   (*(const struct user_extra *const *)b)->key);
}

static void add_texts(struct buf *out, const struct str *texts, size_t n)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s" STR_FMT, i ? " " : "", STR_ARG(texts[i]));
    buf_byte(out, ']');
}

/* As Go prints the struct. */
static struct str user_text(struct arena *a, const struct user *u)
{
    autobuf out = { 0 };
    const struct user_extra **extra = arena_array(a, const struct user_extra *, u->n_extra);
    for (size_t i = 0; i < u->n_extra; i++)
        extra[i] = &u->extra[i];
    if (u->n_extra)
        qsort(extra, u->n_extra, sizeof(extra[0]), by_key);
    buf_printf(&out, "&{" STR_FMT " " STR_FMT " ", STR_ARG(u->name), STR_ARG(u->uid));
    add_texts(&out, u->groups, u->n_groups);
    buf_str_add(&out, STR(" map["));
    for (size_t i = 0; i < u->n_extra; i++) {
        buf_printf(&out, "%s" STR_FMT ":", i ? " " : "", STR_ARG(extra[i]->key));
        add_texts(&out, extra[i]->values, extra[i]->n_values);
    }
    buf_str_add(&out, STR("]}"));
    return arena_str(a, buf_str(&out));
}

/* What must be allowed for a kind of params; what is not known counts as everything. */
static struct access access_of(struct call *c, const struct value *kind, bool *ret_is_known)
{
    struct access q = { .user = c->user,
                        .is_resource = true,
                        .verb = STR("get"),
                        .group = STR("*"),
                        .version = STR("*"),
                        .resource = STR("*") };
    if (!kind)
        return q;
    struct registry_kind found =
        registry__kind_named(c, value_text(kind, "apiVersion"), value_text(kind, "kind"));
    q.version = value_text(kind, "apiVersion");
    q.group = str_find(q.version, '/') >= 0 ? str_cut(&q.version, '/') : STR("");
    if (found.resource)
        q.resource = arena_str(c->arena, found.resource->plural);
    *ret_is_known = found.resource != NULL;
    custom_unref(found.custom);
    return q;
}

static bool is_allowed(struct call *c, const struct access *q)
{
    struct str reason;
    return guard_decide(c->api->guard, c->arena, q, &reason);
}

static int check_param_kind(struct call *c, struct field_errors *e, const struct value *obj,
                            const struct value *old_obj, struct err *err)
{
    const struct value *kind = value_dig(obj, "spec", "paramKind"),
                       *old_kind = value_dig(old_obj, "spec", "paramKind");
    bool is_known;
    (void)err;
    if (!kind || (old_kind && value_eq(kind, old_kind)))
        return 0;
    struct access q = access_of(c, kind, &is_known);
    q.ns = q.name = STR("*");
    if (!is_allowed(c, &q))
        fault_forbidden(e, path_at(path_root("spec"), "paramKind"),
                        "user " STR_FMT " must have \"get\" permission on all objects of the "
                        "referenced paramKind (kind=" STR_FMT ", apiVersion=" STR_FMT ")",
                        STR_ARG(user_text(c->arena, c->user)), STR_ARG(value_text(kind, "kind")),
                        STR_ARG(value_text(kind, "apiVersion")));
    return 0;
}

/* Why what a binding refers to may not be read. */
static struct str ref_refusal(struct call *c, const struct value *obj, const struct value *policy,
                              bool is_known, struct str verb)
{
    const struct value *kind = value_dig(policy, "spec", "paramKind");
    struct arena *a = c->arena;
    struct str user = user_text(a, c->user);
    bool is_mutating = registry__is(c, POLICIES, STR("mutatingadmissionpolicybindings"));
    if (policy && is_known) /* upstream has mixed them up there */
        return arena_printf(a,
                            "user " STR_FMT " does not have \"" STR_FMT
                            "\" permission on the object referenced by paramRef",
                            STR_ARG(is_mutating ? verb : user), STR_ARG(is_mutating ? user : verb));
    struct str what = policy
                          ? arena_printf(a, "resolve paramKind &{" STR_FMT " " STR_FMT "}",
                                         STR_ARG(value_text(kind, "apiVersion")),
                                         STR_ARG(value_text(kind, "kind")))
                          : arena_printf(a, "get policy " STR_FMT,
                                         STR_ARG(value_str(value_dig(obj, "spec", "policyName"))));
    return arena_printf(
        a,
        "unable to " STR_FMT " to determine minimum required permissions and user " STR_FMT
        " does not have \"" STR_FMT "\" permission for all groups, versions and resources",
        STR_ARG(what), STR_ARG(user), STR_ARG(verb));
}

static int check_param_ref(struct call *c, struct field_errors *e, const struct value *obj,
                           struct str policies, struct err *err)
{
    const struct value *ref = value_dig(obj, "spec", "paramRef");
    struct registry_entry policy;
    bool is_known = true;
    if (!ref)
        return 0;
    int r = registry__read_other(c, POLICIES, policies, STR(""),
                                 value_str(value_dig(obj, "spec", "policyName")), &policy, err);
    if (r < 0)
        return r;
    const struct value *kind = r ? value_dig(&policy.obj, "spec", "paramKind") : NULL;
    struct access q = access_of(c, kind, &is_known);
    q.ns = value_text(ref, "namespace");
    q.name = value_text(ref, "name");
    if (!q.name.n)
        q.verb = STR("list");
    if (is_allowed(c, &q))
        return 0;
    struct str why = ref_refusal(c, obj, r ? &policy.obj : NULL, is_known, q.verb);
    fault_forbidden(e, path_at(path_root("spec"), "paramRef"), STR_FMT, STR_ARG(why));
    return 0;
}

int registry__check_rights(struct call *c, struct field_errors *e, const struct value *obj,
                           const struct value *old_obj, struct err *err)
{
    if (!c->user || !c->api->guard || !str_eq(c->stored->group, POLICIES) ||
        user_is_in(c->user, USER_MASTERS))
        return 0;
    if (registry__is(c, POLICIES, STR("validatingadmissionpolicybindings")))
        return check_param_ref(c, e, obj, STR("validatingadmissionpolicies"), err);
    if (registry__is(c, POLICIES, STR("mutatingadmissionpolicybindings")))
        return check_param_ref(c, e, obj, STR("mutatingadmissionpolicies"), err);
    return check_param_kind(c, e, obj, old_obj, err);
}

/* ---- The table ---- */

int registry__check_others(struct call *c, struct field_errors *e, struct str sub,
                           const struct value *obj, const struct value *old_obj, struct err *err)
{
    static const struct {
        struct str group, resource, sub;
        int (*check)(struct call *c, struct field_errors *e, const struct value *obj,
                     const struct value *old_obj, struct err *err);
    } rows[] = {
        { STR("resource.k8s.io"), STR("resourceclaims"), STR(""), check_claim },
        { STR("resource.k8s.io"), STR("resourceclaims"), STR("status"), check_claim_status },
        { STR("resource.k8s.io"), STR("resourceclaimtemplates"), STR(""), check_claim_template },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (registry__is(c, rows[i].group, rows[i].resource) && str_eq(sub, rows[i].sub))
            return rows[i].check(c, e, obj, old_obj, err);
    return 0;
}
