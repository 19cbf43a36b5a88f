/* Slices of a pool of devices: where they are, their attributes, and how much of each may be asked
 * for. */
#include "api/inner.h"
#include "api/quantity.h"
#include "api/validate/kinds/validate_resource.h"
#include "base/buf.h"
#include "base/banned.h"

enum {
    DEVICES_MAX = 128,
    TAINTED_DEVICES_MAX = 64, /* where devices have taints or consume counters */
    PROPERTIES_MAX = 32,      /* attributes and capacities of a device */
    VALUES_MAX = 48,
    VALUE_BYTES_MAX = 64,
    TAINTS_MAX = 16,
    COUNTERS_MAX = 32,
    COUNTER_SETS_MAX = 8,
    OPTIONS_MAX = 10,
};

/* ---- Attributes ---- */

static bool is_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static bool is_number(struct str s)
{
    return is_digits(s) && (s.n == 1 || s.p[0] != '0');
}

/* Identifiers joined by dots; a number among them has no zeros in front where that matters. */
static bool are_identifiers(struct str s, bool zeros_matter)
{
    while (s.p) {
        struct str part = str_cut(&s, '.');
        for (size_t i = 0; i < part.n; i++) {
            char c = part.p[i], lower = (char)(c | 0x20);
            if (c != '-' && !(c >= '0' && c <= '9') && !(lower >= 'a' && lower <= 'z'))
                return false;
        }
        if (part.n == 0 || (zeros_matter && is_digits(part) && !is_number(part)))
            return false;
    }
    return true;
}

/* semver.org, 2.0.0: MAJOR.MINOR.PATCH[-PRE.RELEASE][+BUILD] */
static bool is_semver(struct str s)
{
    struct str build = s, front = str_cut(&build, '+');
    struct str before = front, core = str_cut(&before, '-');
    struct str major = str_cut(&core, '.'), minor = str_cut(&core, '.');
    return is_number(major) && is_number(minor) && is_number(core) &&
           (!before.p || are_identifiers(before, true)) &&
           (!build.p || are_identifiers(build, false));
}

/* A key as it stands in a path. */
static struct str short_key(struct arena *a, struct str key, size_t max)
{
    if (key.n <= max)
        return key;
    size_t rest = max - 3, front = (rest + 1) / 2;
    return arena_printf(a, "%.*s...%.*s", (int)front, key.p, (int)(rest / 2),
                        key.p + key.n - rest / 2);
}

static void check_attribute(struct field_errors *e, const struct field_path *path,
                            const struct value *attribute)
{
    struct str text = value_text(attribute, "string"), version = value_text(attribute, "version");
    if (text.n > VALUE_BYTES_MAX)
        field_too_long(e, path_at(path, "string"), VALUE_BYTES_MAX);
    if (!validate_member(attribute, "version"))
        return;
    if (!is_semver(version))
        fault_text(e, path_at(path, "version"), version,
                   "must be a string compatible with semver.org spec 2.0.0");
    if (version.n > VALUE_BYTES_MAX)
        field_too_long(e, path_at(path, "version"), VALUE_BYTES_MAX);
}

/* ---- Capacities ---- */

static void fault_range(struct field_errors *e, const struct field_path *path, struct str shown,
                        const char *why, struct str other)
{
    fault_text(e, path, shown, "%s" STR_FMT, why, STR_ARG(other));
}

static bool is_above(struct str a, struct str b)
{
    return a.n && b.n && quantity_cmp(a, b) > 0;
}

