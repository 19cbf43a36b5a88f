/* Storage classes, CSI drivers and what they tell of nodes and capacity, and attachments. */
#include "api/validate/declared.h"
#include "api/inner.h"
#include "api/text_set.h"
#include "api/validate/validate_parts.h"
#include "api/validate/validate_volume.h"
#include "base/buf.h"
#include "base/banned.h"

#define GROUP STR("storage.k8s.io")

enum { PARAMETERS_MAX = 512, PARAMETER_BYTES_MAX = 256 << 10 };

/* ---- Declared ---- */

DECLARED_TYPE(storage_class,
              { STR("provisioner"), .flags = DECLARED_REQUIRED | DECLARED_IMMUTABLE },
              { STR("parameters"), .flags = DECLARED_IMMUTABLE | DECLARED_MAP },
              { STR("reclaimPolicy"), .flags = DECLARED_IMMUTABLE },
              { STR("volumeBindingMode"), .flags = DECLARED_IMMUTABLE });
DECLARED_TYPE(attachment_spec, { STR("attacher"), .flags = DECLARED_REQUIRED,
                                 .format = DECLARED_LONG_NAME_CASELESS, .max_chars = 63 });
DECLARED_TYPE(attachment, { STR("spec"), .flags = DECLARED_STRUCT | DECLARED_IMMUTABLE,
                            .type = &attachment_spec });

/* ---- StorageClass and VolumeAttributesClass ---- */

static void check_provisioner(struct field_errors *e, const struct field_path *path,
                              struct str name)
{
    struct name_faults faults = { 0 };
    if (name.n == 0 || name_check(NAME_QUALIFIED, name, &faults))
        return;
    autobuf lower = { 0 };
    for (size_t i = 0; i < name.n; i++)
        buf_byte(&lower,
                 name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 0x20) : name.p[i]);
    validate_name(e, path, NAME_QUALIFIED, buf_str(&lower));
}

static void check_parameters(struct field_errors *e, const struct value *obj, bool required)
{
    const struct value *parameters = value_get(obj, STR("parameters"));
    const struct field_path *path = path_root("parameters");
    size_t bytes = 0;
    if (validate__count(parameters) > PARAMETERS_MAX) {
        field_too_long(e, path, PARAMETERS_MAX);
        return;
    }
    value_each_field (f, parameters) {
        if (f->key.n == 0)
            fault_text(e, path, f->key, "field can not be empty.");
        bytes += f->key.n + value_str(&f->val).n;
    }
    if (bytes > PARAMETER_BYTES_MAX)
        field_too_long(e, path, PARAMETER_BYTES_MAX);
    if (required && !validate__count(parameters))
        fault_required(e, path, "must contain at least one key/value pair");
}

static void check_topology_expression(struct field_errors *e, const struct field_path *path,
                                      const struct value *expression)
{
    const struct value *values = value_get(expression, STR("values"));
    if (!validate__count(values))
        fault_required(e, path_at(path, "values"), "");
    validate_unique_texts(e, path_at(path, "values"), values);
    validate_name(e, path_at(path, "key"), NAME_QUALIFIED, value_text(expression, "key"));
}

static void check_topology_term(struct field_errors *e, const struct field_path *path,
                                const struct value *expressions)
{
    size_t i = 0;
    autoset keys;
    text_set_init(&keys);
    value_each_item (it, expressions) {
        const struct field_path *at = path_item(path, i++);
        check_topology_expression(e, at, it);
        if (!text_set_add(&keys, value_text(it, "key"), it))
            fault_duplicate(e, path_at(at, "key"), value_text(it, "key"));
    }
}

enum { COMPARED_MAX = 100 }; /* terms and their expressions: each is compared with all before it */

/* The last of the expressions with this key counts. */
static const struct value *values_of(const struct value *expressions, struct str key)
{
    for (size_t i = validate__count(expressions); i-- > 0;)
        if (str_eq(value_text(value_at(expressions, i), "key"), key))
            return value_get(value_at(expressions, i), STR("values"));
    return NULL;
}

