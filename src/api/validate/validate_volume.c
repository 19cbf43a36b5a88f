#include "api/validate/validate_volume.h"

#include "api/quantity.h"
#include "api/validate/validate_parts.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- Sources of pods and of persistent volumes ---- */

static void check_host_path(struct field_errors *e, const struct field_path *path,
                            const struct value *source)
{
    static const struct str types[] = { STR(""),
                                        STR("BlockDevice"),
                                        STR("CharDevice"),
                                        STR("Directory"),
                                        STR("DirectoryOrCreate"),
                                        STR("File"),
                                        STR("FileOrCreate"),
                                        STR("Socket") };
    struct str where = value_text(source, "path");
    if (!validate_required(e, path_at(path, "path"), where))
        return;
    validate_no_backsteps(e, path_at(path, "path"), where);
    if (validate_member(source, "type"))
        validate_one_of(e, path_at(path, "type"), value_text(source, "type"), WORDS(types));
}

static void check_partition(struct field_errors *e, const struct field_path *path,
                            const struct value *source)
{
    int64_t partition = validate_int(source, "partition"); /* 0: not told */
    if (partition)
        validate_between(e, path_at(path, "partition"), partition, 1, 255);
}

static void check_gce_disk(struct field_errors *e, const struct field_path *path,
                           const struct value *source)
{
    validate_required(e, path_at(path, "pdName"), value_text(source, "pdName"));
    check_partition(e, path, source);
}

static void check_aws_disk(struct field_errors *e, const struct field_path *path,
                           const struct value *source)
{
    validate_required(e, path_at(path, "volumeID"), value_text(source, "volumeID"));
    check_partition(e, path, source);
}

static void check_flocker(struct field_errors *e, const struct field_path *path,
                          const struct value *source)
{
    struct str name = value_text(source, "datasetName"), uuid = value_text(source, "datasetUUID");
    if (!name.n && !uuid.n)
        fault_required(e, path, "one of datasetName and datasetUUID is required");
    if (name.n && uuid.n)
        fault_text(e, path, STR("resource"),
                   "datasetName and datasetUUID can not be specified simultaneously");
    if (str_find(name, '/') >= 0)
        fault_text(e, path_at(path, "datasetName"), name, "must not contain '/'");
}

static void check_nfs(struct field_errors *e, const struct field_path *path,
                      const struct value *source)
{
    struct str where = value_text(source, "path");
    validate_required(e, path_at(path, "server"), value_text(source, "server"));
    validate_required(e, path_at(path, "path"), where);
    if (!str_starts(where, STR("/")))
        fault_text(e, path_at(path, "path"), where, "must be an absolute path");
}

/* As Go splits it: an address in brackets, or one without colons. */
static bool is_host_port(struct str pair)
{
    struct str rest = pair;
    if (str_starts(pair, STR("["))) {
        ptrdiff_t end = str_find(pair, ']');
        if (end < 0)
            return false;
        rest = str_skip(pair, (size_t)end + 1);
        return str_starts(rest, STR(":")) && str_find(str_skip(rest, 1), ':') < 0;
    }
    (void)str_cut(&rest, ':');
    return rest.p && str_find(rest, ':') < 0 && str_find(pair, ']') < 0 && str_find(pair, '[') < 0;
}

static void check_quobyte(struct field_errors *e, const struct field_path *path,
                          const struct value *source)
{
    enum { TENANT_MAX = 64 };
    static const char pairs[] = "must be a host:port pair or multiple pairs separated by commas";
    struct str registry = value_text(source, "registry"), rest = registry;
    if (!registry.n)
        fault_required(e, path_at(path, "registry"), pairs);
    else if (value_text(source, "tenant").n > TENANT_MAX)
        fault_required(e, path_at(path, "tenant"),
                       "must be a UUID and may not exceed a length of 64 characters");
    else
        while (rest.p)
            if (!is_host_port(str_cut(&rest, ',')))
                fault_text(e, path_at(path, "registry"), registry, "%s", pairs);
    validate_required(e, path_at(path, "volume"), value_text(source, "volume"));
}

