#include "api/inner.h"

#include "api/text_diff.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/banned.h"

/* Of a name that is, or starts with, an abbreviation: JSON's, and Go's. */
static const struct {
    struct str json, go;
} abbreviations[] = {
    { STR("api"), STR("API") },   { STR("cel"), STR("CEL") },     { STR("cidr"), STR("CIDR") },
    { STR("csi"), STR("CSI") },   { STR("dns"), STR("DNS") },     { STR("fc"), STR("FC") },
    { STR("fs"), STR("FS") },     { STR("gce"), STR("GCE") },     { STR("grpc"), STR("GRPC") },
    { STR("http"), STR("HTTP") }, { STR("id"), STR("ID") },       { STR("ip"), STR("IP") },
    { STR("ipc"), STR("IPC") },   { STR("iscsi"), STR("ISCSI") }, { STR("nfs"), STR("NFS") },
    { STR("os"), STR("OS") },     { STR("pd"), STR("PD") },       { STR("pid"), STR("PID") },
    { STR("pkix"), STR("PKIX") }, { STR("qos"), STR("QOS") },     { STR("rbd"), STR("RBD") },
    { STR("se"), STR("SE") },     { STR("tcp"), STR("TCP") },     { STR("tls"), STR("TLS") },
    { STR("ttl"), STR("TTL") },   { STR("uid"), STR("UID") },     { STR("url"), STR("URL") },
    { STR("uuid"), STR("UUID") }, { STR("aws"), STR("AWS") },
};

/* "API" for "apiGroup" and "CIDR" for "cidrs", whose next letter is a capital or a plural s. */
static struct str abbreviation_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(abbreviations); i++) {
        struct str rest = str_skip(name, abbreviations[i].json.n);
        bool ends = rest.n == 0 || (rest.p[0] >= 'A' && rest.p[0] <= 'Z') ||
                    str_eq(rest, STR("s")) || (str_starts(rest, STR("s")) && rest.p[1] < 'a');
        if (str_starts(name, abbreviations[i].json) && ends)
            return abbreviations[i].go;
    }
    return STR("");
}

/* Names that are quite others in Go; of an empty type wherever they stand. */
static const struct {
    struct str type, json, go;
} renamed[] = {
    { STR("PodSpec"), STR("serviceAccount"), STR("DeprecatedServiceAccount") },
    { STR(""), STR("tty"), STR("TTY") },
    { STR(""), STR("gid"), STR("GID") },
    { STR(""), STR("wwids"), STR("WWIDs") },
    { STR(""), STR("iqn"), STR("IQN") },
    { STR(""), STR("chapAuthDiscovery"), STR("DiscoveryCHAPAuth") },
    { STR(""), STR("chapAuthSession"), STR("SessionCHAPAuth") },
    { STR(""), STR("cephfs"), STR("CephFS") },
    { STR(""), STR("storageos"), STR("StorageOS") },
    { STR(""), STR("sslEnabled"), STR("SSLEnabled") },
    { STR(""), STR("gmsaCredentialSpecName"), STR("GMSACredentialSpecName") },
    { STR(""), STR("gmsaCredentialSpec"), STR("GMSACredentialSpec") },
    { STR("AzureDiskVolumeSource"), STR("diskURI"), STR("DataDiskURI") },
    { STR("PhotonPersistentDiskVolumeSource"), STR("pdID"), STR("PdID") },
    { STR("ContainerStatus"), STR("lastState"), STR("LastTerminationState") },
    { STR("GlusterfsVolumeSource"), STR("endpoints"), STR("EndpointsName") },
    { STR("GlusterfsPersistentVolumeSource"), STR("endpoints"), STR("EndpointsName") },
    { STR("RBDVolumeSource"), STR("monitors"), STR("CephMonitors") },
    { STR("RBDVolumeSource"), STR("image"), STR("RBDImage") },
    { STR("RBDVolumeSource"), STR("pool"), STR("RBDPool") },
    { STR("RBDVolumeSource"), STR("user"), STR("RadosUser") },
    { STR("RBDPersistentVolumeSource"), STR("monitors"), STR("CephMonitors") },
    { STR("RBDPersistentVolumeSource"), STR("image"), STR("RBDImage") },
    { STR("RBDPersistentVolumeSource"), STR("pool"), STR("RBDPool") },
    { STR("RBDPersistentVolumeSource"), STR("user"), STR("RadosUser") },
    { STR("JSONSchemaProps"), STR("$schema"), STR("Schema") },
    { STR("JSONSchemaProps"), STR("$ref"), STR("Ref") },
    { STR(""), STR("x-kubernetes-preserve-unknown-fields"), STR("XPreserveUnknownFields") },
    { STR(""), STR("x-kubernetes-embedded-resource"), STR("XEmbeddedResource") },
    { STR(""), STR("x-kubernetes-int-or-string"), STR("XIntOrString") },
    { STR(""), STR("x-kubernetes-list-map-keys"), STR("XListMapKeys") },
    { STR(""), STR("x-kubernetes-list-type"), STR("XListType") },
    { STR(""), STR("x-kubernetes-map-type"), STR("XMapType") },
    { STR(""), STR("x-kubernetes-validations"), STR("XValidations") },
};

