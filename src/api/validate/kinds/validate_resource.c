/* Claims of devices, their templates, classes and taints. CEL expressions are looked at for their
 * length alone here; what they mean is for whoever has a compiler. */
#include "api/validate/kinds/validate_resource.h"

#include "api/inner.h"
#include "base/json.h"
#include "base/banned.h"

#define GROUP   STR("resource.k8s.io")
#define VERSION STR("resource.k8s.io/v1")

/* ---- Shared with slices ---- */

void validate__pool(struct field_errors *e, const struct field_path *path, struct str name)
{
    if (!validate_required(e, path, name))
        return;
    if (name.n > NAME_SUBDOMAIN_MAX)
        field_too_long(e, path, NAME_SUBDOMAIN_MAX);
    while (name.p)
        validate_name(e, path, NAME_SUBDOMAIN, str_cut(&name, '/'));
}

static void check_identifier(struct field_errors *e, const struct field_path *path, struct str id)
{
    enum { IDENTIFIER_MAX = 32 };
    bool good = id.n > 0 && !(id.p[0] >= '0' && id.p[0] <= '9');
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i], lower = (char)(c | 0x20);
        good = good && (c == '_' || (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z'));
    }
    if (id.n > IDENTIFIER_MAX)
        field_too_long(e, path, IDENTIFIER_MAX);
    if (!good)
        fault_text(
            e, path, id,
            "a valid C identifier must start with alphabetic character or '_', followed by a "
            "string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
            "'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

void validate__device_key(struct field_errors *e, const struct field_path *path, struct str name)
{
    struct str id = name, domain = str_cut(&id, '/');
    if (!id.p) {
        check_identifier(e, path, name);
        return;
    }
    if (str_find(id, '/') >= 0)
        return; /* upstream says nothing of three parts */
    if (domain.n == 0)
        fault_text(e, path, STR(""), "the domain must not be empty");
    else
        validate_driver(e, path, domain);
    if (id.n == 0)
        fault_text(e, path, STR(""), "the name must not be empty");
    else
        check_identifier(e, path, id);
}

void validate__taint(struct field_errors *e, const struct field_path *path,
                     const struct value *taint)
{
    validate_name(e, path_at(path, "key"), NAME_QUALIFIED, value_text(taint, "key"));
    validate_name(e, path_at(path, "value"), NAME_LABEL_VALUE, value_text(taint, "value"));
}

static void check_condition_names(struct field_errors *e, const struct field_path *path,
                                  const struct value *list)
{
    enum { CONDITIONS_MAX = 4 };
    size_t i = 0;
    if (validate__count(list) > CONDITIONS_MAX)
        return; /* declared */
    value_each_item (it, list)
        validate_name(e, path_item(path, i++), NAME_QUALIFIED, value_str(it));
}

void validate__binding_conditions(struct field_errors *e, const struct field_path *path,
                                  const struct value *of)
{
    const struct value *good = value_get(of, STR("bindingConditions"));
    const struct value *bad = value_get(of, STR("bindingFailureConditions"));
    const struct field_path *good_path = path_at(path, "bindingConditions");
    const struct field_path *bad_path = path_at(path, "bindingFailureConditions");
    check_condition_names(e, good_path, good);
    check_condition_names(e, bad_path, bad);
    validate_unique_texts(e, good_path, good);
    autoset good_names, bad_names;
    text_set_init(&good_names);
    text_set_init(&bad_names);
    validate_add_texts(&good_names, good);
    for (size_t i = 0; i < validate__count(bad); i++) {
        struct str name = value_str(value_at(bad, i));
        if (!text_set_add(&bad_names, name, bad))
            fault_duplicate(e, path_item(bad_path, i), name);
        if (text_set_has(&good_names, name))
            fault_text(e, path_item(bad_path, i), name,
                       "bindingFailureConditions must not overlap with bindingConditions");
    }
    if (!validate__count(good) && validate__count(bad))
        fault_value(e, good_path, NULL,
                    "bindingConditions are required to use bindingFailureConditions");
    if (!validate__count(bad) && validate__count(good))
        fault_value(e, bad_path, NULL,
                    "bindingFailureConditions are required to use bindingConditions");
}

/* ---- Requests ---- */

static void check_toleration(struct field_errors *e, const struct field_path *path,
                             const struct value *toleration)
{
    struct str op = value_text(toleration, "operator"), value = value_text(toleration, "value");
    if (str_eq(op, STR("Exists")) && value.n)
        fault_text(e, path_at(path, "value"), value, "must be empty for operator `Exists`");
    if (str_eq(op, STR("Equal")))
        validate_name(e, path_at(path, "value"), NAME_LABEL_VALUE, value);
}

static void check_tolerations(struct field_errors *e, const struct field_path *path,
                              const struct value *of)
{
    size_t i = 0;
    value_each_item (it, value_get(of, STR("tolerations")))
        check_toleration(e, path_item(path_at(path, "tolerations"), i++), it);
}

static void check_selectors(struct field_errors *e, const struct field_path *path,
                            const struct value *selectors)
{
    enum { SELECTORS_MAX = 32, EXPRESSION_MAX = 10 * 1024 };
    size_t i = 0;
    if (validate__count(selectors) > SELECTORS_MAX)
        return; /* declared */
    value_each_item (it, selectors) {
        const struct field_path *cel = path_at(path_item(path, i++), "cel");
        if (!validate_member(it, "cel"))
            fault_required(e, cel, "");
        else if (value_text(value_get(it, STR("cel")), "expression").n > EXPRESSION_MAX)
            field_too_long(e, path_at(cel, "expression"), EXPRESSION_MAX);
    }
}

/* What exact requests and alternatives have in common. */
static void check_demand(struct field_errors *e, const struct field_path *path,
                         const struct value *demand)
{
    struct str mode = value_text(demand, "allocationMode");
    int64_t count = validate_int(demand, "count");
    check_selectors(e, path_at(path, "selectors"), value_get(demand, STR("selectors")));
    if (str_eq(mode, STR("All")) && count)
        fault_int(e, path_at(path, "count"), count,
                  "must not be specified when allocationMode is 'All'");
    if (str_eq(mode, STR("ExactCount")) && count <= 0)
        fault_int(e, path_at(path, "count"), count, "must be greater than zero");
    if (mode.n == 0) /* what is declared of it is optional */
        validate_one_of(e, path_at(path, "allocationMode"), mode,
                        (const struct str[]){ STR("All"), STR("ExactCount") }, 2);
    check_tolerations(e, path, demand);
}

static void check_alternatives(struct field_errors *e, const struct field_path *path,
                               const struct value *list)
{
    enum { ALTERNATIVES_MAX = 8 };
    size_t i = 0;
    if (validate__count(list) > ALTERNATIVES_MAX)
        return; /* declared */
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        validate_name(e, path_at(at, "name"), NAME_LABEL, value_text(it, "name"));
        check_demand(e, at, it);
    }
}

static void check_request(struct field_errors *e, const struct field_path *path,
                          const struct value *request)
{
    const struct value *exactly = validate_member(request, "exactly");
    const struct value *list = value_get(request, STR("firstAvailable"));
    validate_name(e, path_at(path, "name"), NAME_LABEL, value_text(request, "name"));
    if (!exactly && !validate__count(list)) {
        fault_required(e, path, "exactly one of `exactly` or `firstAvailable` is required");
    } else if (exactly && validate__count(list)) {
        fault_value(e, path, NULL,
                    "exactly one of `exactly` or `firstAvailable` is required, but multiple fields "
                    "are set");
    } else if (exactly) {
        const struct field_path *at = path_at(path, "exactly");
        validate_required_name(e, path_at(at, "deviceClassName"), NAME_SUBDOMAIN,
                               value_text(exactly, "deviceClassName"));
        check_demand(e, at, exactly);
    } else {
        check_alternatives(e, path_at(path, "firstAvailable"), list);
    }
}

/* Whether the claim has this request, or this alternative of a request. */
static bool has_request(const struct value *devices, struct str name)
{
    struct str sub = name, main_name = str_cut(&sub, '/');
    value_each_item (it, value_get(devices, STR("requests"))) {
        if (!str_eq(value_text(it, "name"), main_name))
            continue;
        if (!sub.p)
            return true;
        value_each_item (alternative, value_get(it, STR("firstAvailable")))
            if (str_eq(value_text(alternative, "name"), sub))
                return true;
    }
    return false;
}

static void check_request_ref(struct field_errors *e, const struct field_path *path,
                              const struct value *devices, struct str name)
{
    static const char why[] = "must be the name of a request in the claim or the name of a request "
                              "and a subrequest separated by '/'";
    struct str rest = name;
    (void)str_cut(&rest, '/');
    if (str_find(rest, '/') >= 0) {
        fault_text(e, path, name, "%s", why);
        return;
    }
    rest = name;
    do
        validate_name(e, path, NAME_LABEL, str_cut(&rest, '/'));
    while (rest.p);
    if (!has_request(devices, name))
        fault_text(e, path, name, "%s", why);
}

static void check_request_refs(struct field_errors *e, const struct field_path *path,
                               const struct value *devices, const struct value *of)
{
    enum { REQUESTS_MAX = 32 };
    const struct value *list = value_get(of, STR("requests"));
    size_t i = 0;
    if (validate__count(list) > REQUESTS_MAX)
        return; /* declared */
    value_each_item (it, list)
        check_request_ref(e, path_item(path_at(path, "requests"), i++), devices, value_str(it));
}

/* ---- Configuration ---- */

static void check_raw(struct field_errors *e, const struct field_path *path,
                      const struct value *raw)
{
    enum { RAW_MAX = 10 * 1024 };
    if (!raw || raw->type == VALUE_NULL)
        fault_required(e, path, "");
    else if (json_length(raw) > RAW_MAX)
        field_too_long(e, path, RAW_MAX);
    else if (raw->type != VALUE_OBJECT)
        fault_text(e, path, STR("<value omitted>"), "must be a valid JSON object");
}

static void check_config(struct field_errors *e, const struct field_path *path,
                         const struct value *config)
{
    const struct value *opaque = validate_member(config, "opaque");
    const struct field_path *at = path_at(path, "opaque");
    if (!opaque)
        fault_required(e, at, "");
    else
        check_raw(e, path_at(at, "parameters"), value_get(opaque, STR("parameters")));
}

static void check_constraint(struct field_errors *e, const struct field_path *path,
                             const struct value *devices, const struct value *constraint)
{
    check_request_refs(e, path, devices, constraint);
    if (!validate_member(constraint, "matchAttribute") &&
        !validate_member(constraint, "distinctAttribute"))
        fault_required(
            e, path,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but "
            "multiple fields are set");
}

static void check_claim_spec(struct field_errors *e, const struct field_path *spec_path,
                             const struct value *spec)
{
    enum { LIST_MAX = 32 };
    const struct value *devices = value_get(spec, STR("devices"));
    const struct field_path *path = path_at(spec_path, "devices");
    size_t i = 0;
    value_each_item (it, validate_count(devices, "requests") > LIST_MAX
                             ? NULL
                             : value_get(devices, STR("requests")))
        check_request(e, path_item(path_at(path, "requests"), i++), it);
    i = 0;
    value_each_item (it, validate_count(devices, "constraints") > LIST_MAX
                             ? NULL
                             : value_get(devices, STR("constraints")))
        check_constraint(e, path_item(path_at(path, "constraints"), i++), devices, it);
    i = 0;
    value_each_item (it, validate_count(devices, "config") > LIST_MAX
                             ? NULL
                             : value_get(devices, STR("config"))) {
        const struct field_path *at = path_item(path_at(path, "config"), i++);
        check_request_refs(e, at, devices, it);
        check_config(e, at, it);
    }
}

/* ---- ResourceClaim ---- */

static void create_claim(struct field_errors *e, const struct value *obj)
{
    check_claim_spec(e, path_root("spec"), value_get(obj, STR("spec")));
    declared_check(e, NULL, &validate__claim, obj, NULL);
}

static void update_claim(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    declared_check(e, NULL, &validate__claim, obj, old_obj);
}

static void check_consumers(struct field_errors *e, const struct field_path *path,
                            const struct value *list)
{
    enum { CONSUMERS_MAX = 256 };
    size_t i = 0;
    if (validate__count(list) > CONSUMERS_MAX)
        return; /* declared */
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        validate_required(e, path_at(at, "resource"), value_text(it, "resource"));
        validate_required(e, path_at(at, "name"), value_text(it, "name"));
        validate_required(e, path_at(at, "uid"), value_text(it, "uid"));
    }
}

