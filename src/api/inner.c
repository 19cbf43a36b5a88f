#include "api/inner.h"

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
    for (size_t i = 0; i < sizeof(abbreviations) / sizeof(abbreviations[0]); i++) {
        struct str rest = str_skip(name, abbreviations[i].json.n);
        bool ends = rest.n == 0 || (rest.p[0] >= 'A' && rest.p[0] <= 'Z') ||
                    str_eq(rest, STR("s")) || (str_starts(rest, STR("s")) && rest.p[1] < 'a');
        if (str_starts(name, abbreviations[i].json) && ends)
            return abbreviations[i].go;
    }
    return STR("");
}

static void write_name(struct buf *out, struct str name)
{
    struct str start = abbreviation_of(name);
    buf_byte(out, '"');
    if (start.n) {
        buf_str_add(out, start);
    } else {
        start = str_take(name, 1);
        buf_byte(out, (char)(name.p[0] >= 'a' && name.p[0] <= 'z' ? name.p[0] & ~0x20 : name.p[0]));
    }
    buf_str_add(out, str_skip(name, start.n));
    buf_str_add(out, STR("\":"));
}

static void write_struct(struct buf *out, const struct kind_type *t, const struct value *v);

static bool keeps_json(const struct kind_type *t)
{
    return str_eq(t->group, STR("meta")) || t->form != KIND_FORM_OBJECT;
}

static void write_one(struct buf *out, const struct kind_field *f, const struct value *v)
{
    if (f->scalar == KIND_STRUCT && !keeps_json(f->type)) {
        write_struct(out, f->type, v);
        return;
    }
    json_write(out, v);
}

static void write_unset(struct buf *out, const struct kind_field *f)
{
    if ((f->flags & KIND_POINTER) || f->shape != KIND_SINGLE) {
        buf_str_add(out, STR("null"));
        return;
    }
    switch (f->scalar) {
    case KIND_STRING:
        buf_str_add(out, STR("\"\""));
        break;
    case KIND_INT32:
    case KIND_INT64:
    case KIND_DOUBLE:
    case KIND_INT_OR_STRING:
        buf_byte(out, '0');
        break;
    case KIND_BOOL:
        buf_str_add(out, STR("false"));
        break;
    case KIND_QUANTITY:
        buf_str_add(out, STR("\"0\""));
        break;
    case KIND_DURATION:
        buf_str_add(out, STR("\"0s\""));
        break;
    case KIND_STRUCT:
        if (keeps_json(f->type))
            buf_str_add(out, STR("{}"));
        else
            write_struct(out, f->type, NULL);
        break;
    default:
        buf_str_add(out, STR("null"));
    }
}

static void write_items(struct buf *out, const struct kind_field *f, const struct value *v)
{
    bool first = true;
    if (f->shape == KIND_MAP) {
        buf_byte(out, '{');
        value_each_field (entry, v) {
            if (!first)
                buf_byte(out, ',');
            first = false;
            json_write_string(out, entry->key);
            buf_byte(out, ':');
            write_one(out, f, &entry->val);
        }
        buf_byte(out, '}');
        return;
    }
    buf_byte(out, '[');
    value_each_item (it, v) {
        if (!first)
            buf_byte(out, ',');
        first = false;
        write_one(out, f, it);
    }
    buf_byte(out, ']');
}

static void write_fields(struct buf *out, const struct kind_type *t, const struct value *v,
                         bool *first)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (f->flags & KIND_INLINE) {
            write_fields(out, f->type, v, first);
            continue;
        }
        /* Embedded metadata have JSON names in every form, and show what is set only. */
        const struct value *field = value_get(v, f->name);
        if (str_eq(f->name, STR("metadata"))) {
            value_each_field (meta, field) {
                buf_printf(out, "%s", *first ? "" : ",");
                *first = false;
                json_write_string(out, meta->key);
                buf_byte(out, ':');
                json_write(out, &meta->val);
            }
            continue;
        }
        buf_printf(out, "%s", *first ? "" : ",");
        *first = false;
        write_name(out, f->name);
        if (!field || field->type == VALUE_NULL)
            write_unset(out, f);
        else if (f->shape == KIND_SINGLE)
            write_one(out, f, field);
        else
            write_items(out, f, field);
    }
}

static void write_struct(struct buf *out, const struct kind_type *t, const struct value *v)
{
    bool first = true;
    buf_byte(out, '{');
    write_fields(out, t, v, &first);
    buf_byte(out, '}');
}

struct str inner_json(struct field_errors *e, struct str api_version, struct str type,
                      const struct value *v)
{
    struct str version = api_version, group = STR("");
    if (e->n >= LIMIT_FIELD_ERRORS || e->bytes >= LIMIT_FIELD_ERROR_BYTES)
        return STR("");
    if (str_find(api_version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_type *t = kind_type_find(group, version, type);
    if (!t || !v || v->type == VALUE_NULL)
        return field_json(e, v);
    autobuf out = { 0 };
    struct kind_field items = { .scalar = KIND_STRUCT, .shape = KIND_LIST, .type = t };
    if (v->type == VALUE_ARRAY)
        write_items(&out, &items, v);
    else
        write_struct(&out, t, v);
    return arena_str(e->arena, buf_str(&out));
}
