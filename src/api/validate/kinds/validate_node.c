/* Nodes. Upstream calls spec.taints "metadata.taints" in its faults. Fields behind gates that are
 * off are dropped before anything is checked. */
#include "api/inner.h"
#include "api/ip.h"
#include "api/keys.h"
#include "api/text_set.h"
#include "api/validate/validate_parts.h"
#include "api/validate/validate_resource_list.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/banned.h"

#define TAINTS STR("scheduler.alpha.kubernetes.io/taints")
#define AVOID  STR(KEY_PREFER_AVOID_PODS)

/* ---- Taints ---- */

static void check_label_value(struct field_errors *e, const struct field_path *path,
                              struct str value)
{
    struct name_faults f = { 0 };
    if (!name_check(NAME_LABEL_VALUE, value, &f))
        fault_text(e, path, value, "%s%s%s", f.list[0].why, f.n > 1 ? ";" : "",
                   f.n > 1 ? f.list[1].why : "");
}

static void check_taints(struct field_errors *e, const struct field_path *path,
                         const struct value *taints)
{
    static const struct str effects[] = { STR("NoSchedule"), STR("PreferNoSchedule"),
                                          STR("NoExecute") };
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (taint, taints) {
        const struct field_path *at = path_item(path, i++);
        struct str key = value_text(taint, "key"), effect = value_text(taint, "effect");
        validate_name(e, path_at(at, "key"), NAME_QUALIFIED, key);
        check_label_value(e, path_at(at, "value"), value_text(taint, "value"));
        if (validate_required(e, path_at(at, "effect"), effect))
            validate_one_of(e, path_at(at, "effect"), effect, WORDS(effects));
        struct str both =
            arena_printf(e->arena, STR_FMT "=" STR_FMT, STR_ARG(effect), STR_ARG(key));
        if (!text_set_add(&seen, both, taint))
            field_error(e, FIELD_DUPLICATE, at, inner_json(e, STR("v1"), STR("Taint"), taint),
                        "taints must be unique by key and effect pair");
    }
}

/* ---- Annotations with a meaning ---- */

static void check_noted_taints(struct field_errors *e, const struct field_path *path,
                               struct str text)
{
    struct value taints;
    struct str fault = json_fault(e->arena, text);
    struct field_path at = field_child(path, TAINTS);
    if (fault.n)
        fault_text(e, path, TAINTS, STR_FMT, STR_ARG(fault));
    else if (json_read(e->arena, text, NULL, &taints, NULL) == 0)
        check_taints(e, &at, &taints);
}

static void check_avoided_pods(struct field_errors *e, const struct field_path *path,
                               struct str text)
{
    struct value avoid;
    struct str fault = json_fault(e->arena, text);
    struct field_path list = field_child(path, AVOID);
    size_t i = 0;
    if (fault.n) {
        fault_text(e, path_at(path, "AvoidPods"), AVOID, STR_FMT, STR_ARG(fault));
        return;
    }
    if (json_read(e->arena, text, NULL, &avoid, NULL) < 0)
        return;
    value_each_item (it, value_get(&avoid, STR("preferAvoidPods"))) {
        const struct field_path *at = path_at(path_item(&list, i++), "PodSignature");
        const struct value *owner = value_dig(it, "podSignature", "podController");
        struct value no = value_bool(false);
        if (!owner)
            fault_required(e, at, "");
        else if (!value_is_true(value_get(owner, STR("controller"))))
            fault_value(e, path_at(path_at(at, "PodController"), "Controller"), &no,
                        "must point to a controller");
    }
}

static void check_node_annotations(struct field_errors *e, const struct value *obj)
{
    const struct value *annotations = value_dig(obj, "metadata", "annotations");
    const struct field_path *path = path_at(path_root("metadata"), "annotations");
    struct str taints = value_str(value_get(annotations, TAINTS));
    struct str avoid = value_str(value_get(annotations, AVOID));
    if (taints.n)
        check_noted_taints(e, path, taints);
    if (avoid.n)
        check_avoided_pods(e, path, avoid);
}

/* ---- Node ---- */

static void check_amounts(struct field_errors *e, const struct field_path *path,
                          const struct value *amounts)
{
    value_each_field (f, amounts) {
        struct field_path at = field_child(path, f->key);
        validate_resource_quantity(e, &at, f->key, value_str(&f->val));
    }
}

static void check_pod_cidrs(struct field_errors *e, const struct value *cidrs)
{
    const struct field_path *path = path_at(path_root("spec"), "podCIDRs");
    bool v4 = false, v6 = false;
    size_t i = 0, n = validate__count(cidrs);
    value_each_item (it, cidrs) {
        struct cidr c;
        bool good = ip_cidr_parse(value_str(it), &c);
        v4 = v4 || (good && c.ip.is_v4);
        v6 = v6 || (good && !c.ip.is_v4);
        validate_cidr_legacy(e, path_item(path, i++), value_str(it), NULL);
    }
    if (n > 1 && (!v4 || !v6 || n > 2))
        fault_value(e, path, cidrs, "may specify no more than one CIDR for each IP family");
}

static void check_features(struct field_errors *e, const struct value *features)
{
    const struct field_path *path = path_at(path_root("status"), "declaredFeatures");
    for (size_t i = 1; i < validate__count(features); i++) {
        struct str before = value_str(value_at(features, i - 1));
        struct str feature = value_str(value_at(features, i));
        int order = str_cmp(before, feature);
        if (order == 0)
            fault_duplicate(e, path_item(path, i), feature);
        else if (order > 0)
            fault_text(e, path_item(path, i), feature, "list must be sorted alphabetically");
    }
}