static bool is_same_device(const struct value *a, const struct value *b)
{
    return str_eq(value_text(a, "driver"), value_text(b, "driver")) &&
           str_eq(value_text(a, "pool"), value_text(b, "pool")) &&
           str_eq(value_text(a, "device"), value_text(b, "device")) &&
           str_eq(value_text(a, "shareID"), value_text(b, "shareID"));
}

static bool is_allocated(const struct value *status, const struct value *device)
{
    value_each_item (it, value_dig(status, "allocation", "devices", "results"))
        if (is_same_device(it, device))
            return true;
    return false;
}

static void check_network(struct field_errors *e, const struct field_path *path,
                          const struct value *network)
{
    size_t i = 0;
    value_each_item (it, value_get(network, STR("ips")))
        (void)validate_interface_address(e, path_item(path_at(path, "ips"), i++), value_str(it));
}

static void check_device_status(struct field_errors *e, const struct field_path *path,
                                const struct value *status, const struct value *device)
{
    enum { CONDITIONS_MAX = 8 };
    size_t n = validate_count(device, "conditions");
    validate_driver(e, path_at(path, "driver"), value_text(device, "driver"));
    validate__pool(e, path_at(path, "pool"), value_text(device, "pool"));
    validate_name(e, path_at(path, "device"), NAME_LABEL, value_text(device, "device"));
    if (!is_allocated(status, device))
        field_error(e, FIELD_INVALID, path,
                    arena_printf(e->arena, STR_FMT "/" STR_FMT "/" STR_FMT,
                                 STR_ARG(value_text(device, "driver")),
                                 STR_ARG(value_text(device, "pool")),
                                 STR_ARG(value_text(device, "device"))),
                    "must be an allocated device in the claim");
    if (n > CONDITIONS_MAX)
        fault_too_many(e, path_at(path, "conditions"), n, CONDITIONS_MAX);
    validate_conditions(e, path_at(path, "conditions"), value_get(device, STR("conditions")));
    if (validate_member(device, "data"))
        check_raw(e, path_at(path, "data"), value_get(device, STR("data")));
    check_network(e, path_at(path, "networkData"), value_get(device, STR("networkData")));
}