static void check_fibre_channel(struct field_errors *e, const struct field_path *path,
                                const struct value *source)
{
    const struct value *targets = value_get(source, STR("targetWWNs"));
    size_t n = validate__count(targets), ids = validate_count(source, "wwids");
    if (!n && !ids)
        fault_required(e, path_at(path, "targetWWNs"),
                       "must specify either targetWWNs or wwids, but not both");
    if (n && ids)
        fault_value(e, path_at(path, "targetWWNs"), targets,
                    "targetWWNs and wwids can not be specified simultaneously");
    if (n && !validate_member(source, "lun"))
        fault_required(e, path_at(path, "lun"), "lun is required if targetWWNs is specified");
    else if (n)
        validate_between(e, path_at(path, "lun"), validate_int(source, "lun"), 0, 255);
}

static void check_vsphere(struct field_errors *e, const struct field_path *path,
                          const struct value *source)
{
    validate_required(e, path_at(path, "volumePath"), value_text(source, "volumePath"));
}

static void check_photon(struct field_errors *e, const struct field_path *path,
                         const struct value *source)
{
    validate_required(e, path_at(path, "pdID"), value_text(source, "pdID"));
}

static void check_volume_id(struct field_errors *e, const struct field_path *path,
                            const struct value *source)
{
    validate_required(e, path_at(path, "volumeID"), value_text(source, "volumeID"));
}

static void check_azure_disk(struct field_errors *e, const struct field_path *path,
                             const struct value *source)
{
    static const struct str caching[] = { STR("None"), STR("ReadOnly"), STR("ReadWrite") };
    static const struct str kinds[] = { STR("Dedicated"), STR("Managed"), STR("Shared") };
    static const struct str managed_form = STR("/subscriptions/{sub-id}/resourcegroups/{group-name}"
                                               "/providers/microsoft.compute/disks/{disk-id}");
    static const struct str blob_form =
        STR("https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd");
    struct str uri = value_text(source, "diskURI"), kind = value_text(source, "kind");
    validate_required(e, path_at(path, "diskName"), value_text(source, "diskName"));
    validate_required(e, path_at(path, "diskURI"), uri);
    if (validate_member(source, "cachingMode"))
        validate_one_of(e, path_at(path, "cachingMode"), value_text(source, "cachingMode"),
                        WORDS(caching));
    if (!validate_member(source, "kind"))
        return;
    validate_one_of(e, path_at(path, "kind"), kind, WORDS(kinds));
    bool managed = str_eq(kind, STR("Managed"));
    if (!str_starts(uri, managed ? STR("/subscriptions/") : STR("https://")))
        validate_one_of(e, path_at(path, "diskURI"), uri, managed ? &managed_form : &blob_form, 1);
}

typedef void source_check(struct field_errors *e, const struct field_path *path,
                          const struct value *source);

bool validate_common_source(struct field_errors *e, const struct field_path *path, struct str name,
                            const struct value *source)
{
    static const struct {
        struct str name;
        source_check *check;
    } checks[] = {
        { STR("hostPath"), check_host_path },
        { STR("gcePersistentDisk"), check_gce_disk },
        { STR("awsElasticBlockStore"), check_aws_disk },
        { STR("flocker"), check_flocker },
        { STR("nfs"), check_nfs },
        { STR("quobyte"), check_quobyte },
        { STR("fc"), check_fibre_channel },
        { STR("vsphereVolume"), check_vsphere },
        { STR("photonPersistentDisk"), check_photon },
        { STR("portworxVolume"), check_volume_id },
        { STR("azureDisk"), check_azure_disk },
    };
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (str_eq(checks[i].name, name)) {
            checks[i].check(e, path, source);
            return true;
        }
    return false;
}

/* ---- ISCSI ---- */

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool is_alnums(struct str s, size_t n)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]))
            return false;
    return s.n == n;
}