/* Whether all that one term asks for, the other does too. */
static bool is_part_of(const struct value *a, const struct value *b)
{
    if (validate__count(a) > COMPARED_MAX || validate__count(b) > COMPARED_MAX)
        return false;
    value_each_item (expression, a) {
        const struct value *other = values_of(b, value_text(expression, "key"));
        if (!other)
            return false;
        autoset others;
        text_set_init(&others);
        validate_add_texts(&others, other);
        value_each_item (it, values_of(a, value_text(expression, "key")))
            if (!text_set_has(&others, value_str(it)))
                return false;
    }
    return true;
}

static void check_topologies(struct field_errors *e, const struct value *topologies)
{
    for (size_t i = 0; i < validate__count(topologies); i++) {
        const struct field_path *path =
            path_at(path_item(path_root("allowedTopologies"), i), "matchLabelExpressions");
        const struct value *term = value_get(value_at(topologies, i), STR("matchLabelExpressions"));
        bool repeated = !validate__count(term); /* upstream starts with empty ones */
        check_topology_term(e, path, term);
        for (size_t k = 0; k < i && k < COMPARED_MAX && !repeated; k++) {
            const struct value *other =
                value_get(value_at(topologies, k), STR("matchLabelExpressions"));
            repeated = is_part_of(term, other) && is_part_of(other, term);
        }
        if (repeated)
            fault_duplicate(e, path, STR(""));
    }
}

static void create_storage_class(struct field_errors *e, const struct value *obj)
{
    static const struct str policies[] = { STR("Delete"), STR("Retain") };
    static const struct str modes[] = { STR("Immediate"), STR("WaitForFirstConsumer") };
    struct str policy = value_text(obj, "reclaimPolicy");
    check_provisioner(e, path_root("provisioner"), value_text(obj, "provisioner"));
    check_parameters(e, obj, false);
    if (policy.n)
        validate_one_of(e, path_root("reclaimPolicy"), policy, WORDS(policies));
    if (!validate_member(obj, "volumeBindingMode"))
        fault_required(e, path_root("volumeBindingMode"), "");
    else
        validate_one_of(e, path_root("volumeBindingMode"), value_text(obj, "volumeBindingMode"),
                        WORDS(modes));
    check_topologies(e, value_get(obj, STR("allowedTopologies")));
    declared_check(e, NULL, &storage_class, obj, NULL);
}

static void update_storage_class(struct field_errors *e, const struct value *obj,
                                 const struct value *old_obj)
{
    declared_check(e, NULL, &storage_class, obj, old_obj);
}

static void warn_of_storage_class(struct validate_warnings *w, const struct value *obj,
                                  const struct value *old_obj)
{
    size_t i = 0;
    (void)old_obj;
    value_each_item (term, value_get(obj, STR("allowedTopologies"))) {
        const struct field_path *path =
            path_at(path_item(path_root("allowedTopologies"), i++), "matchLabelExpressions");
        size_t k = 0;
        value_each_item (it, value_get(term, STR("matchLabelExpressions"))) {
            const char *why = validate_deprecated_node_label(value_text(it, "key"));
            if (why)
                validate_warn_at(w, path_at(path_item(path, k), "key"), "%s", why);
            k++;
        }
    }
}

static void create_attributes_class(struct field_errors *e, const struct value *obj)
{
    validate_required(e, path_root("driverName"), value_text(obj, "driverName"));
    check_provisioner(e, path_root("driverName"), value_text(obj, "driverName"));
    check_parameters(e, obj, true);
}

static void update_attributes_class(struct field_errors *e, const struct value *obj,
                                    const struct value *old_obj)
{
    if (!str_eq(value_text(obj, "driverName"), value_text(old_obj, "driverName")))
        fault_forbidden(e, path_root("driverName"), "updates to driverName are forbidden.");
    if (!validate_is_same(value_get(obj, STR("parameters")), value_get(old_obj, STR("parameters"))))
        fault_forbidden(e, path_root("parameters"), "updates to parameters are forbidden.");
    create_attributes_class(e, obj);
}

/* ---- VolumeAttachment ---- */

