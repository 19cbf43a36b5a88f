/* Volumes of a pod, but for projected ones. One row a source, in upstream's order; where a path
 * differs from the field's name, upstream's does too. */
#include "api/quantity.h"
#include "api/validate/validate_claim.h"
#include "api/validate/validate_parts.h"
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_volume.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

struct volume {
    struct str name;
    const struct value *meta; /* of the pod, or NULL */
    const struct pod_rules *rules;
    const struct field_path *path; /* of the volume */
};

#define SOURCE(name_)                                                        \
    static void name_(struct field_errors *e, const struct field_path *path, \
                      const struct value *v, const struct volume *volume)

static void require(struct field_errors *e, const struct field_path *path, const struct value *v,
                    struct str field)
{
    struct field_path at = field_child(path, field);
    (void)validate_required(e, &at, value_str(value_get(v, field)));
}

/* ---- Files ---- */

void validate_file_mode(struct field_errors *e, const struct field_path *path,
                        const struct value *mode)
{
    if (mode && (validate__int(mode) > 0777 || validate__int(mode) < 0))
        fault_value(e, path, mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

void validate_user(struct field_errors *e, const struct field_path *path, const struct value *user)
{
    if (user)
        (void)validate_id(e, path, validate__int(user));
}

bool validate_local_path(struct field_errors *e, const struct field_path *path, struct str text)
{
    bool good = validate_descending_path(e, path, text);
    if (str_starts(text, STR("..")) && !str_starts(text, STR("../")))
        return fault_text(e, path, text, "must not start with '..'");
    return good;
}

void validate_key_to_path(struct field_errors *e, const struct field_path *path,
                          const struct value *item)
{
    (void)validate_required(e, path_at(path, "key"), value_text(item, "key"));
    (void)validate_required(e, path_at(path, "path"), value_text(item, "path"));
    (void)validate_local_path(e, path_at(path, "path"), value_text(item, "path"));
    validate_file_mode(e, path_at(path, "mode"), validate_member(item, "mode"));
    validate_user(e, path_at(path, "user"), validate_member(item, "user"));
}

void validate_downward_file(struct field_errors *e, const struct field_path *path,
                            const struct value *file)
{
    const struct value *field = validate_member(file, "fieldRef"),
                       *resource = validate_member(file, "resourceFieldRef");
    (void)validate_required(e, path_at(path, "path"), value_text(file, "path"));
    (void)validate_local_path(e, path_at(path, "path"), value_text(file, "path"));
    if (field) {
        validate_field_ref(e, path_at(path, "fieldRef"), field, true);
        if (resource)
            fault_text(e, path, STR("resource"),
                       "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (resource) {
        validate_resource_field_ref(e, path_at(path, "resourceFieldRef"), resource, true);
    } else {
        fault_required(e, path, "one of fieldRef and resourceFieldRef is required");
    }
    validate_file_mode(e, path_at(path, "mode"), validate_member(file, "mode"));
    validate_user(e, path_at(path, "user"), validate_member(file, "user"));
}

static void check_files(struct field_errors *e, const struct field_path *path,
                        const struct value *v, struct str name_field)
{
    require(e, path, v, name_field);
    validate_file_mode(e, path_at(path, "defaultMode"), validate_member(v, "defaultMode"));
    validate_user(e, path_at(path, "defaultUser"), validate_member(v, "defaultUser"));
    size_t i = 0;
    value_each_item (it, value_get(v, STR("items")))
        validate_key_to_path(e, path_item(path_at(path, "items"), i++), it);
}

SOURCE(check_secret)
{
    (void)volume;
    check_files(e, path, v, STR("secretName"));
}

SOURCE(check_config_map)
{
    (void)volume;
    check_files(e, path, v, STR("name"));
}

SOURCE(check_downward)
{
    (void)volume;
    validate_file_mode(e, path_at(path, "defaultMode"), validate_member(v, "defaultMode"));
    validate_user(e, path_at(path, "defaultUser"), validate_member(v, "defaultUser"));
    value_each_item (it, value_get(v, STR("items")))
        validate_downward_file(e, path, it);
}

SOURCE(check_projected)
{
    validate_projected_volume(e, path, v, volume->rules);
}

SOURCE(check_empty_dir)
{
    (void)volume;
    struct str limit = value_text(v, "sizeLimit");
    if (limit.n && quantity_sign(limit) < 0)
        fault_forbidden(e, path_at(path, "sizeLimit"),
                        "SizeLimit field must be a valid resource quantity");
    const struct value *mode = validate_member(v, "mode");
    if (mode && (validate__int(mode) > 01777 || validate__int(mode) < 0))
        fault_value(e, path_at(path, "mode"), mode,
                    "must be a number between 0 and 01777 (octal), both inclusive");
}

/* ---- Claims, drivers, images ---- */

SOURCE(check_claim)
{
    (void)volume;
    require(e, path, v, STR("claimName"));
}

SOURCE(check_csi)
{
    (void)volume;
    (void)validate_driver(e, path_at(path, "driver"), value_text(v, "driver"));
    const struct value *secret = validate_member(v, "nodePublishSecretRef");
    if (!secret)
        return;
    struct str name = value_text(secret, "name");
    if (validate_required(e, path_at(path_at(path, "nodePublishSecretRef"), "name"), name))
        (void)validate_name(e, path_at(path, "name"), NAME_SUBDOMAIN, name);
}

SOURCE(check_ephemeral)
{
    const struct value *template = validate_member(v, "volumeClaimTemplate");
    if (!template)
        fault_required(e, path_at(path, "volumeClaimTemplate"), "");
    else
        validate_claim_template(e, path_at(path, "volumeClaimTemplate"), template);
    struct str pod = value_text(volume->meta, "name");
    if (!pod.n || !volume->name.n)
        return;
    struct str claim =
        arena_printf(e->arena, STR_FMT "-" STR_FMT, STR_ARG(pod), STR_ARG(volume->name));
    struct name_faults f = { 0 };
    if (name_check(NAME_SUBDOMAIN, claim, &f))
        return;
    struct str quoted = field_quoted(e, claim);
    for (size_t i = 0; i < f.n; i++)
        fault_text(e, path_at(volume->path, "name"), volume->name, "PVC name " STR_FMT ": %s%s",
                   STR_ARG(quoted), f.list[i].part, f.list[i].why);
}

SOURCE(check_image)
{
    if (!volume->rules->keeps_image_reference)
        require(e, path, v, STR("reference"));
    (void)validate_pull_policy(e, path_at(path, "pullPolicy"), value_text(v, "pullPolicy"));
}

/* ---- What older clusters mounted ---- */

SOURCE(check_git)
{
    (void)volume;
    require(e, path, v, STR("repository"));
    (void)validate_descending_path(e, path_at(path, "directory"), value_text(v, "directory"));
}

static bool is_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* The part behind a name: any sign and so many letters and digits. */
static bool is_hardware_id(struct str s, size_t n)
{
    bool good = s.n == n + 4;
    for (size_t i = 4; good && i < s.n; i++)
        good = is_alnum(s.p[i]);
    return good;
}

/* iqn.YYYY-MM.AUTHORITY:NAME */
static bool is_iqn(struct str s)
{
    struct str rest = str_skip(s, 4);
    if (!str_starts(s, STR("iqn.")) || rest.n < 8 || !is_digits(str_take(rest, 4)) ||
        rest.p[4] != '-' || !is_digits(str_take(str_skip(rest, 5), 2)) || rest.p[7] != '.')
        return false;
    rest = str_skip(rest, 8);
    struct str authority = str_cut(&rest, ':');
    for (size_t i = 0; i < authority.n; i++)
        if (!is_alnum(authority.p[i]) && authority.p[i] != '-' && authority.p[i] != '.')
            return false;
    for (size_t i = 0; i < rest.n; i++)
        if (str_find(STR(",;*&$| \t\n\r\f"), rest.p[i]) >= 0)
            return false;
    return authority.n && rest.n;
}

static void check_iscsi_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    if (!str_starts(name, STR("iqn")) && !str_starts(name, STR("eui")) &&
        !str_starts(name, STR("naa")))
        fault_text(e, path, name, "must be valid format starting with iqn, eui, or naa");
    else if (str_starts(name, STR("iqn")) ? !is_iqn(name)
                                          : !is_hardware_id(name, name.p[0] == 'e' ? 16 : 32))
        fault_text(e, path, name, "must be valid format");
}

SOURCE(check_iscsi)
{
    (void)volume;
    const struct value *initiator = validate_member(v, "initiatorName");
    require(e, path, v, STR("targetPortal"));
    if (validate_required(e, path_at(path, "iqn"), value_text(v, "iqn")))
        check_iscsi_name(e, path_at(path, "iqn"), value_text(v, "iqn"));
    (void)validate_between(e, path_at(path, "lun"), validate_int(v, "lun"), 0, 255);
    if ((value_is_true(value_get(v, STR("chapAuthDiscovery"))) ||
         value_is_true(value_get(v, STR("chapAuthSession")))) &&
        !validate_member(v, "secretRef"))
        fault_required(e, path_at(path, "secretRef"), "");
    if (initiator)
        check_iscsi_name(e, path_at(path, "initiatorname"), value_str(initiator));
}

SOURCE(check_glusterfs)
{
    (void)volume;
    require(e, path, v, STR("endpoints"));
    require(e, path, v, STR("path"));
}

static void require_items(struct field_errors *e, const struct field_path *path,
                          const struct value *v, struct str field)
{
    struct field_path at = field_child(path, field);
    if (!validate__count(value_get(v, field)))
        fault_required(e, &at, "");
}

SOURCE(check_rbd)
{
    (void)volume;
    require_items(e, path, v, STR("monitors"));
    require(e, path, v, STR("image"));
}

static void check_secret_ref(struct field_errors *e, const struct field_path *path,
                             const struct value *v)
{
    const struct value *secret = validate_member(v, "secretRef");
    if (secret)
        require(e, path_at(path, "secretRef"), secret, STR("name"));
}

SOURCE(check_cinder)
{
    (void)volume;
    require(e, path, v, STR("volumeID"));
    check_secret_ref(e, path, v);
}

SOURCE(check_cephfs)
{
    (void)volume;
    require_items(e, path, v, STR("monitors"));
}

static bool ends_nocase(struct str s, struct str end)
{
    return s.n >= end.n && str_eq_nocase(str_skip(s, s.n - end.n), end);
}

SOURCE(check_flex)
{
    (void)volume;
    require(e, path, v, STR("driver"));
    value_each_field (f, value_get(v, STR("options"))) {
        struct str rest = f->key, domain = str_cut(&rest, '/');
        if (str_eq_nocase(domain, STR("kubernetes.io")) || str_eq_nocase(domain, STR("k8s.io")) ||
            ends_nocase(domain, STR(".kubernetes.io")) || ends_nocase(domain, STR(".k8s.io")))
            fault_text(e, path_key(path_at(path, "options"), f->key), f->key,
                       "kubernetes.io and k8s.io namespaces are reserved");
    }
}

SOURCE(check_azure_file)
{
    (void)volume;
    require(e, path, v, STR("secretName"));
    require(e, path, v, STR("shareName"));
}

SOURCE(check_scale_io)
{
    (void)volume;
    require(e, path, v, STR("gateway"));
    require(e, path, v, STR("system"));
    require(e, path, v, STR("volumeName"));
}

SOURCE(check_storage_os)
{
    (void)volume;
    (void)validate_required_name(e, path_at(path, "volumeName"), NAME_LABEL,
                                 value_text(v, "volumeName"));
    if (value_text(v, "volumeNamespace").n)
        (void)validate_name(e, path_at(path, "volumeNamespace"), NAME_LABEL,
                            value_text(v, "volumeNamespace"));
    check_secret_ref(e, path, v);
}

/* ---- Volumes ---- */

static const struct source {
    struct str name;
    struct str checked_at, forbidden_at; /* empty: as its name */
    /* NULL: as in a persistent volume */
    void (*check)(struct field_errors *e, const struct field_path *path, const struct value *v,
                  const struct volume *volume);
} sources[] = {
    { .name = STR("emptyDir"), .check = check_empty_dir },
    { .name = STR("hostPath") },
    { .name = STR("gitRepo"), .check = check_git },
    { .name = STR("gcePersistentDisk"), .checked_at = STR("persistentDisk") },
    { .name = STR("awsElasticBlockStore") },
    { .name = STR("secret"), .check = check_secret },
    { .name = STR("nfs") },
    { .name = STR("iscsi"), .check = check_iscsi },
    { .name = STR("glusterfs"), .check = check_glusterfs },
    { .name = STR("flocker") },
    { .name = STR("persistentVolumeClaim"), .check = check_claim },
    { .name = STR("rbd"), .check = check_rbd },
    { .name = STR("cinder"), .check = check_cinder },
    { .name = STR("cephfs"), .forbidden_at = STR("cephFS"), .check = check_cephfs },
    { .name = STR("quobyte") },
    { .name = STR("downwardAPI"), .forbidden_at = STR("downwarAPI"), .check = check_downward },
    { .name = STR("fc") },
    { .name = STR("flexVolume"), .check = check_flex },
    { .name = STR("configMap"), .check = check_config_map },
    { .name = STR("azureFile"), .check = check_azure_file },
    { .name = STR("vsphereVolume") },
    { .name = STR("photonPersistentDisk") },
    { .name = STR("portworxVolume") },
    { .name = STR("azureDisk") },
    { .name = STR("storageos"), .check = check_storage_os },
    { .name = STR("projected"), .check = check_projected },
    { .name = STR("scaleIO"), .check = check_scale_io },
    { .name = STR("csi"), .check = check_csi },
    { .name = STR("ephemeral"), .check = check_ephemeral },
    { .name = STR("image"), .check = check_image },
};

static void check_source(struct field_errors *e, const struct source *s, const struct value *v,
                         const struct volume *volume, bool is_first)
{
    struct str name = is_first ? s->checked_at : s->forbidden_at;
    struct field_path at = field_child(volume->path, name.n ? name : s->name);
    if (!is_first)
        fault_forbidden(e, &at, "may not specify more than 1 volume type");
    else if (s->check)
        s->check(e, &at, v, volume);
    else
        (void)validate_common_source(e, &at, s->name, v);
    if (s->check == check_iscsi && validate_member(v, "initiatorName") &&
        volume->name.n + 1 + value_text(v, "targetPortal").n > 64)
        fault_text(e, path_at(volume->path, "name"), volume->name,
                   "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
                   "if iscsi.initiatorName is specified.");
}

static void check_volume_source(struct field_errors *e, const struct value *v,
                                const struct volume *volume)
{
    bool is_first = true;
    size_t left = validate__count(v);
    for (size_t i = 0; left && i < ARRAY_LEN(sources); i++) {
        const struct value *source = value_get(v, sources[i].name);
        if (!source)
            continue;
        left--; /* most volumes have two fields: no need to ask for the other sources */
        if (source->type == VALUE_NULL)
            continue;
        check_source(e, &sources[i], source, volume, is_first);
        is_first = false;
        if (left == 1 && validate_member(v, "name"))
            break;
    }
    if (is_first)
        fault_required(e, volume->path, "must specify a volume type");
}

/* The names of the claims that are made for the pod's ephemeral volumes. */
static void collect_claims(struct field_errors *e, struct text_set *claims,
                           const struct value *volumes, const struct value *meta)
{
    struct str pod = value_text(meta, "name");
    value_each_item (it, volumes)
        if (pod.n && validate_member(it, "ephemeral"))
            (void)text_set_add(claims,
                               arena_printf(e->arena, STR_FMT "-" STR_FMT, STR_ARG(pod),
                                            STR_ARG(value_text(it, "name"))),
                               it);
}

void validate_pod_volumes(struct field_errors *e, const struct field_path *path,
                          struct pod_scope *scope)
{
    const struct value *volumes = value_get(scope->spec, STR("volumes"));
    autoset claims;
    text_set_init(&claims);
    collect_claims(e, &claims, volumes, scope->meta);
    size_t i = 0;
    value_each_item (it, volumes) {
        const struct field_path *at = path_item(path, i++), *name_path = path_at(at, "name");
        struct volume volume = { value_text(it, "name"), scope->meta, scope->rules, at };
        size_t before = e->n;
        check_volume_source(e, it, &volume);
        (void)validate_required_name(e, name_path, NAME_LABEL, volume.name);
        if (text_set_has(&scope->volumes, volume.name))
            fault_duplicate(e, name_path, volume.name);
        if (e->n == before)
            (void)text_set_add(&scope->volumes, volume.name, it);
        const struct value *claim = validate_member(it, "persistentVolumeClaim");
        struct str name = value_text(claim, "claimName");
        if (claim && text_set_has(&claims, name))
            fault_text(e, path_at(path_at(at, "persistentVolumeClaim"), "claimName"), name,
                       "must not reference a PVC that gets created for an ephemeral volume");
    }
}
