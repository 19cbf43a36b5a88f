/* DenyServiceExternalIPs: nobody draws traffic of others to a Service of his own (CVE-2020-8554).
 * Off unless it is asked for, as upstream; addresses that a Service has already may stay. */
#include "admission/plugins.h"
#include "base/banned.h"

static bool has_ip(const struct value *ips, const struct value *ip)
{
    value_each_item (had, ips)
        if (str_eq(value_str(had), value_str(ip)))
            return true;
    return false;
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    const struct value *before = value_dig(req->old_obj, "spec", "externalIPs");
    value_each_item (ip, value_dig(obj, "spec", "externalIPs"))
        if (!has_ip(before, ip))
            return admission_forbid(req, obj,
                                    STR("Use of external IPs is denied by admission control"), err);
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("services"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_external_ips = {
    .name = "DenyServiceExternalIPs",
    .is_off = true,
    .targets = targets,
    .validate = validate,
};
