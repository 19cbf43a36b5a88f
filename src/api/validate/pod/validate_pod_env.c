/* Environment variables, and what containers and volumes read of their pod. */
#include "api/quantity.h"
#include "api/validate/pod/validate_pod.h"
#include "base/buf.h"
#include "base/banned.h"

/* ---- Fields of the pod ---- */

/* Splits "metadata.labels['KEY']"; false if there is no subscript. */
static bool split_subscript(struct str text, struct str *ret_path, struct str *ret_key)
{
    if (!str_ends(text, STR("']")))
        return false;
    struct str inner = str_take(text, text.n - 2);
    const char *open = memmem(inner.p, inner.n, "['", 2);
    if (!open || open == inner.p)
        return false;
    *ret_path = (struct str){ inner.p, (size_t)(open - inner.p) };
    *ret_key = str_skip(inner, ret_path->n + 2);
    return true;
}

static void check_subscript(struct field_errors *e, const struct field_path *path, struct str field,
                            struct str key, struct str text)
{
    if (str_eq(field, STR("metadata.labels"))) {
        (void)validate_name(e, path, NAME_QUALIFIED, key);
    } else if (str_eq(field, STR("metadata.annotations"))) {
        char *lower = arena_dup(e->arena, key.p, key.n);
        for (size_t i = 0; i < key.n; i++)
            lower[i] = (char)(lower[i] >= 'A' && lower[i] <= 'Z' ? lower[i] | 0x20 : lower[i]);
        (void)validate_name(e, path, NAME_QUALIFIED, (struct str){ lower, key.n });
    } else {
        fault_text(e, path_at(path, "fieldPath"), text,
                   "error converting fieldPath: field label does not support subscript: " STR_FMT,
                   STR_ARG(text));
    }
}

static bool is_known_field(struct str text)
{
    static const struct str known[] = {
        STR("metadata.annotations"),
        STR("metadata.labels"),
        STR("metadata.name"),
        STR("metadata.namespace"),
        STR("metadata.uid"),
        STR("spec.nodeName"),
        STR("spec.restartPolicy"),
        STR("spec.serviceAccountName"),
        STR("spec.schedulerName"),
        STR("status.phase"),
        STR("status.hostIP"),
        STR("status.hostIPs"),
        STR("status.podIP"),
        STR("status.podIPs"),
        STR("spec.host"),
    };
    return words_have(text, WORDS(known));
}

/* Of old clients. */
static struct str modern_name(struct str field)
{
    return str_eq(field, STR("spec.host")) ? STR("spec.nodeName") : field;
}

void validate_field_ref(struct field_errors *e, const struct field_path *path,
                        const struct value *ref, bool volume)
{
    static const struct str of_env[] = {
        STR("metadata.name"),
        STR("metadata.namespace"),
        STR("metadata.uid"),
        STR("spec.nodeName"),
        STR("spec.serviceAccountName"),
        STR("status.hostIP"),
        STR("status.hostIPs"),
        STR("status.podIP"),
        STR("status.podIPs"),
    };
    static const struct str of_volume[] = {
        STR("metadata.annotations"), STR("metadata.labels"), STR("metadata.name"),
        STR("metadata.namespace"),   STR("metadata.uid"),
    };
    struct str version = value_text(ref, "apiVersion"), text = value_text(ref, "fieldPath"), field,
               key;
    if (!validate_required(e, path_at(path, "apiVersion"), version) ||
        !validate_required(e, path_at(path, "fieldPath"), text))
        return;
    const struct field_path *at = path_at(path, "fieldPath");
    if (!str_eq(version, STR("v1")))
        fault_text(e, at, text, "error converting fieldPath: unsupported pod version: " STR_FMT,
                   STR_ARG(version));
    else if (split_subscript(text, &field, &key))
        check_subscript(e, path, field, key, text);
    else if (!is_known_field(text))
        fault_text(e, at, text, "error converting fieldPath: field label not supported: " STR_FMT,
                   STR_ARG(text));
    else if (volume)
        (void)validate_one_of(e, at, modern_name(text), WORDS(of_volume));
    else
        (void)validate_one_of(e, at, modern_name(text), WORDS(of_env));
}

static void check_divisor(struct field_errors *e, const struct field_path *path,
                          struct str resource, struct str divisor)
{
    static const struct str of_cpu[] = { STR("1"), STR("1m") };
    static const struct str of_bytes[] = { STR("1"),   STR("1k"),  STR("1M"),  STR("1G"),
                                           STR("1T"),  STR("1P"),  STR("1E"),  STR("1Ki"),
                                           STR("1Mi"), STR("1Gi"), STR("1Ti"), STR("1Pi"),
                                           STR("1Ei") };
    static const struct {
        struct str end;
        const char *words;
    } kinds[] = {
        { STR(".memory"), "memory" },
        { STR(".ephemeral-storage"), "local ephemeral storage" },
    };
    if (!divisor.n || quantity_sign(divisor) == 0)
        return;
    if (str_eq(resource, STR("limits.cpu")) || str_eq(resource, STR("requests.cpu"))) {
        if (!words_have(divisor, WORDS(of_cpu)))
            fault_text(e, path, resource,
                       "only divisor's values 1m and 1 are supported with the cpu resource");
        return;
    }
    const char *words = NULL;
    struct str rest = resource;
    if (str_starts(rest, STR("limits.")))
        rest = str_skip(rest, 6);
    else if (str_starts(rest, STR("requests.")))
        rest = str_skip(rest, 8);
    for (size_t i = 0; i < 2; i++)
        if (str_eq(rest, kinds[i].end))
            words = kinds[i].words;
    if (str_starts(rest, STR(".hugepages-")))
        words = "hugepages";
    if (words && !words_have(divisor, WORDS(of_bytes)))
        fault_text(e, path, resource,
                   "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei "
                   "are supported with the %s resource",
                   words);
}