static void check_options(struct field_errors *e, const struct field_path *path, struct str most,
                          struct str preset, const struct value *options)
{
    bool found = false;
    size_t n = validate__count(options);
    for (size_t i = 0; i + 1 < n; i++)
        if (is_above(value_str(value_at(options, i)), value_str(value_at(options, i + 1))))
            fault_text(e, path_item(path, i + 1), value_str(value_at(options, i + 1)),
                       "values must be sorted in ascending order");
    if (n > OPTIONS_MAX)
        fault_too_many(e, path, n, OPTIONS_MAX);
    for (size_t i = 0; n <= OPTIONS_MAX && i < n; i++) {
        struct str option = value_str(value_at(options, i));
        if (is_above(option, most))
            fault_range(e, path_item(path, i), option,
                        "option is larger than capacity value: ", most);
        found = found || (option.n && preset.n && quantity_cmp(option, preset) == 0);
    }
    for (size_t i = 1; n <= OPTIONS_MAX && i < n; i++)
        for (size_t k = 0; k < i; k++) {
            struct str a = value_str(value_at(options, i)), b = value_str(value_at(options, k));
            if (!a.n || !b.n || quantity_cmp(a, b) != 0)
                continue;
            int64_t units;
            bool whole = quantity_units(a, false, &units);
            fault_duplicate(e, path_item(path, i),
                            whole ? arena_printf(e->arena, "%lld", (long long)units) : a);
            break;
        }
    if (!found)
        fault_text(e, path, preset, "default value is not valid according to the requestPolicy");
}

struct range {
    struct str preset, min, max, step;
};

/* Whether it has a part below one. */
static bool is_fraction(struct str q)
{
    int64_t ones, millis;
    return q.n && quantity_units(q, false, &ones) && quantity_units(q, true, &millis) &&
           millis != (__int128)ones * 1000;
}

static bool counts_in_millis(const struct range *r)
{
    return is_fraction(r->min) || is_fraction(r->max) || is_fraction(r->step) ||
           is_fraction(r->preset);
}

static bool check_countable(struct field_errors *e, const struct field_path *path, struct str q)
{
    int64_t units;
    if (!q.n)
        return true;
    if (quantity_sign(q) < 0)
        return fault_text(e, path, q, "must be greater than or equal to 0");
    return quantity_units(q, false, &units) ||
           fault_text(e, path, q, "must not be larger than 9223372036854775807");
}

static void check_multiple(struct field_errors *e, const struct field_path *path,
                           const struct range *r, struct str q, bool milli)
{
    int64_t n, min, step;
    if (!q.n || !quantity_units(q, milli, &n) || !quantity_units(r->min, milli, &min) ||
        !quantity_units(r->step, milli, &step) || step == 0)
        return;
    if (((__int128)n - min) % step != 0)
        fault_text(e, path, q,
                   "value is not a multiple of a given step (" STR_FMT ") from (" STR_FMT ")",
                   STR_ARG(r->step), STR_ARG(r->min));
}

static void check_step(struct field_errors *e, const struct field_path *path, const struct range *r,
                       struct str most)
{
    bool milli = counts_in_millis(r), countable = true;
    const struct field_path *at = path_at(path, "step");
    if (quantity_sign(r->step) <= 0) {
        fault_text(e, at, r->step, "must be greater than zero");
        return;
    }
    struct str one = quantity_add(e->arena, r->min, r->step);
    if (is_above(one, most))
        fault_text(e, at, r->step, "one step " STR_FMT " is larger than capacity value: " STR_FMT,
                   STR_ARG(one), STR_ARG(most));
    if (!milli) {
        countable &= check_countable(e, path_at(path, "default"), r->preset);
        countable &= check_countable(e, path_at(path, "min"), r->min);
        countable &= check_countable(e, path_at(path, "max"), r->max);
        countable &= check_countable(e, at, r->step);
    }
    if (!countable)
        return;
    check_multiple(e, at, r, r->preset, milli);
    check_multiple(e, at, r, r->max, milli);
}

static void check_range(struct field_errors *e, const struct field_path *path, struct str most,
                        const struct range *r)
{
    if (!r->min.n) {
        fault_required(e, path_at(path, "min"), "required when validRange is defined");
        return;
    }
    if (is_above(r->min, most))
        fault_range(e, path_at(path, "min"), r->min, "min is larger than capacity value: ", most);
    if (is_above(r->min, r->preset))
        fault_range(e, path_at(path, "default"), r->preset, "default is less than min: ", r->min);
    if (is_above(r->min, r->max))
        fault_range(e, path_at(path, "max"), r->min, "min is larger than max: ", r->max);
    if (is_above(r->max, most))
        fault_range(e, path_at(path, "max"), r->max, "max is larger than capacity value: ", most);
    if (is_above(r->preset, r->max))
        fault_range(e, path_at(path, "default"), r->preset, "default is more than max: ", r->max);
    if (r->step.n)
        check_step(e, path, r, most);
}

