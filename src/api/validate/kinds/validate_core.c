/* The small kinds of the core group: Namespace, ConfigMap, Secret, ServiceAccount. */
#include "api/pem.h"
#include "api/meta.h"
#include "api/validate/validate_parts.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/banned.h"

#define SECRET_TLS "kubernetes.io/tls"

enum { DATA_BYTES_MAX = 1 << 20 };

/* ---- Namespace ---- */

static void check_namespace_finalizer(struct field_errors *e, const struct field_path *path,
                                      struct str name)
{
    validate_name(e, path, NAME_QUALIFIED, name);
    if (!meta_is_finalizer(name))
        fault_text(e, path, name,
                   "name is neither a standard finalizer name nor is it fully qualified");
}

static void create_namespace(struct field_errors *e, const struct value *obj)
{
    value_each_item (it, value_dig(obj, "spec", "finalizers"))
        check_namespace_finalizer(e, path_at(path_root("spec"), "finalizers"), value_str(it));
}

static void update_namespace(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj)
{
    (void)old_obj;
    create_namespace(e, obj);
}

static void check_phase(struct field_errors *e, const struct value *obj)
{
    const struct field_path *path = path_at(path_root("status"), "Phase");
    struct str phase = value_str(value_dig(obj, "status", "phase"));
    bool deleted = validate_member(value_get(obj, STR("metadata")), "deletionTimestamp") != NULL;
    if (!deleted && !str_eq(phase, STR("Active")))
        fault_text(e, path, phase, "may only be 'Active' if `deletionTimestamp` is empty");
    if (deleted && !str_eq(phase, STR("Terminating")))
        fault_text(e, path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
}

static void update_namespace_status(struct field_errors *e, const struct value *obj,
                                    const struct value *old_obj)
{
    (void)old_obj;
    check_phase(e, obj);
}

static void finalize_namespace(struct field_errors *e, const struct value *obj,
                               const struct value *old_obj)
{
    const struct field_path *path = path_at(path_root("spec"), "finalizers");
    size_t i = 0;
    (void)old_obj;
    value_each_item (it, value_dig(obj, "spec", "finalizers"))
        check_namespace_finalizer(e, path_item(path, i++), value_str(it));
}

static const struct validate_sub namespace_subs[] = {
    { STR("finalize"), finalize_namespace },
    { .name = { NULL, 0 } },
};

/* ---- ConfigMap ---- */

/* How many bytes base64 stands for. */
static size_t decoded_bytes(struct str text)
{
    size_t padding = str_ends(text, STR("==")) ? 2 : str_ends(text, STR("=")) ? 1 : 0;
    return text.n / 4 * 3 - (text.n ? padding : 0);
}

static void create_config_map(struct field_errors *e, const struct value *obj)
{
    const struct value *binary = value_get(obj, STR("binaryData"));
    size_t bytes = 0;
    value_each_field (f, value_get(obj, STR("data"))) {
        const struct field_path *at = path_key(path_root("data"), f->key);
        validate_name(e, at, NAME_CONFIG_KEY, f->key);
        if (binary && validate_map_member(binary, f->key))
            fault_text(e, at, f->key, "duplicate of key present in binaryData");
        bytes += value_str(&f->val).n;
    }
    value_each_field (f, binary) {
        validate_name(e, path_key(path_root("binaryData"), f->key), NAME_CONFIG_KEY, f->key);
        bytes += decoded_bytes(value_str(&f->val));
    }
    if (bytes > DATA_BYTES_MAX)
        field_too_long(e, path_key(NULL, STR("")), DATA_BYTES_MAX); /* all of the object */
}

static void check_kept(struct field_errors *e, const struct field_path *path, const struct value *v,
                       const struct value *old)
{
    if (!validate_is_same(v, old))
        fault_forbidden(e, path, "field is immutable when `immutable` is set");
}

static void update_config_map(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    if (value_is_true(value_get(old_obj, STR("immutable")))) {
        check_kept(e, path_root("immutable"), value_get(obj, STR("immutable")),
                   value_get(old_obj, STR("immutable")));
        check_kept(e, path_root("data"), value_get(obj, STR("data")),
                   value_get(old_obj, STR("data")));
        check_kept(e, path_root("binaryData"), value_get(obj, STR("binaryData")),
                   value_get(old_obj, STR("binaryData")));
    }
    create_config_map(e, obj);
}

/* ---- Secret ---- */

static bool check_data_key(struct field_errors *e, const struct value *data, struct str key)
{
    return value_get(data, key) || fault_required(e, path_key(path_root("data"), key), "");
}

/* What Go says of text that should be a JSON object. */
static struct str object_fault(struct arena *a, struct str text)
{
    struct value v;
    struct str fault = json_fault(a, text);
    static const char *const names[] = {
        [VALUE_NULL] = NULL,       [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
        [VALUE_NUMBER] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
        [VALUE_OBJECT] = NULL,
    };
    if (fault.n)
        return fault;
    if (json_read(a, text, NULL, &v, NULL) < 0 || !names[v.type])
        return STR("");
    return arena_printf(a,
                        "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                        names[v.type]);
}

static void check_docker_config(struct field_errors *e, const struct value *data, struct str key)
{
    autobuf text = { 0 };
    if (!check_data_key(e, data, key))
        return;
    (void)base64_decode(&text, value_str(value_get(data, key)));
    struct str fault = object_fault(e->arena, buf_str(&text));
    if (fault.n)
        fault_text(e, path_key(path_root("data"), key), STR("<secret contents redacted>"), STR_FMT,
                   STR_ARG(fault));
}

static void check_account_token(struct field_errors *e, const struct value *obj,
                                const struct value *data)
{
    static const struct str account = STR("kubernetes.io/service-account.name");
    const struct value *noted = value_get(value_dig(obj, "metadata", "annotations"), account);
    const struct field_path *notes = path_at(path_root("metadata"), "annotations");
    (void)data;
    validate_required(e, path_key(notes, account), value_str(noted));
}

static void check_dockercfg(struct field_errors *e, const struct value *obj,
                            const struct value *data)
{
    (void)obj;
    check_docker_config(e, data, STR(".dockercfg"));
}

static void check_dockerconfigjson(struct field_errors *e, const struct value *obj,
                                   const struct value *data)
{
    (void)obj;
    check_docker_config(e, data, STR(".dockerconfigjson"));
}

static void check_basic_auth(struct field_errors *e, const struct value *obj,
                             const struct value *data)
{
    (void)obj;
    if (value_get(data, STR("username")) || value_get(data, STR("password")))
        return;
    (void)check_data_key(e, data, STR("username"));
    (void)check_data_key(e, data, STR("password"));
}

static void check_ssh_auth(struct field_errors *e, const struct value *obj,
                           const struct value *data)
{
    (void)obj;
    validate_required(e, path_key(path_root("data"), STR("ssh-privatekey")),
                      value_text(data, "ssh-privatekey"));
}

static void check_tls(struct field_errors *e, const struct value *obj, const struct value *data)
{
    (void)obj;
    (void)check_data_key(e, data, STR("tls.crt"));
    (void)check_data_key(e, data, STR("tls.key"));
}

/* What the data of a Secret must have, by its type. */
static const struct secret_type {
    struct str word;
    void (*check)(struct field_errors *e, const struct value *obj, const struct value *data);
} secret_types[] = {
    { STR("kubernetes.io/service-account-token"), check_account_token },
    { STR("kubernetes.io/dockercfg"), check_dockercfg },
    { STR("kubernetes.io/dockerconfigjson"), check_dockerconfigjson },
    { STR("kubernetes.io/basic-auth"), check_basic_auth },
    { STR("kubernetes.io/ssh-auth"), check_ssh_auth },
    { STR(SECRET_TLS), check_tls },
};

static void check_secret_type(struct field_errors *e, const struct value *obj,
                              const struct value *data)
{
    const struct secret_type *type = words_row(value_text(obj, "type"), secret_types);
    if (type)
        type->check(e, obj, data);
}

static void create_secret(struct field_errors *e, const struct value *obj)
{
    const struct value *data = value_get(obj, STR("data"));
    size_t bytes = 0;
    value_each_field (f, data) {
        validate_name(e, path_key(path_root("data"), f->key), NAME_CONFIG_KEY, f->key);
        bytes += decoded_bytes(value_str(&f->val));
    }
    if (bytes > DATA_BYTES_MAX)
        field_too_long(e, path_root("data"), DATA_BYTES_MAX);
    check_secret_type(e, obj, data);
}

static void update_secret(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    validate_immutable(e, path_root("type"), value_get(obj, STR("type")),
                       value_get(old_obj, STR("type")));
    if (value_is_true(value_get(old_obj, STR("immutable")))) {
        check_kept(e, path_root("immutable"), value_get(obj, STR("immutable")),
                   value_get(old_obj, STR("immutable")));
        check_kept(e, path_root("data"), value_get(obj, STR("data")),
                   value_get(old_obj, STR("data")));
    }
    create_secret(e, obj);
}

/* What Go's TLS says of a pair without a certificate or a key. Whether they fit is not looked at.
 */
static void warn_of_secret(struct validate_warnings *w, const struct value *obj,
                           const struct value *old_obj)
{
    static const struct {
        struct str key;
        const char *name;
    } parts[] = { { STR("tls.crt"), "certificate" }, { STR("tls.key"), "key" } };
    (void)old_obj;
    if (!str_eq(value_text(obj, "type"), STR(SECRET_TLS)))
        return;
    for (size_t i = 0; i < 2; i++) {
        autobuf text = { 0 };
        autopem block = { 0 };
        (void)base64_decode(&text, value_str(value_get(value_get(obj, STR("data")), parts[i].key)));
        struct str pem = buf_str(&text);
        if (pem_next(&pem, &block))
            continue;
        validate_add_warning(w, "tls: failed to find any PEM data in %s input", parts[i].name);
        return;
    }
}

/* ---- ServiceAccount ---- */

static void warn_of_account(struct validate_warnings *w, const struct value *obj,
                            const struct value *old_obj)
{
    static const struct str key = STR("kubernetes.io/enforce-mountable-secrets");
    const struct field_path *path = path_at(path_root("metadata"), "annotations");
    if (value_get(value_dig(obj, "metadata", "annotations"), key) &&
        !value_get(value_dig(old_obj, "metadata", "annotations"), key))
        validate_warn_at(
            w, path_key(path, key),
            "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted "
            "secrets");
}

const struct validate_rules validate__core[] = {
    { STR(""), STR("Namespace"), .create = create_namespace, .update = update_namespace,
      .update_status = update_namespace_status, .subs = namespace_subs },
    { STR(""), STR("ConfigMap"), .create = create_config_map, .update = update_config_map },
    { STR(""), STR("Secret"), .create = create_secret, .update = update_secret,
      .warn = warn_of_secret },
    { STR(""), STR("ServiceAccount"), .warn = warn_of_account },
    { .kind = { NULL, 0 } },
};
