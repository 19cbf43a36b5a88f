/* What is left: networking, access, devices, flow control, and definitions of custom resources. */
#include "api/defaults/defaults.h"
#include "api/defaults/defaults_rules.h"

#include "api/keys.h"
#include "api/words.h"
#include "base/banned.h"

/* ---- Networking ---- */

void defaults__network_policy_spec(struct arena *a, struct value *spec)
{
    if (!defaults__is_zero(value_get(spec, STR("policyTypes"))))
        return;
    struct value types = value_array();
    value_put_item(a, &types, value_string(STR("Ingress")));
    if (!defaults__is_zero(value_get(spec, STR("egress"))))
        value_put_item(a, &types, value_string(STR("Egress")));
    value_put(a, spec, STR("policyTypes"), types);
}

/* ---- Access ---- */

static bool is_account(const struct value *subject)
{
    return defaults__is_text(subject, STR("kind"), STR("ServiceAccount"));
}

static bool is_person(const struct value *subject)
{
    return defaults__is_text(subject, STR("kind"), STR("User")) ||
           defaults__is_text(subject, STR("kind"), STR("Group"));
}

void defaults__subject(struct arena *a, struct value *subject)
{
    if (is_person(subject))
        defaults__fill_zero(a, subject, STR("apiGroup"),
                            value_string(STR("rbac.authorization.k8s.io")));
}

void defaults__subject_v1alpha1(struct arena *a, struct value *subject)
{
    if (is_account(subject))
        defaults__fill_zero(a, subject, STR("apiVersion"), value_string(STR("v1")));
    else if (is_person(subject))
        defaults__fill_zero(a, subject, STR("apiVersion"),
                            value_string(STR("rbac.authorization.k8s.io/v1alpha1")));
}

/* ---- Devices ---- */

void defaults__device_request(struct arena *a, struct value *request)
{
    if (defaults__is_text(request, STR("allocationMode"), STR("ExactCount")))
        defaults__fill_zero(a, request, STR("count"), value_int(1));
}

/* Here one type is both a request and a list of requests to choose from, which has no count. */
void defaults__device_request_v1beta1(struct arena *a, struct value *request)
{
    if (defaults__is_zero(value_get(request, STR("deviceClassName"))))
        return;
    defaults__fill_zero(a, request, STR("allocationMode"), value_string(STR("ExactCount")));
    defaults__device_request(a, request);
}

static void stamp_taint(struct arena *a, struct value *taint, struct str now)
{
    if (value_is(taint, VALUE_OBJECT))
        defaults__fill(a, taint, STR("timeAdded"), value_string(now));
}

static void stamp_device(struct arena *a, struct value *device, struct str now)
{
    struct value *basic = value_edit(a, device, STR("basic")); /* v1beta1 */
    struct value *taints = value_edit(a, basic ? basic : device, STR("taints"));
    for (size_t i = 0; value_is(taints, VALUE_ARRAY) && i < taints->n; i++)
        stamp_taint(a, value_edit_at(a, taints, i), now);
}

static void stamp_taint_rule(struct arena *a, struct value *spec, struct str now)
{
    stamp_taint(a, value_edit(a, spec, STR("taint")), now);
}

static void stamp_slice(struct arena *a, struct value *spec, struct str now)
{
    struct value *devices = value_edit(a, spec, STR("devices"));
    for (size_t i = 0; value_is(devices, VALUE_ARRAY) && i < devices->n; i++)
        stamp_device(a, value_edit_at(a, devices, i), now);
}

void defaults_stamp(struct arena *a, const struct kind_type *t, struct value *obj, struct str now)
{
    static const struct stamp {
        struct str word; /* the kind */
        void (*stamp)(struct arena *a, struct value *spec, struct str now);
    } stamps[] = {
        { STR("DeviceTaintRule"), stamp_taint_rule },
        { STR("ResourceSlice"), stamp_slice },
    };
    if (!str_eq(t->group, STR("resource.k8s.io")))
        return;
    const struct stamp *row = words_row(t->name, stamps);
    if (row)
        row->stamp(a, value_edit(a, obj, STR("spec")), now);
}

