/* Rules of validation that look at another object than the one that is written. */
#include "api/validate/validate_common.h"
#include "base/idiom.h"
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
