/* Whether the fields of a Service that speak of addresses agree with each other: looked at before
 * anything is given, as upstream does it, and in its words. */
#include "api/validate_common.h"
#include "server/service_claim_internal.h"
#include "base/banned.h"

static void check_both_names(struct field_errors *e, const struct value *spec,
                             const struct field_path *path)
{
    const struct value *ips = value_get(spec, STR("clusterIPs"));
    struct str ip = text_of(spec, "clusterIP");
    if (ip.n && !count_of(spec, "clusterIPs"))
        fault_required(e, path, "");
    else if (ip.n && !str_eq(value_str(value_at(ips, 0)), ip))
        fault_value(e, path, ips, "first value must match `clusterIP`");
    else if (!ip.n && count_of(spec, "clusterIPs"))
        fault_value(e, path, ips, "must be empty when `clusterIP` is not specified");
}

static void check_families(struct field_errors *e, const struct value *spec,
                           const struct field_path *path)
{
    static const struct str families[] = { STR("IPv4"), STR("IPv6") };
    const struct value *list = value_get(spec, STR("ipFamilies"));
    for (size_t i = 0; i < count_of(spec, "ipFamilies"); i++) {
        struct str family = value_str(value_at(list, i));
        (void)check_one_of(e, path_item(path, i), family, VALUES(families));
        for (size_t k = 0; k < i; k++) {
            if (!str_eq(value_str(value_at(list, k)), family))
                continue;
            fault_duplicate(e, path_item(path, i), family);
            break;
        }
    }
}

static bool check_ips(struct field_errors *e, const struct value *spec,
                      const struct value *old_spec, const struct field_path *path)
{
    const struct value *ips = value_get(spec, STR("clusterIPs"));
    size_t n = count_of(spec, "clusterIPs");
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        struct str ip = value_str(value_at(ips, i));
        if (i == 0 && str_eq(ip, STR("None"))) {
            if (n > 1)
                good = fault_value(e, path, ips, "'None' must be the first and only value");
            continue;
        }
        good &= check_ip_legacy(e, path_item(path, i), ip, value_get(old_spec, STR("clusterIPs")));
    }
    if (n > 2)
        fault_value(e, path, ips, "may only hold up to 2 values");
    return good;
}

static bool is_v6(struct str ip)
{
    return str_find(ip, ':') >= 0;
}

static void check_agreement(struct field_errors *e, const struct value *spec,
                            const struct field_path *path)
{
    const struct value *ips = value_get(spec, STR("clusterIPs")),
                       *families = value_get(spec, STR("ipFamilies"));
    size_t n = count_of(spec, "clusterIPs");
    bool headless = n == 1 && str_eq(value_str(value_at(ips, 0)), STR("None"));
    if (n > 1 &&
        (n > 2 || is_v6(value_str(value_at(ips, 0))) == is_v6(value_str(value_at(ips, 1)))))
        fault_value(e, path, ips, "may specify no more than one IP for each IP family");
    for (size_t i = 0; !headless && i < n && i < count_of(spec, "ipFamilies"); i++) {
        struct str ip = value_str(value_at(ips, i)), family = value_str(value_at(families, i));
        if (str_eq(family, STR("IPv4")) && is_v6(ip))
            fault_text(e, path_item(path, i), ip,
                       "expected an IPv4 value as indicated by `ipFamilies[%zu]`", i);
        if (str_eq(family, STR("IPv6")) && !is_v6(ip))
            fault_text(e, path_item(path, i), ip,
                       "expected an IPv6 value as indicated by `ipFamilies[%zu]`", i);
    }
}

void service_claim__check_fields(struct field_errors *e, const struct value *spec,
                                 const struct value *old_spec)
{
    static const struct str policies[] = { STR("PreferDualStack"), STR("RequireDualStack"),
                                           STR("SingleStack") };
    const struct field_path *root = path_root("spec"), *ips = path_at(root, "clusterIPs");
    struct str policy = text_of(spec, "ipFamilyPolicy");
    check_both_names(e, spec, ips);
    check_families(e, spec, path_at(root, "ipFamilies"));
    if (policy.n)
        (void)check_one_of(e, path_at(root, "ipFamilyPolicy"), policy, VALUES(policies));
    if (check_ips(e, spec, old_spec, ips))
        check_agreement(e, spec, ips);
}