/* iqn.YYYY-MM.NAMING-AUTHORITY:UNIQUE-NAME */
static bool is_iqn(struct str s)
{
    static const char form[] = "iqn.dddd-dd.";
    struct str name = s, unique;
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        bool digit = form[i] == 'd';
        if (i >= s.n || (digit ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != form[i]))
            return false;
    }
    unique = str_skip(name, sizeof(form) - 1);
    name = str_cut(&unique, ':');
    for (size_t i = 0; i < name.n; i++)
        if (!is_alnum(name.p[i]) && name.p[i] != '-' && name.p[i] != '.')
            return false;
    for (size_t i = 0; i < unique.n; i++)
        if (strchr(",;*&$| \t\n\r\f", unique.p[i]))
            return false;
    return name.n && unique.n;
}

static bool is_initiator(struct str s)
{
    if (str_starts(s, STR("iqn")))
        return is_iqn(s);
    if (str_starts(s, STR("eui")))
        return is_alnums(str_skip(s, 4), 16);
    return str_starts(s, STR("naa")) && is_alnums(str_skip(s, 4), 32);
}

void validate_iscsi_source(struct field_errors *e, const struct field_path *path,
                           const struct value *iscsi, struct str volume)
{
    enum { PORTAL_MAX = 64 };
    struct str portal = value_text(iscsi, "targetPortal"), iqn = value_text(iscsi, "iqn");
    struct str initiator = value_text(iscsi, "initiatorName");
    bool named = validate_member(iscsi, "initiatorName") != NULL;
    validate_required(e, path_at(path, "targetPortal"), portal);
    if (named && volume.p && volume.n + 1 + portal.n > PORTAL_MAX)
        fault_text(e, path_at(path, "targetportal"), portal,
                   "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
                   "if iscsi.initiatorName is specified.");
    if (validate_required(e, path_at(path, "iqn"), iqn) && !is_initiator(iqn))
        fault_text(e, path_at(path, "iqn"), iqn, "must be valid format");
    validate_between(e, path_at(path, "lun"), validate_int(iscsi, "lun"), 0, 255);
    bool chap = value_is_true(value_get(iscsi, STR("chapAuthDiscovery"))) ||
                value_is_true(value_get(iscsi, STR("chapAuthSession")));
    const struct value *secret = validate_member(iscsi, "secretRef");
    if (chap && !secret)
        fault_required(e, path_at(path, "secretRef"), "");
    if (secret)
        validate_required(e, path_at(path_at(path, "secretRef"), "name"),
                          value_text(secret, "name"));
    if (named && !is_initiator(initiator))
        fault_text(e, path_at(path, "initiatorname"), initiator, "must be valid format");
}

/* ---- Sources of persistent volumes alone ---- */

static void check_glusterfs(struct field_errors *e, const struct field_path *path,
                            const struct value *source)
{
    const struct value *ns = validate_member(source, "endpointsNamespace");
    validate_required(e, path_at(path, "endpoints"), value_text(source, "endpoints"));
    validate_required(e, path_at(path, "path"), value_text(source, "path"));
    if (ns && !value_str(ns).n)
        fault_text(e, path_at(path, "endpointsNamespace"), STR(""),
                   "if the endpointnamespace is set, it must be a valid namespace name");
    else if (ns)
        validate_name(e, path_at(path, "endpointsNamespace"), NAME_LABEL, value_str(ns));
}

static void check_monitors(struct field_errors *e, const struct field_path *path,
                           const struct value *source)
{
    if (!validate_count(source, "monitors"))
        fault_required(e, path_at(path, "monitors"), "");
}

static void check_rbd(struct field_errors *e, const struct field_path *path,
                      const struct value *source)
{
    check_monitors(e, path, source);
    validate_required(e, path_at(path, "image"), value_text(source, "image"));
}

static void check_secret_ref(struct field_errors *e, const struct field_path *path,
                             const struct value *source)
{
    const struct value *ref = validate_member(source, "secretRef");
    const struct field_path *at = path_at(path, "secretRef");
    if (!ref)
        return;
    validate_required(e, path_at(at, "name"), value_text(ref, "name"));
    validate_required(e, path_at(at, "namespace"), value_text(ref, "namespace"));
}

static void check_cinder(struct field_errors *e, const struct field_path *path,
                         const struct value *source)
{
    check_volume_id(e, path, source);
    check_secret_ref(e, path, source);
}