static struct str renamed_as(struct str type, struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
        if (str_eq(renamed[i].json, name) && (!renamed[i].type.n || str_eq(renamed[i].type, type)))
            return renamed[i].go;
    return STR("");
}

static struct str go_name(struct arena *a, struct str type, struct str name)
{
    struct str other = renamed_as(type, name);
    if (other.n)
        return other;
    struct str start = abbreviation_of(name);
    if (start.n) {
        struct str rest = str_skip(name, start.n);
        return arena_printf(a, STR_FMT STR_FMT, STR_ARG(start), STR_ARG(rest));
    }
    char *copy = arena_dup(a, name.p, name.n);
    if (name.n && copy[0] >= 'a' && copy[0] <= 'z')
        copy[0] = (char)(copy[0] & ~0x20);
    return (struct str){ copy, name.n };
}

static struct value inner_struct(struct arena *a, const struct kind_type *t, const struct value *v);
static struct value inner_items(struct arena *a, const struct kind_field *f, const struct value *v);

static bool keeps_json(const struct kind_type *t)
{
    return str_eq(t->group, STR("meta")) || t->form != KIND_FORM_OBJECT;
}

/* A schema or something else: JSON has one of them, Go a field for each. */
static bool is_schema_or(const struct kind_type *t)
{
    return str_starts(t->name, STR("JSONSchemaPropsOr"));
}

static struct value inner_schema_or(struct arena *a, const struct kind_type *t,
                                    const struct value *v)
{
    struct value out = value_object();
    bool is_schema = v->type == VALUE_OBJECT;
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        struct value part = value_null();
        if (f->scalar == KIND_BOOL)
            part = value_bool(is_schema || (v->type == VALUE_BOOL && v->b));
        else if (f->shape == KIND_LIST && v->type == VALUE_ARRAY)
            part = inner_items(a, f, v);
        else if (f->shape == KIND_SINGLE && is_schema)
            part = inner_struct(a, f->type, v);
        value_add(a, &out, go_name(a, t->name, f->name), part);
    }
    return out;
}

static struct value inner_one(struct arena *a, const struct kind_field *f, const struct value *v)
{
    if (f->scalar == KIND_STRUCT && is_schema_or(f->type))
        return inner_schema_or(a, f->type, v);
    if (f->scalar == KIND_STRUCT && !keeps_json(f->type))
        return inner_struct(a, f->type, v);
    return value_borrow(v);
}

static struct value inner_unset(struct arena *a, const struct kind_field *f)
{
    if ((f->flags & KIND_POINTER) || f->shape != KIND_SINGLE)
        return value_null();
    switch (f->scalar) {
    case KIND_STRING:
        return value_string(STR(""));
    case KIND_INT32:
    case KIND_INT64:
    case KIND_DOUBLE:
    case KIND_INT_OR_STRING:
        return value_int(0);
    case KIND_BOOL:
        return value_bool(false);
    case KIND_QUANTITY:
        return value_string(STR("0"));
    case KIND_DURATION:
        return value_string(STR("0s"));
    case KIND_STRUCT:
        return keeps_json(f->type) ? value_object() : inner_struct(a, f->type, NULL);
    default:
        return value_null();
    }
}