static void check_attachment_error(struct field_errors *e, const struct field_path *path,
                                   const struct value *error)
{
    enum { MESSAGE_MAX = 1024 };
    if (value_text(error, "message").n > MESSAGE_MAX)
        field_too_long(e, path_at(path, "message"), MESSAGE_MAX);
    if (validate_int(error, "errorCode") < 0)
        validate_between(e, path_at(path, "errorCode"), validate_int(error, "errorCode"), 0,
                         INT32_MAX);
}

static void check_attachment_status(struct field_errors *e, const struct value *status)
{
    const struct field_path *path = path_root("status");
    size_t bytes = 0;
    value_each_field (f, value_get(status, STR("attachmentMetadata")))
        bytes += f->key.n + value_str(&f->val).n;
    if (bytes > PARAMETER_BYTES_MAX)
        field_too_long(e, path_at(path, "attachmentMetadata"), PARAMETER_BYTES_MAX);
    check_attachment_error(e, path_at(path, "attachError"), value_get(status, STR("attachError")));
    check_attachment_error(e, path_at(path, "detachError"), value_get(status, STR("detachError")));
}

static void check_attachment(struct field_errors *e, const struct value *obj, bool old_version)
{
    const struct value *spec = value_get(obj, STR("spec")),
                       *source = value_get(spec, STR("source"));
    const struct value *name = validate_member(source, "persistentVolumeName");
    const struct value *volume = validate_member(source, "inlineVolumeSpec");
    const struct field_path *path = path_root("spec"), *at = path_at(path, "source");
    static const char one[] =
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    if (!name && !volume)
        fault_required(e, at, one);
    else if (name && volume)
        fault_forbidden(e, at, "%s", one);
    else if (name && !value_str(name).n)
        fault_required(e, path_at(at, "persistentVolumeName"),
                       "must specify non empty persistentVolumeName");
    else if (volume)
        validate_volume_spec(e, path_at(at, "inlineVolumeSpec"), volume, STR(""), true, false);
    validate_name(e, path_at(path, "nodeName"), NAME_SUBDOMAIN, value_text(spec, "nodeName"));
    check_attachment_status(e, value_get(obj, STR("status")));
    if (name && !old_version)
        validate_name(e, path_root("spec.source.persistentVolumeName"), NAME_SUBDOMAIN,
                      value_str(name));
}

static void create_attachment(struct field_errors *e, const struct value *obj)
{
    check_attachment(e, obj, false);
    declared_check(e, NULL, &attachment, obj, NULL);
}

static void update_attachment(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    check_attachment(e, obj, false);
    declared_check(e, NULL, &attachment, obj, old_obj);
}

/* v1beta1 does not look at the names of drivers and volumes. */
static void create_old_attachment(struct field_errors *e, const struct value *obj)
{
    check_attachment(e, obj, true);
    validate_required(e, path_at(path_root("spec"), "attacher"),
                      value_str(value_dig(obj, "spec", "attacher")));
}

/* ---- CSINode ---- */

static void check_topology_keys(struct field_errors *e, const struct field_path *path,
                                const struct value *keys)
{
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, keys) {
        struct str key = value_str(it);
        if (key.n == 0)
            fault_required(e, path, "");
        if (!text_set_add(&seen, key, it))
            fault_duplicate(e, path, key);
        validate_name(e, path, NAME_QUALIFIED, key);
    }
}

static void check_node_driver(struct field_errors *e, const struct field_path *path,
                              const struct value *driver, bool repeated)
{
    enum { NODE_ID_MAX = 256 };
    struct str node = value_text(driver, "nodeID");
    validate_driver(e, path_at(path, "name"), value_text(driver, "name"));
    validate_required(e, path_at(path, "nodeID"), node);
    if (node.n > NODE_ID_MAX)
        fault_text(e, path_at(path, "nodeID"), node, "must be %d characters or less", NODE_ID_MAX);
    validate_nonnegative(e, path_at(path_at(path, "allocatable"), "count"),
                         validate_int(value_get(driver, STR("allocatable")), "count"));
    if (repeated)
        fault_duplicate(e, path_at(path, "name"), value_text(driver, "name"));
    check_topology_keys(e, path, value_get(driver, STR("topologyKeys")));
}