/* Whether the key of an option is in one of the project's own domains. */
static bool is_reserved(struct str key)
{
    struct str rest = key, domain = str_cut(&rest, '/');
    static const struct str reserved[] = { STR("kubernetes.io"), STR("k8s.io") };
    for (size_t i = 0; i < 2; i++) {
        struct str end = str_skip(domain, domain.n - reserved[i].n);
        bool whole = domain.n == reserved[i].n;
        if (domain.n >= reserved[i].n && str_eq_nocase(end, reserved[i]) &&
            (whole || domain.p[domain.n - reserved[i].n - 1] == '.'))
            return true;
    }
    return false;
}

static void check_flex(struct field_errors *e, const struct field_path *path,
                       const struct value *source)
{
    validate_required(e, path_at(path, "driver"), value_text(source, "driver"));
    value_each_field (f, value_get(source, STR("options")))
        if (is_reserved(f->key))
            fault_text(e, path_key(path_at(path, "options"), f->key), f->key,
                       "kubernetes.io and k8s.io namespaces are reserved");
}

static void check_azure_file(struct field_errors *e, const struct field_path *path,
                             const struct value *source)
{
    validate_required(e, path_at(path, "secretName"), value_text(source, "secretName"));
    validate_required(e, path_at(path, "shareName"), value_text(source, "shareName"));
    if (validate_member(source, "secretNamespace"))
        validate_required(e, path_at(path, "secretNamespace"),
                          value_text(source, "secretNamespace"));
}

static void check_scale_io(struct field_errors *e, const struct field_path *path,
                           const struct value *source)
{
    validate_required(e, path_at(path, "gateway"), value_text(source, "gateway"));
    validate_required(e, path_at(path, "system"), value_text(source, "system"));
    validate_required(e, path_at(path, "volumeName"), value_text(source, "volumeName"));
}

static void check_local(struct field_errors *e, const struct field_path *path,
                        const struct value *source)
{
    struct str where = value_text(source, "path");
    if (validate_required(e, path_at(path, "path"), where))
        validate_no_backsteps(e, path_at(path, "path"), where);
}

static void check_storage_os(struct field_errors *e, const struct field_path *path,
                             const struct value *source)
{
    struct str ns = value_text(source, "volumeNamespace");
    validate_required_name(e, path_at(path, "volumeName"), NAME_LABEL,
                           value_text(source, "volumeName"));
    if (ns.n)
        validate_name(e, path_at(path, "volumeNamespace"), NAME_LABEL, ns);
    check_secret_ref(e, path, source);
}

static void check_csi(struct field_errors *e, const struct field_path *path,
                      const struct value *source)
{
    static const struct str secrets[] = { STR("controllerPublishSecretRef"),
                                          STR("controllerExpandSecretRef"),
                                          STR("nodePublishSecretRef"), STR("nodeExpandSecretRef") };
    validate_driver(e, path_at(path, "driver"), value_text(source, "driver"));
    validate_required(e, path_at(path, "volumeHandle"), value_text(source, "volumeHandle"));
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        const struct value *ref = validate__member(source, secrets[i]);
        struct field_path at = field_child(path, secrets[i]);
        if (!ref)
            continue;
        validate_required_name(e, path_at(&at, "name"), NAME_SUBDOMAIN, value_text(ref, "name"));
        validate_required_name(e, path_at(&at, "namespace"), NAME_LABEL,
                               value_text(ref, "namespace"));
    }
}

/* ---- Persistent volumes ---- */

/* In upstream's order; without a check those above, or the name of the volume is needed. `path` is
 * what upstream calls a source in its faults, where that is not its name. */