static void check_request_policy(struct field_errors *e, const struct field_path *path,
                                 struct str most, const struct value *policy)
{
    const struct value *options = value_get(policy, STR("validValues"));
    const struct value *range = validate_member(policy, "validRange");
    struct str preset = value_text(policy, "default");
    if (validate__count(options) && range) {
        fault_forbidden(e, path,
                        "exactly one policy can be specified, cannot specify \"validValues\" and "
                        "\"validRange\" at the same time");
        return;
    }
    bool has_options = validate__count(options) > 0;
    if ((has_options || range) && !preset.n) {
        fault_required(e, path_at(path, "default"),
                       has_options ? "required when validValues is defined"
                                   : "required when validRange is defined");
        return;
    }
    if (has_options)
        check_options(e, path_at(path, "validValues"), most, preset, options);
    if (range)
        check_range(e, path_at(path, "validRange"), most,
                    &(const struct range){ preset, value_text(range, "min"),
                                           value_text(range, "max"), value_text(range, "step") });
}

static void check_capacity(struct field_errors *e, const struct field_path *path,
                           const struct value *capacity, bool shared)
{
    const struct value *policy = validate_member(capacity, "requestPolicy");
    if (policy && !shared)
        fault_forbidden(e, path_at(path, "requestPolicy"), "allowMultipleAllocations must be true");
    else if (policy)
        check_request_policy(e, path_at(path, "requestPolicy"), value_text(capacity, "value"),
                             policy);
}

/* ---- Where devices are ---- */

struct places {
    struct buf names; /* of the ways that are used, in backticks */
    size_t n;
};

static void add_place(struct places *p, const char *name)
{
    buf_printf(&p->names, "%s`%s`", p->n++ ? ", " : "", name);
}

static void check_flag(struct field_errors *e, const struct field_path *path,
                       const struct value *flag, struct places *p, const char *name)
{
    if (value_is_true(flag))
        add_place(p, name);
    else if (flag)
        fault_value(e, path, flag, "must be either unset or set to true");
}

static void check_slice_place(struct field_errors *e, const struct field_path *path,
                              const struct value *spec)
{
    static const char ways[] =
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is "
        "required";
    const struct value *selector = validate_member(spec, "nodeSelector");
    struct str node = value_text(spec, "nodeName");
    struct places p = { 0 };
    if (node.n) {
        add_place(&p, "nodeName");
        validate_name(e, path_at(path, "nodeName"), NAME_SUBDOMAIN, node);
    } else if (validate_member(spec, "nodeName")) {
        fault_text(e, path_at(path, "nodeName"), node,
                   "must be either unset or set to a non-empty string");
    }
    if (selector) {
        const struct value *terms = value_get(selector, STR("nodeSelectorTerms"));
        const struct field_path *at = path_at(path, "nodeSelector");
        add_place(&p, "nodeSelector");
        validate_node_selector(e, at, selector, false);
        if (validate__count(terms) != 1)
            field_error(e, FIELD_INVALID, path_at(at, "nodeSelectorTerms"),
                        inner_json(e, STR("v1"), STR("NodeSelectorTerm"), terms),
                        "must have exactly one node selector term");
    }
    check_flag(e, path_at(path, "allNodes"), validate_member(spec, "allNodes"), &p, "allNodes");
    check_flag(e, path_at(path, "perDeviceNodeSelection"),
               validate_member(spec, "perDeviceNodeSelection"), &p, "perDeviceNodeSelection");
    if (p.n == 0)
        fault_required(e, path, ways);
    if (p.n > 1)
        fault_text(e, path, arena_printf(e->arena, "{" STR_FMT "}", STR_ARG(buf_str(&p.names))),
                   "%s, but multiple fields are set", ways);
    buf_done(&p.names);
}