static void create_csi_node(struct field_errors *e, const struct value *obj)
{
    const struct value *drivers = value_dig(obj, "spec", "drivers");
    const struct field_path *path = path_at(path_root("spec"), "drivers");
    size_t i = 0;
    autoset names;
    text_set_init(&names);
    value_each_item (it, drivers)
        check_node_driver(e, path_item(path, i++), it,
                          !text_set_add(&names, value_text(it, "name"), it));
}

/* A driver of a node without what it can take, which may change. */
static struct value without_allocatable(struct arena *a, const struct value *driver)
{
    struct value copy = value_clone(a, driver);
    value_drop(a, &copy, STR("allocatable"));
    return copy;
}

static void update_csi_node(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    create_csi_node(e, obj);
    autoset drivers;
    text_set_init(&drivers);
    value_each_item (it, value_dig(obj, "spec", "drivers"))
        (void)text_set_add(&drivers, value_text(it, "name"), it);
    value_each_item (old, value_dig(old_obj, "spec", "drivers")) {
        const struct value *it = text_set_get(&drivers, value_text(old, "name"));
        if (!it || value_eq(it, old))
            continue;
        struct value was = without_allocatable(e->arena, old);
        struct value is = without_allocatable(e->arena, it);
        if (!validate_is_same(&is, &was))
            field_error(e, FIELD_INVALID, path_at(path_root("spec"), "drivers"),
                        inner_json(e, STR("storage.k8s.io/v1"), STR("CSINodeDriver"), &is),
                        "field is immutable");
    }
}

/* ---- CSIDriver ---- */

static void check_token_requests(struct field_errors *e, const struct field_path *path,
                                 const struct value *requests)
{
    enum { SECONDS_MIN = 600 };
    const int64_t seconds_max = (int64_t)1 << 32;
    size_t i = 0;
    autoset audiences;
    text_set_init(&audiences);
    value_each_item (request, requests) {
        const struct field_path *at = path_item(path, i++);
        struct str audience = value_text(request, "audience");
        int64_t seconds = validate_int(request, "expirationSeconds");
        bool repeated = !text_set_add(&audiences, audience, request);
        if (repeated)
            fault_duplicate(e, path_at(at, "audience"), audience);
        if (repeated || !validate_member(request, "expirationSeconds"))
            continue;
        if (seconds < SECONDS_MIN)
            fault_int(e, path_at(at, "expirationSeconds"), seconds,
                      "may not specify a duration less than 10 minutes");
        if (seconds > seconds_max)
            fault_int(e, path_at(at, "expirationSeconds"), seconds,
                      "may not specify a duration larger than 2^32 seconds");
    }
}

static void create_csi_driver(struct field_errors *e, const struct value *obj)
{
    static const struct str policies[] = { STR("File"), STR("None"),
                                           STR("ReadWriteOnceWithFSType") };
    static const struct str modes[] = { STR("Persistent"), STR("Ephemeral") };
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *in_secrets = validate_member(spec, "serviceAccountTokenInSecrets");
    const struct field_path *path = path_root("spec");
    int64_t period = validate_int(spec, "nodeAllocatableUpdatePeriodSeconds");
    if (!validate_member(spec, "attachRequired"))
        fault_required(e, path_at(path, "attachedRequired"), ""); /* upstream's name of it */
    if (!validate_member(spec, "podInfoOnMount"))
        fault_required(e, path_at(path, "podInfoOnMount"), "");
    if (!validate_member(spec, "storageCapacity"))
        fault_required(e, path_at(path, "storageCapacity"), "");
    if (validate_member(spec, "fsGroupPolicy"))
        validate_one_of(e, path_at(path, "fsGroupPolicy"), value_text(spec, "fsGroupPolicy"),
                        WORDS(policies));
    check_token_requests(e, path_at(path, "tokenRequests"), value_get(spec, STR("tokenRequests")));
    value_each_item (it, value_get(spec, STR("volumeLifecycleModes")))
        validate_one_of(e, path_at(path, "volumeLifecycleModes"), value_str(it), WORDS(modes));
    if (!validate_member(spec, "seLinuxMount"))
        fault_required(e, path_at(path, "seLinuxMount"), "");
    if (validate_member(spec, "nodeAllocatableUpdatePeriodSeconds") && period < 10)
        fault_int(e, path_at(path, "nodeAllocatableUpdatePeriodSeconds"), period,
                  "must be greater than or equal to 10 seconds");
    if (in_secrets && !validate_count(spec, "tokenRequests"))
        fault_value(e, path_at(path, "serviceAccountTokenInSecrets"), in_secrets,
                    "serviceAccountTokenInSecrets is set but no tokenRequests are specified");
}