static void check_result(struct field_errors *e, const struct field_path *path,
                         const struct value *devices, const struct value *result)
{
    check_request_ref(e, path_at(path, "request"), devices, value_text(result, "request"));
    validate_name(e, path_at(path, "device"), NAME_LABEL, value_text(result, "device"));
    validate__binding_conditions(e, path, result);
    check_tolerations(e, path, result);
}

static void check_allocation(struct field_errors *e, const struct field_path *path,
                             const struct value *devices, const struct value *allocation)
{
    const struct value *given = value_get(allocation, STR("devices"));
    const struct field_path *at = path_at(path, "devices");
    size_t i = 0;
    value_each_item (it, value_get(given, STR("results")))
        check_result(e, path_item(path_at(at, "results"), i++), devices, it);
    i = 0;
    value_each_item (it, value_get(given, STR("config"))) {
        const struct field_path *config = path_item(path_at(at, "config"), i++);
        check_request_refs(e, config, devices, it);
        check_config(e, config, it);
    }
    if (validate_member(allocation, "nodeSelector"))
        validate_node_selector(e, path_at(path, "nodeSelector"),
                               value_get(allocation, STR("nodeSelector")), false);
}

/* By their uids, which tell consumers apart. */
static bool has_new_consumer(const struct value *status, const struct value *old)
{
    autoset known;
    text_set_init(&known);
    value_each_item (was, value_get(old, STR("reservedFor")))
        (void)text_set_add(&known, value_text(was, "uid"), was);
    value_each_item (it, value_get(status, STR("reservedFor"))) {
        const struct value *was = text_set_get(&known, value_text(it, "uid"));
        if (!was || !value_eq(it, was))
            return true;
    }
    return false;
}