static void check_device_place(struct field_errors *e, const struct field_path *path,
                               const struct value *device)
{
    static const char ways[] =
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
        "`perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    struct str node = value_text(device, "nodeName");
    struct places p = { 0 };
    if (node.n) {
        add_place(&p, "nodeName");
        validate_name(e, path_at(path, "nodeName"), NAME_SUBDOMAIN, node);
    } else if (validate_member(device, "nodeName")) {
        fault_text(e, path_at(path, "nodeName"), node, "must not be empty");
    }
    if (validate_member(device, "nodeSelector")) {
        add_place(&p, "nodeSelector");
        validate_node_selector(e, path_at(path, "nodeSelector"),
                               validate_member(device, "nodeSelector"), false);
    }
    check_flag(e, path_at(path, "allNodes"), validate_member(device, "allNodes"), &p, "allNodes");
    if (p.n == 0)
        fault_required(e, path, ways);
    if (p.n > 1)
        fault_text(e, path, arena_printf(e->arena, "{" STR_FMT "}", STR_ARG(buf_str(&p.names))),
                   "%s", ways);
    buf_done(&p.names);
}

/* ---- Devices ---- */

static size_t count_values(const struct value *attributes)
{
    static const struct str lists[] = { STR("bools"), STR("ints"), STR("strings"),
                                        STR("versions") };
    size_t total = 0;
    value_each_field (attribute, attributes) {
        size_t n = 0;
        for (size_t i = 0; i < 4; i++)
            n += validate__count(value_get(&attribute->val, lists[i]));
        total += n ? n : 1;
    }
    return total;
}

static void check_properties(struct field_errors *e, const struct field_path *path,
                             const struct value *device, const struct value *old)
{
    enum { KEY_MAX = 63 + 1 + 32 };
    const struct value *attributes = value_get(device, STR("attributes"));
    const struct value *capacity = value_get(device, STR("capacity"));
    size_t n = validate__count(attributes) + validate__count(capacity);
    size_t values = count_values(attributes);
    bool shared = value_is_true(value_get(device, STR("allowMultipleAllocations")));
    if (n > PROPERTIES_MAX)
        fault_int(e, path, (int64_t)n,
                  "the total number of attributes and capacities must not exceed %d",
                  PROPERTIES_MAX);
    if (values > VALUES_MAX)
        fault_int(e, path, (int64_t)values,
                  "the total number of attribute values must not exceed %d", VALUES_MAX);
    const struct field_path *at = path_at(path, "attributes");
    value_each_field (f, attributes) {
        validate__device_key(e, at, f->key);
        check_attribute(e, path_key(at, short_key(e->arena, f->key, KEY_MAX)), &f->val);
    }
    if (old && validate_is_same(capacity, value_get(old, STR("capacity"))))
        return;
    at = path_at(path, "capacity");
    value_each_field (f, capacity) {
        validate__device_key(e, at, f->key);
        check_capacity(e, path_key(at, short_key(e->arena, f->key, KEY_MAX)), &f->val, shared);
    }
}

static void check_taints(struct field_errors *e, const struct field_path *path,
                         const struct value *taints)
{
    size_t i = 0, n = validate__count(taints);
    if (n > TAINTS_MAX) {
        fault_too_many(e, path, n, TAINTS_MAX);
        return;
    }
    value_each_item (it, taints)
        validate__taint(e, path_item(path, i++), it);
}

static void check_counters(struct field_errors *e, const struct field_path *path,
                           const struct value *of)
{
    size_t n = validate_count(of, "counters");
    if (n > COUNTERS_MAX)
        fault_too_many(e, path_at(path, "counters"), n, COUNTERS_MAX);
}