static struct value inner_items(struct arena *a, const struct kind_field *f, const struct value *v)
{
    struct value out = f->shape == KIND_MAP ? value_object() : value_array();
    value_each_field (entry, v)
        value_add(a, &out, entry->key, inner_one(a, f, &entry->val));
    value_each_item (it, v)
        value_push(a, &out, inner_one(a, f, it));
    return out;
}

static void add_field(struct arena *a, struct value *out, const struct kind_type *t,
                      const struct kind_field *f, const struct value *v)
{
    const struct value *field = value_get(v, f->name);
    struct value inner = !field || field->type == VALUE_NULL ? inner_unset(a, f)
                         : f->shape == KIND_SINGLE           ? inner_one(a, f, field)
                                                             : inner_items(a, f, field);
    value_add(a, out, go_name(a, t->name, f->name), inner);
}

/* The one field that stands elsewhere in Go. */
static const struct str moved = STR("nullable"), moved_behind = STR("type");

static void add_fields(struct arena *a, struct value *out, const struct kind_type *t,
                       const struct value *v)
{
    bool moves = str_eq(t->name, STR("JSONSchemaProps"));
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (f->flags & KIND_INLINE) {
            add_fields(a, out, f->type, v);
            continue;
        }
        if (str_eq(f->name, STR("metadata"))) {
            /* Embedded metadata have JSON names in every form, and show what is set only. */
            value_each_field (meta, value_get(v, f->name))
                value_add(a, out, meta->key, value_borrow(&meta->val));
            continue;
        }
        if (!moves || !str_eq(f->name, moved))
            add_field(a, out, t, f, v);
        if (moves && str_eq(f->name, moved_behind))
            add_field(a, out, t, kind_field_find(t, moved), v);
    }
}

static struct value inner_struct(struct arena *a, const struct kind_type *t, const struct value *v)
{
    struct value out = value_object();
    add_fields(a, &out, t, v);
    return out;
}

/* Whatever it is of: a struct, a list of them, or nothing. */
static struct value inner_value(struct arena *a, struct str api_version, struct str type,
                                const struct value *v)
{
    struct str version = api_version, group = STR("");
    if (str_find(api_version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_type *t = kind_type_find(group, version, type);
    if (!v || v->type == VALUE_NULL)
        return value_null();
    if (!t)
        return value_borrow(v);
    struct kind_field items = { .scalar = KIND_STRUCT, .shape = KIND_LIST, .type = t };
    return v->type == VALUE_ARRAY ? inner_items(a, &items, v) : inner_struct(a, t, v);
}

static bool is_full(const struct field_errors *e)
{
    return e->n >= LIMIT_FIELD_ERRORS || e->bytes >= LIMIT_FIELD_ERROR_BYTES;
}

struct str inner_json(struct field_errors *e, struct str api_version, struct str type,
                      const struct value *v)
{
    if (is_full(e))
        return STR("");
    struct value inner = inner_value(e->arena, api_version, type, v);
    return field_json(e, &inner);
}

/* As Go's MarshalIndent with one space does it. */
static void write_indented(struct buf *out, const struct value *v, int depth)
{
    bool list = v->type == VALUE_ARRAY;
    if ((!list && v->type != VALUE_OBJECT) || !v->n) {
        json_write(out, v);
        return;
    }
    buf_byte(out, list ? '[' : '{');
    for (size_t i = 0; i < v->n; i++) {
        buf_printf(out, "%s\n%*s", i ? "," : "", depth + 1, "");
        if (!list) {
            json_write_string(out, v->fields[i].key);
            buf_str_add(out, STR(": "));
        }
        write_indented(out, list ? &v->items[i] : &v->fields[i].val, depth + 1);
    }
    buf_printf(out, "\n%*s%c", depth, "", list ? ']' : '}');
}

struct str inner_diff(struct field_errors *e, struct str api_version, struct str type,
                      const struct value *old, const struct value *new_val)
{
    autobuf before = { 0 }, after = { 0 }, diff = { 0 };
    if (is_full(e))
        return STR("");
    struct value inner = inner_value(e->arena, api_version, type, old);
    write_indented(&before, &inner, 0);
    inner = inner_value(e->arena, api_version, type, new_val);
    write_indented(&after, &inner, 0);
    text_diff(&diff, e->arena, buf_str(&before), buf_str(&after));
    return arena_str(e->arena, buf_str(&diff));
}