static void update_csi_driver(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    create_csi_driver(e, obj);
    validate_immutable(e, path_at(path, "attachedRequired"), value_get(spec, STR("attachRequired")),
                       value_get(old, STR("attachRequired")));
    validate_immutable(e, path_at(path, "volumeLifecycleModes"),
                       value_get(spec, STR("volumeLifecycleModes")),
                       value_get(old, STR("volumeLifecycleModes")));
}

static void warn_of_csi_driver(struct validate_warnings *w, const struct value *obj,
                               const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *requests = value_get(spec, STR("tokenRequests"));
    bool changed =
        !old_obj || !validate_is_same(requests, value_dig(old_obj, "spec", "tokenRequests"));
    if (changed && validate__count(requests) &&
        !validate_member(spec, "serviceAccountTokenInSecrets"))
        validate_add_warning(w, "spec.serviceAccountTokenInSecrets is unset; if supported by this "
                                "CSI driver, set to true to prevent possible logging of tokens in "
                                "volume attributes");
}

/* ---- CSIStorageCapacity ---- */

static void create_csi_capacity(struct field_errors *e, const struct value *obj)
{
    const struct value *capacity = validate_member(obj, "capacity");
    validate_label_selector(e, path_root("nodeTopology"), validate_member(obj, "nodeTopology"), 0);
    validate_name(e, path_root("storageClassName"), NAME_SUBDOMAIN,
                  value_text(obj, "storageClassName"));
    if (capacity)
        validate_nonnegative_quantity(e, path_root("capacity"), value_str(capacity));
}

static void update_csi_capacity(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    validate_immutable(e, path_root("nodeTopology"), value_get(obj, STR("nodeTopology")),
                       value_get(old_obj, STR("nodeTopology")));
    validate_immutable(e, path_root("storageClassName"), value_get(obj, STR("storageClassName")),
                       value_get(old_obj, STR("storageClassName")));
}

static void warn_of_csi_capacity(struct validate_warnings *w, const struct value *obj,
                                 const struct value *old_obj)
{
    (void)old_obj;
    validate_warn_node_labels(w, path_root("nodeTopology"), value_get(obj, STR("nodeTopology")));
}

const struct validate_rules validate__storage[] = {
    { GROUP, STR("StorageClass"), .create = create_storage_class, .update = update_storage_class,
      .warn = warn_of_storage_class },
    { GROUP, STR("VolumeAttributesClass"), .create = create_attributes_class,
      .update = update_attributes_class },
    { GROUP, STR("VolumeAttachment"), .create = create_attachment, .update = update_attachment,
      .update_status = update_attachment },
    { GROUP, STR("VolumeAttachment"), .create = create_old_attachment, .update = update_attachment,
      .update_status = update_attachment, .version = STR("v1beta1") },
    { GROUP, STR("CSINode"), .create = create_csi_node, .update = update_csi_node },
    { GROUP, STR("CSIDriver"), .create = create_csi_driver, .update = update_csi_driver,
      .warn = warn_of_csi_driver },
    { GROUP, STR("CSIStorageCapacity"), .create = create_csi_capacity,
      .update = update_csi_capacity, .warn = warn_of_csi_capacity },
    { .kind = { NULL, 0 } },
};