void validate_resource_field_ref(struct field_errors *e, const struct field_path *path,
                                 const struct value *ref, bool volume)
{
    static const struct str known[] = {
        STR("limits.cpu"),   STR("limits.ephemeral-storage"),   STR("limits.memory"),
        STR("requests.cpu"), STR("requests.ephemeral-storage"), STR("requests.memory"),
    };
    struct str resource = value_text(ref, "resource");
    if (volume && !value_text(ref, "containerName").n)
        fault_required(e, path_at(path, "containerName"), "");
    else if (!resource.n)
        fault_required(e, path_at(path, "resource"), "");
    else if (!str_starts(resource, STR("limits.hugepages-")) &&
             !str_starts(resource, STR("requests.hugepages-")))
        (void)validate_one_of(e, path_at(path, "resource"), resource, WORDS(known));
    check_divisor(e, path_at(path, "divisor"), resource, value_text(ref, "divisor"));
}

/* ---- Variables ---- */

static void check_key_ref(struct field_errors *e, const struct field_path *path,
                          const struct value *ref)
{
    (void)validate_name(e, path_at(path, "name"), NAME_SUBDOMAIN, value_text(ref, "name"));
    (void)validate_required_name(e, path_at(path, "key"), NAME_CONFIG_KEY, value_text(ref, "key"));
}

static void check_file_ref(struct field_errors *e, const struct field_path *path,
                           const struct value *ref)
{
    if (validate_required(e, path_at(path, "key"), value_text(ref, "key")))
        (void)validate_env_name(e, path_at(path, "key"), value_text(ref, "key"));
    (void)validate_required_name(e, path_at(path, "volumeName"), NAME_LABEL,
                                 value_text(ref, "volumeName"));
    if (validate_required(e, path_at(path, "path"), value_text(ref, "path")))
        (void)validate_no_backsteps(e, path_at(path, "path"), value_text(ref, "path"));
}

static void check_value_from(struct field_errors *e, const struct field_path *path,
                             const struct value *variable, const struct value *from)
{
    const struct value *field = validate_member(from, "fieldRef"),
                       *file = validate_member(from, "fileKeyRef"),
                       *resource = validate_member(from, "resourceFieldRef"),
                       *config = validate_member(from, "configMapKeyRef"),
                       *secret = validate_member(from, "secretKeyRef");
    if (field)
        validate_field_ref(e, path_at(path, "fieldRef"), field, false);
    if (resource)
        validate_resource_field_ref(e, path_at(path, "resourceFieldRef"), resource, false);
    if (config)
        check_key_ref(e, path_at(path, "configMapKeyRef"), config);
    if (secret)
        check_key_ref(e, path_at(path, "secretKeyRef"), secret);
    if (file)
        check_file_ref(e, path_at(path, "fileKeyRef"), file);
    int n = !!field + !!resource + !!config + !!secret + !!file;
    if (n == 0)
        fault_text(e, path, STR(""),
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                   "`secretKeyRef` or `fileKeyRef`");
    else if (value_text(variable, "value").n)
        fault_text(e, path, STR(""), "may not be specified when `value` is not empty");
    else if (n > 1)
        fault_text(e, path, STR(""), "may not have more than one field specified at a time");
}

void validate_env(struct field_errors *e, const struct field_path *path, const struct value *env)
{
    size_t i = 0;
    value_each_item (it, env) {
        const struct field_path *at = path_item(path, i++);
        struct str name = value_text(it, "name");
        if (validate_required(e, path_at(at, "name"), name))
            (void)validate_env_name(e, path_at(at, "name"), name);
        const struct value *from = validate_member(it, "valueFrom");
        if (from)
            check_value_from(e, path_at(at, "valueFrom"), it, from);
    }
}

static void check_source(struct field_errors *e, const struct field_path *path, struct str name)
{
    struct name_faults f = { 0 };
    if (!validate_required(e, path_at(path, "name"), name) ||
        name_check_prefix(NAME_SUBDOMAIN, name, &f))
        return;
    for (size_t i = 0; i < f.n; i++)
        fault_text(e, path_at(path, "name"), name, "%s%s", f.list[i].part, f.list[i].why);
}

void validate_env_from(struct field_errors *e, const struct field_path *path,
                       const struct value *sources)
{
    size_t i = 0;
    value_each_item (it, sources) {
        const struct field_path *at = path_item(path, i++);
        const struct value *config = validate_member(it, "configMapRef"),
                           *secret = validate_member(it, "secretRef");
        if (value_text(it, "prefix").n)
            (void)validate_env_name(e, path_at(at, "prefix"), value_text(it, "prefix"));
        if (config)
            check_source(e, path_at(at, "configMapRef"), value_text(config, "name"));
        if (secret)
            check_source(e, path_at(at, "secretRef"), value_text(secret, "name"));
        if (!config && !secret) /* so upstream names the list */
            fault_text(e, path, STR(""), "must specify one of: `configMapRef` or `secretRef`");
        else if (config && secret)
            fault_text(e, path, STR(""), "may not have more than one field specified at a time");
    }
}