static const struct {
    struct str name;
    source_check *check;
    struct str path, repeated;
} volume_sources[] = {
    { STR("hostPath"), NULL },
    { STR("gcePersistentDisk"), NULL, .path = STR("persistentDisk") },
    { STR("awsElasticBlockStore"), NULL },
    { STR("glusterfs"), check_glusterfs },
    { STR("flocker"), NULL },
    { STR("nfs"), NULL },
    { STR("rbd"), check_rbd },
    { STR("quobyte"), NULL },
    { STR("cephfs"), check_monitors, .repeated = STR("cephFS") },
    { STR("iscsi"), NULL },
    { STR("cinder"), check_cinder },
    { STR("fc"), NULL },
    { STR("flexVolume"), check_flex },
    { STR("azureFile"), check_azure_file },
    { STR("vsphereVolume"), NULL },
    { STR("photonPersistentDisk"), NULL },
    { STR("portworxVolume"), NULL },
    { STR("azureDisk"), NULL },
    { STR("scaleIO"), check_scale_io },
    { STR("local"), check_local },
    { STR("storageos"), check_storage_os },
    { STR("csi"), check_csi },
};

static void check_sources(struct field_errors *e, const struct field_path *path,
                          const struct value *spec, struct str volume)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(volume_sources); i++) {
        struct str name = volume_sources[i].name, other = volume_sources[i].path;
        const struct value *source = validate__member(spec, name);
        if (!source)
            continue;
        if (n++ && !str_eq(name, STR("flexVolume"))) {
            struct str repeated = volume_sources[i].repeated;
            struct field_path at = field_child(path, repeated.n ? repeated : name);
            fault_forbidden(e, &at, "may not specify more than 1 volume type");
            continue;
        }
        struct field_path at = field_child(path, other.n ? other : name);
        if (volume_sources[i].check)
            volume_sources[i].check(e, &at, source);
        else if (!validate_common_source(e, &at, name, source))
            validate_iscsi_source(e, &at, source, volume);
        if (str_eq(name, STR("local")) && !validate_member(spec, "nodeAffinity"))
            fault_required(e, path_at(path, "nodeAffinity"), "Local volume requires node affinity");
    }
    if (n == 0)
        fault_required(e, path, "must specify a volume type");
}

static void check_access_modes(struct field_errors *e, const struct field_path *path,
                               const struct value *modes)
{
    static const struct str known[] = { STR("ReadOnlyMany"), STR("ReadWriteMany"),
                                        STR("ReadWriteOnce"), STR("ReadWriteOncePod") };
    bool alone = false, shared = false;
    if (!validate__count(modes))
        fault_required(e, path, "");
    value_each_item (it, modes) {
        bool good = validate_one_of(e, path, value_str(it), WORDS(known));
        bool pod = str_eq(value_str(it), known[3]);
        alone = alone || pod;
        shared = shared || (good && !pod);
    }
    if (alone && shared)
        fault_forbidden(e, path, "may not use ReadWriteOncePod with other access modes");
}

static void check_volume_capacity(struct field_errors *e, const struct field_path *path,
                                  const struct value *capacity)
{
    static const struct str storage = STR("storage");
    size_t n = validate__count(capacity);
    if (n == 0)
        fault_required(e, path, "");
    if (n > 1 || !value_get(capacity, storage))
        field_not_supported(e, path, field_json(e, n ? capacity : NULL), &storage, 1);
    value_each_field (f, capacity) {
        struct str amount = value_str(&f->val);
        const struct field_path *at = path_key(path, f->key);
        int64_t units = 0;
        if (amount.n && quantity_sign(amount) < 0 && quantity_units(amount, false, &units))
            fault_int(e, at, units, "must be a valid resource quantity");
        if (!amount.n || quantity_sign(amount) <= 0)
            fault_text(e, at, amount, "must be greater than zero");
    }
}

static void check_reclaim_policy(struct field_errors *e, const struct field_path *path,
                                 struct str policy, bool is_inline)
{
    static const struct str policies[] = { STR("Delete"), STR("Recycle"), STR("Retain") };
    if (policy.n == 0)
        return;
    if (!is_inline)
        validate_one_of(e, path, policy, WORDS(policies));
    else if (!str_eq(policy, STR("Retain")))
        fault_forbidden(e, path, "may only be Retain in the context of inline volumes");
}

static void check_node_affinity(struct field_errors *e, const struct field_path *path,
                                const struct value *affinity, bool any_values)
{
    const struct value *required = validate_member(affinity, "required");
    if (!required)
        fault_required(e, path_at(path, "required"), "must specify required node constraints");
    else
        validate_node_selector(e, path_at(path, "required"), required, any_values);
}