static void update_claim_status(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    const struct value *status = value_get(obj, STR("status"));
    const struct value *old = value_get(old_obj, STR("status"));
    const struct field_path *path = path_root("status");
    check_consumers(e, path_at(path, "reservedFor"), value_get(status, STR("reservedFor")));
    size_t i = 0;
    value_each_item (it, value_get(status, STR("devices")))
        check_device_status(e, path_item(path_at(path, "devices"), i++), status, it);
    bool allocated = validate_member(status, "allocation") != NULL;
    if (validate_count(status, "reservedFor") && !allocated)
        fault_forbidden(e, path_at(path, "reservedFor"),
                        "may not be specified when `allocated` is not set");
    else if (value_dig(obj, "metadata", "deletionTimestamp") && has_new_consumer(status, old))
        fault_forbidden(e, path_at(path, "reservedFor"),
                        "new entries may not be added while `deallocationRequested` or "
                        "`deletionTimestamp` are set");
    if (allocated && !validate_member(old, "allocation"))
        check_allocation(e, path_at(path, "allocation"), value_dig(obj, "spec", "devices"),
                         value_get(status, STR("allocation")));
    declared_check(e, NULL, &validate__claim, obj, old_obj);
}

/* ---- ResourceClaimTemplate ---- */

static void create_claim_template(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct field_path *path = path_root("spec"), *meta = path_at(path, "metadata");
    validate_labels(e, path_at(meta, "labels"), value_dig(spec, "metadata", "labels"));
    validate_annotations(e, path_at(meta, "annotations"),
                         value_dig(spec, "metadata", "annotations"));
    check_claim_spec(e, path_at(path, "spec"), value_get(spec, STR("spec")));
    declared_check(e, NULL, &validate__claim_template, obj, NULL);
}

