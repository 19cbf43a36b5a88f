/* Rules of validation that look at another object than the one that is written. */
#include "api/validate/validate_common.h"
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