/* Whether a path is the root once "." and ".." and doubled slashes are gone. */
static bool is_root(struct str path)
{
    size_t depth = 0;
    if (!str_starts(path, STR("/")))
        return false;
    while (path.p) {
        struct str part = str_cut(&path, '/');
        if (str_eq(part, STR("..")))
            depth -= depth > 0;
        else if (part.n && !str_eq(part, STR(".")))
            depth++;
    }
    return depth == 0;
}

static void check_inline(struct field_errors *e, const struct field_path *path,
                         const struct value *spec)
{
    static const char forbidden[] = "may not be specified in the context of inline volumes";
    if (validate_member(spec, "claimRef"))
        fault_forbidden(e, path_at(path, "claimRef"), "%s", forbidden);
    if (validate_count(spec, "capacity"))
        fault_forbidden(e, path_at(path, "capacity"), "%s", forbidden);
    if (!validate_member(spec, "csi"))
        fault_required(e, path_at(path, "csi"),
                       "has to be specified in the context of inline volumes");
}

static void check_volume_classes(struct field_errors *e, const struct field_path *path,
                                 const struct value *spec, bool is_inline)
{
    static const struct str modes[] = { STR("Block"), STR("Filesystem") };
    struct str class = value_text(spec, "storageClassName"), mode = value_text(spec, "volumeMode");
    const struct value *attributes = validate_member(spec, "volumeAttributesClassName");
    if (class.n && is_inline)
        fault_forbidden(e, path_at(path, "storageClassName"),
                        "may not be specified in the context of inline volumes");
    else if (class.n)
        validate_name(e, path_at(path, "storageClassName"), NAME_SUBDOMAIN, class);
    if (validate_member(spec, "volumeMode") && !is_inline)
        validate_one_of(e, path_at(path, "volumeMode"), mode, WORDS(modes));
    else if (validate_member(spec, "volumeMode") && !str_eq(mode, modes[1]))
        fault_forbidden(e, path_at(path, "volumeMode"),
                        "may not specify volumeMode other than Filesystem in the context of inline "
                        "volumes");
    if (!attributes || is_inline)
        return;
    if (!value_str(attributes).n)
        fault_required(e, path_at(path, "volumeAttributesClassName"),
                       "an empty string is disallowed");
    else
        validate_name(e, path_at(path, "volumeAttributesClassName"), NAME_SUBDOMAIN,
                      value_str(attributes));
    if (!validate_member(spec, "csi"))
        fault_required(e, path_at(path, "csi"),
                       "has to be specified when using volumeAttributesClassName");
}

void validate_volume_spec(struct field_errors *e, const struct field_path *path,
                          const struct value *spec, struct str name, bool is_inline,
                          bool any_node_values)
{
    const struct value *affinity = validate_member(spec, "nodeAffinity");
    struct str policy = value_text(spec, "persistentVolumeReclaimPolicy");
    if (is_inline)
        check_inline(e, path, spec);
    check_access_modes(e, path_at(path, "accessModes"), value_get(spec, STR("accessModes")));
    if (!is_inline)
        check_volume_capacity(e, path_at(path, "capacity"), value_get(spec, STR("capacity")));
    check_reclaim_policy(e, path_at(path, "persistentVolumeReclaimPolicy"), policy, is_inline);
    if (affinity && is_inline)
        fault_forbidden(e, path_at(path, "nodeAffinity"),
                        "may not be specified in the context of inline volumes");
    else if (affinity)
        check_node_affinity(e, path_at(path, "nodeAffinity"), affinity, any_node_values);
    check_sources(e, path, spec, name);
    if (str_eq(policy, STR("Recycle")) &&
        is_root(value_text(validate_member(spec, "hostPath"), "path")))
        fault_forbidden(e, path_at(path, "persistentVolumeReclaimPolicy"),
                        "may not be 'recycle' for a hostPath mount of '/'");
    check_volume_classes(e, path, spec, is_inline);
}