static void check_node_status(struct field_errors *e, const struct value *obj)
{
    const struct value *status = value_get(obj, STR("status"));
    const struct field_path *path = path_root("status");
    check_amounts(e, path_at(path, "capacity"), value_get(status, STR("capacity")));
    check_amounts(e, path_at(path, "allocatable"), value_get(status, STR("allocatable")));
}

static void create_node(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *swap = value_dig(obj, "status", "nodeInfo", "swap");
    const struct field_path *meta = path_root("metadata");
    check_node_annotations(e, obj);
    check_taints(e, path_at(meta, "taints"), value_get(spec, STR("taints")));
    check_node_status(e, obj);
    if (validate_member(swap, "capacity"))
        validate_positive(e, path_at(path_at(meta, "nodeSwapStatus"), "capacity"),
                          validate_int(swap, "capacity"));
    check_features(e, value_dig(obj, "status", "declaredFeatures"));
    check_pod_cidrs(e, value_get(spec, STR("podCIDRs")));
}

/* ---- Changes ---- */

static void check_config_source(struct field_errors *e, const struct field_path *path,
                                const struct value *source, bool in_status)
{
    const struct value *map = validate_member(source, "configMap");
    const struct field_path *at = path_at(path, "configMap");
    if (!map) {
        field_error(e, FIELD_INVALID, path,
                    inner_json(e, STR("v1"), STR("NodeConfigSource"), source),
                    "exactly one reference subfield must be non-nil");
        return;
    }
    bool has_uid = value_text(map, "uid").n, has_revision = value_text(map, "resourceVersion").n;
    if (in_status && !has_uid)
        fault_required(e, path_at(at, "uid"), "");
    if (in_status && !has_revision)
        fault_required(e, path_at(at, "resourceVersion"), "");
    if (!in_status && has_uid)
        fault_forbidden(e, path_at(at, "uid"), "uid must not be set in spec");
    if (!in_status && has_revision)
        fault_forbidden(e, path_at(at, "resourceVersion"),
                        "resourceVersion must not be set in spec");
    validate_required_name(e, path_at(at, "namespace"), NAME_LABEL, value_text(map, "namespace"));
    validate_required_name(e, path_at(at, "name"), NAME_SUBDOMAIN, value_text(map, "name"));
    validate_required_name(e, path_at(at, "kubeletConfigKey"), NAME_CONFIG_KEY,
                           value_text(map, "kubeletConfigKey"));
}

static void check_config_status(struct field_errors *e, const struct value *config)
{
    static const struct str sources[] = { STR("assigned"), STR("active"), STR("lastKnownGood") };
    const struct field_path *path = path_at(path_root("status"), "config");
    for (size_t i = 0; i < 3; i++) {
        const struct value *source = validate__member(config, sources[i]);
        struct field_path at = field_child(path, sources[i]);
        if (source)
            check_config_source(e, &at, source, true);
    }
}

static void check_addresses_differ(struct field_errors *e, const struct value *addresses)
{
    const struct field_path *path = path_at(path_root("status"), "addresses");
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, addresses) {
        struct str both =
            arena_printf(e->arena, STR_FMT "=" STR_FMT, STR_ARG(value_text(it, "type")),
                         STR_ARG(value_text(it, "address")));
        if (!text_set_add(&seen, both, it))
            field_error(e, FIELD_DUPLICATE, path_item(path, i),
                        inner_json(e, STR("v1"), STR("NodeAddress"), it), "%s", "");
        i++;
    }
}

static void update_node(struct field_errors *e, const struct value *obj,
                        const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    const struct value *cidrs = value_get(spec, STR("podCIDRs"));
    const struct value *old_cidrs = value_get(old, STR("podCIDRs"));
    const struct field_path *path = path_root("spec");
    struct str provider = value_text(spec, "providerID"),
               old_provider = value_text(old, "providerID");
    create_node(e, obj);
    check_addresses_differ(e, value_dig(obj, "status", "addresses"));
    if (validate__count(old_cidrs) && !validate_is_same(cidrs, old_cidrs))
        fault_forbidden(e, path_at(path, "podCIDRs"),
                        "node updates may not change podCIDR except from \"\" to valid");
    if (old_provider.n && !str_eq(provider, old_provider))
        fault_value(e, path_at(path, "providerID"), NULL, "field cannot be %s once set",
                    provider.n ? "modified" : "cleared");
    if (validate_member(spec, "configSource"))
        check_config_source(e, path_at(path, "configSource"), validate_member(spec, "configSource"),
                            false);
    check_config_status(e, value_dig(obj, "status", "config"));
    if (!str_eq(value_text(spec, "externalID"), value_text(old, "externalID")))
        fault_forbidden(e, path_at(path, "externalID"), "may not be updated");
}

static void warn_of_node(struct validate_warnings *w, const struct value *obj,
                         const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    size_t i = 0;
    (void)old_obj;
    if (validate_member(spec, "configSource"))
        validate_add_warning(w, "spec.configSource: the feature is removed");
    if (value_text(spec, "externalID").n)
        validate_add_warning(w, "spec.externalID: this field is deprecated, and is unused by "
                                "Kubernetes");
    value_each_item (it, value_get(spec, STR("podCIDRs")))
        validate_warn_cidr(w, path_item(path_at(path_root("spec"), "podCIDRs"), i++),
                           value_str(it));
}

const struct validate_rules validate__node[] = {
    { STR(""), STR("Node"), .create = create_node, .update = update_node,
      .update_status = update_node, .warn = warn_of_node },
    { .kind = { NULL, 0 } },
};