static void update_claim_template(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    if (!validate_is_same(spec, value_get(old_obj, STR("spec"))))
        field_error(e, FIELD_INVALID, path_root("spec"),
                    inner_json(e, VERSION, STR("ResourceClaimTemplateSpec"), spec),
                    "field is immutable");
    declared_check(e, NULL, &validate__claim_template, obj, old_obj);
}

/* ---- DeviceClass ---- */

static void check_class(struct field_errors *e, const struct value *obj)
{
    enum { CONFIG_MAX = 32 };
    const struct value *spec = value_get(obj, STR("spec")),
                       *config = value_get(spec, STR("config"));
    const struct field_path *path = path_root("spec");
    check_selectors(e, path_at(path, "selectors"), value_get(spec, STR("selectors")));
    size_t i = 0;
    value_each_item (it, validate__count(config) > CONFIG_MAX ? NULL : config)
        check_config(e, path_item(path_at(path, "config"), i++), it);
}

static void create_class(struct field_errors *e, const struct value *obj)
{
    check_class(e, obj);
    declared_check(e, NULL, &validate__class, obj, NULL);
}

static void update_class(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    check_class(e, obj);
    declared_check(e, NULL, &validate__class, obj, old_obj);
}

/* ---- DeviceTaintRule ---- */

static void check_taint_rule(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *selector = validate_member(spec, "deviceSelector");
    const struct field_path *path = path_root("spec"), *at = path_at(path, "deviceSelector");
    if (validate_member(selector, "driver"))
        validate_driver(e, path_at(at, "driver"), value_text(selector, "driver"));
    if (validate_member(selector, "pool"))
        validate__pool(e, path_at(at, "pool"), value_text(selector, "pool"));
    if (validate_member(selector, "device"))
        validate_name(e, path_at(at, "device"), NAME_LABEL, value_text(selector, "device"));
    validate__taint(e, path_at(path, "taint"), value_get(spec, STR("taint")));
}

static void create_taint_rule(struct field_errors *e, const struct value *obj)
{
    check_taint_rule(e, obj);
    declared_check(e, NULL, &validate__taint_rule, obj, NULL);
}

static void update_taint_rule(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    check_taint_rule(e, obj);
    declared_check(e, NULL, &validate__taint_rule, obj, old_obj);
}

static void update_taint_rule_status(struct field_errors *e, const struct value *obj,
                                     const struct value *old_obj)
{
    enum { CONDITIONS_MAX = 8 };
    const struct value *conditions = value_dig(obj, "status", "conditions");
    const struct field_path *path = path_at(path_root("status"), "conditions");
    (void)old_obj;
    validate_conditions(e, path, conditions);
    if (validate__count(conditions) > CONDITIONS_MAX)
        fault_too_many(e, path, validate__count(conditions), CONDITIONS_MAX);
}

const struct validate_rules validate__resource[] = {
    { GROUP, STR("ResourceClaim"), .create = create_claim, .update = update_claim,
      .update_status = update_claim_status },
    { GROUP, STR("ResourceClaimTemplate"), .create = create_claim_template,
      .update = update_claim_template },
    { GROUP, STR("DeviceClass"), .create = create_class, .update = update_class },
    { GROUP, STR("DeviceTaintRule"), .create = create_taint_rule, .update = update_taint_rule,
      .update_status = update_taint_rule_status },
    { GROUP, STR("ResourceSlice"), .create = validate__create_slice,
      .update = validate__update_slice },
    { .kind = { NULL, 0 } },
};