static void check_device(struct field_errors *e, const struct field_path *path,
                         const struct value *device, const struct value *old, bool per_device)
{
    const struct value *taints = value_get(device, STR("taints"));
    validate_name(e, path_at(path, "name"), NAME_LABEL, value_text(device, "name"));
    check_properties(e, path, device, old);
    if (!old || !validate_is_same(taints, value_get(old, STR("taints"))))
        check_taints(e, path_at(path, "taints"), taints);
    size_t i = 0;
    value_each_item (it, value_get(device, STR("consumesCounters")))
        check_counters(e, path_item(path_at(path, "consumesCounters"), i++), it);
    if (per_device)
        check_device_place(e, path, device);
    else if (validate_member(device, "nodeName") || validate_member(device, "nodeSelector") ||
             validate_member(device, "allNodes"))
        fault_value(e, path, NULL,
                    "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec");
    validate__binding_conditions(e, path, device);
}

static const struct value *device_named(const struct value *devices, struct str name)
{
    value_each_item (it, devices)
        if (str_eq(value_text(it, "name"), name))
            return it;
    return NULL;
}

static size_t devices_max(const struct value *devices)
{
    value_each_item (it, devices)
        if (validate_count(it, "taints") || validate_count(it, "consumesCounters"))
            return TAINTED_DEVICES_MAX;
    return DEVICES_MAX;
}

static void check_devices(struct field_errors *e, const struct field_path *path,
                          const struct value *spec, const struct value *old)
{
    const struct value *devices = value_get(spec, STR("devices"));
    const struct value *old_devices = value_get(old, STR("devices"));
    bool per_device = value_is_true(value_get(spec, STR("perDeviceNodeSelection")));
    size_t n = validate__count(devices), max = devices_max(devices), i = 0;
    if (n > max) {
        fault_too_many(e, path, n, max);
        return;
    }
    value_each_item (it, devices)
        check_device(e, path_item(path, i++), it, device_named(old_devices, value_text(it, "name")),
                     per_device);
    for (i = 0; i < n; i++) {
        const struct value *it = value_at(devices, i);
        if (device_named(devices, value_text(it, "name")) != it)
            fault_duplicate(e, path_item(path, i), value_text(it, "name"));
    }
}

/* ---- ResourceSlice ---- */

static void check_pool(struct field_errors *e, const struct field_path *path,
                       const struct value *pool)
{
    int64_t slices = validate_int(pool, "resourceSliceCount"),
            generation = validate_int(pool, "generation");
    validate__pool(e, path_at(path, "name"), value_text(pool, "name"));
    if (slices <= 0)
        fault_int(e, path_at(path, "resourceSliceCount"), slices, "must be greater than zero");
    if (generation < 0)
        fault_int(e, path_at(path, "generation"), generation,
                  "must be greater than or equal to zero");
}

static void check_slice(struct field_errors *e, const struct value *obj,
                        const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    const struct value *pool = value_get(spec, STR("pool"));
    const struct field_path *path = path_root("spec");
    validate_driver(e, path_at(path, "driver"), value_text(spec, "driver"));
    check_pool(e, path_at(path, "pool"), pool);
    if (old_obj) {
        validate_immutable(e, path_at(path_at(path, "pool"), "name"), value_get(pool, STR("name")),
                           value_dig(old, "pool", "name"));
        validate_immutable(e, path_at(path, "driver"), value_get(spec, STR("driver")),
                           value_get(old, STR("driver")));
        validate_immutable(e, path_at(path, "nodeName"), value_get(spec, STR("nodeName")),
                           value_get(old, STR("nodeName")));
    }
    check_slice_place(e, path, spec);
    if (validate_count(spec, "sharedCounters") && validate_count(spec, "devices"))
        fault_text(e, path, STR(""), "only one of `sharedCounters` or `devices` is allowed");
    check_devices(e, path_at(path, "devices"), spec, old);
    size_t i = 0;
    value_each_item (it, validate_count(spec, "sharedCounters") > COUNTER_SETS_MAX
                             ? NULL
                             : value_get(spec, STR("sharedCounters")))
        check_counters(e, path_item(path_at(path, "sharedCounters"), i++), it);
}

void validate__create_slice(struct field_errors *e, const struct value *obj)
{
    check_slice(e, obj, NULL);
    declared_check(e, NULL, &validate__slice, obj, NULL);
}

void validate__update_slice(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    check_slice(e, obj, old_obj);
    declared_check(e, NULL, &validate__slice, obj, old_obj);
}