/* ---- Flow control ---- */

enum { CONCURRENCY_SHARES = 30 };

/* Zero and nothing look the same in this version; an annotation says that zero is meant. */
void defaults__priority_level_v1beta3(struct arena *a, struct value *level)
{
    const struct value *annotations = value_dig(level, "metadata", "annotations");
    if (value_get(annotations, STR(KEY_PRESERVE_ZERO_SHARES)))
        return;
    struct value *spec = value_edit(a, level, STR("spec"));
    struct value *limited = value_edit(a, spec, STR("limited"));
    if (value_is(limited, VALUE_OBJECT))
        defaults__fill_zero(a, limited, STR("nominalConcurrencyShares"),
                            value_int(CONCURRENCY_SHARES));
}

/* ---- Definitions of custom resources ---- */

static void default_names(struct arena *a, struct value *names)
{
    struct str kind = value_text(names, "kind");
    if (!kind.n)
        return;
    char *lower = arena_dup(a, kind.p, kind.n);
    for (size_t i = 0; i < kind.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] |= 0x20;
    defaults__fill_zero(a, names, STR("singular"), value_string((struct str){ lower, kind.n }));
    defaults__fill_zero(a, names, STR("listKind"),
                        value_string(arena_printf(a, STR_FMT "List", STR_ARG(kind))));
}

/* v1beta1 began with one version and got a list of them later; each is made from the other. */
static void default_versions(struct arena *a, struct value *spec)
{
    const struct value *versions = value_get(spec, STR("versions"));
    struct str old = value_text(spec, "version");
    struct str first = value_text(value_at(versions, 0), "name");
    if (old.n && defaults__is_zero(versions)) {
        struct value version = value_object(), list = value_array();
        value_put_new(a, &version, STR("name"), value_string(old));
        value_put_new(a, &version, STR("served"), value_bool(true));
        value_put_new(a, &version, STR("storage"), value_bool(true));
        value_put_item(a, &list, version);
        value_put(a, spec, STR("versions"), list);
    } else if (!old.n && first.n) {
        value_put(a, spec, STR("version"), value_string(first));
    }
}

static struct str storage_version(const struct value *spec)
{
    value_each_item (version, value_get(spec, STR("versions")))
        if (!defaults__is_zero(value_get(version, STR("storage"))))
            return value_text(version, "name");
    return STR("");
}

/* Not of the type of its names, which the status has too. */
static struct str default_definition(struct arena *a, struct value *crd, bool is_old)
{
    struct value *spec = value_ensure(a, crd, STR("spec"));
    if (!spec)
        return STR("");
    struct value *names = value_ensure(a, spec, STR("names"));
    if (names)
        default_names(a, names);
    if (is_old)
        default_versions(a, spec);
    return storage_version(spec);
}

static void default_stored(struct arena *a, struct value *crd, struct str version)
{
    struct value *status = version.n ? value_ensure(a, crd, STR("status")) : NULL;
    struct value stored = value_array();
    if (!status)
        return;
    value_put_item(a, &stored, value_string(version));
    defaults__fill_zero(a, status, STR("storedVersions"), stored);
}

void defaults__definition(struct arena *a, struct value *crd)
{
    default_stored(a, crd, default_definition(a, crd, false));
}

void defaults__definition_v1beta1(struct arena *a, struct value *crd)
{
    default_stored(a, crd, default_definition(a, crd, true));
}

void defaults__conversion_v1beta1(struct arena *a, struct value *conversion)
{
    if (!defaults__is_text(conversion, STR("strategy"), STR("Webhook")))
        return;
    struct value versions = value_array();
    value_put_item(a, &versions, value_string(STR("v1beta1")));
    defaults__fill_zero(a, conversion, STR("conversionReviewVersions"), versions);
}
