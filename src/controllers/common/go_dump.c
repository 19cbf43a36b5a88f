#include "controllers/common/go_dump.h"

#include <stdlib.h>

#include "api/go_type.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "controllers/common/go_dump_quantity.h"
#include "base/banned.h"

/* ---- Go's names of fields ---- */

struct go_name {
    struct str type; /* empty: of any */
    struct str json, go;
};

/* What is not the JSON name with a capital, in what pod templates are made of. */
/* clang-format off */
static const struct go_name go_names[] = {
    { STR("PodSpec"), STR("serviceAccount"), STR("DeprecatedServiceAccount") },
    { STR("PodSpec"), STR("os"), STR("OS") },
    { STR("RBDVolumeSource"), STR("monitors"), STR("CephMonitors") },
    { STR("RBDVolumeSource"), STR("image"), STR("RBDImage") },
    { STR("RBDVolumeSource"), STR("pool"), STR("RBDPool") },
    { STR("RBDVolumeSource"), STR("user"), STR("RadosUser") },
    { STR("GlusterfsVolumeSource"), STR("endpoints"), STR("EndpointsName") },
    { STR("AzureDiskVolumeSource"), STR("diskURI"), STR("DataDiskURI") },
    { STR("ISCSIVolumeSource"), STR("chapAuthDiscovery"), STR("DiscoveryCHAPAuth") },
    { STR("ISCSIVolumeSource"), STR("chapAuthSession"), STR("SessionCHAPAuth") },
    { STR(""), STR("apiGroup"), STR("APIGroup") },
    { STR(""), STR("apiVersion"), STR("APIVersion") },
    { STR(""), STR("awsElasticBlockStore"), STR("AWSElasticBlockStore") },
    { STR(""), STR("cephfs"), STR("CephFS") },
    { STR(""), STR("csi"), STR("CSI") },
    { STR(""), STR("dnsConfig"), STR("DNSConfig") },
    { STR(""), STR("dnsPolicy"), STR("DNSPolicy") },
    { STR(""), STR("fc"), STR("FC") },
    { STR(""), STR("fsGroup"), STR("FSGroup") },
    { STR(""), STR("fsGroupChangePolicy"), STR("FSGroupChangePolicy") },
    { STR(""), STR("fsType"), STR("FSType") },
    { STR(""), STR("gcePersistentDisk"), STR("GCEPersistentDisk") },
    { STR(""), STR("gmsaCredentialSpec"), STR("GMSACredentialSpec") },
    { STR(""), STR("gmsaCredentialSpecName"), STR("GMSACredentialSpecName") },
    { STR(""), STR("grpc"), STR("GRPC") },
    { STR(""), STR("httpGet"), STR("HTTPGet") },
    { STR(""), STR("httpHeaders"), STR("HTTPHeaders") },
    { STR(""), STR("ip"), STR("IP") },
    { STR(""), STR("iqn"), STR("IQN") },
    { STR(""), STR("iscsi"), STR("ISCSI") },
    { STR(""), STR("iscsiInterface"), STR("ISCSIInterface") },
    { STR(""), STR("nfs"), STR("NFS") },
    { STR(""), STR("pdName"), STR("PDName") },
    { STR(""), STR("rbd"), STR("RBD") },
    { STR(""), STR("seLinuxChangePolicy"), STR("SELinuxChangePolicy") },
    { STR(""), STR("seLinuxOptions"), STR("SELinuxOptions") },
    { STR(""), STR("sslEnabled"), STR("SSLEnabled") },
    { STR(""), STR("storageos"), STR("StorageOS") },
    { STR(""), STR("tcpSocket"), STR("TCPSocket") },
    { STR(""), STR("tty"), STR("TTY") },
    { STR(""), STR("uid"), STR("UID") },
    { STR(""), STR("wwids"), STR("WWIDs") },
};
/* clang-format on */

/* Structs inside of structs go by the name of their type; metadata always is one. */
static bool is_embedded(const struct kind_field *f)
{
    return (f->flags & KIND_INLINE) ||
           (f->scalar == KIND_STRUCT && str_eq(f->type->name, STR("ObjectMeta")));
}

static void dump_name(struct buf *out, const struct kind_type *t, const struct kind_field *f)
{
    if (is_embedded(f)) {
        buf_str_add(out, f->type->name);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(go_names); i++)
        if (str_eq(go_names[i].json, f->name) &&
            (!go_names[i].type.n || str_eq(go_names[i].type, t->name))) {
            buf_str_add(out, go_names[i].go);
            return;
        }
    buf_byte(out,
             (char)(f->name.p[0] >= 'a' && f->name.p[0] <= 'z' ? f->name.p[0] - 32 : f->name.p[0]));
    buf_str_add(out, str_skip(f->name, 1));
}

/* ---- Types ---- */

static void dump_type(struct buf *out, const struct kind_field *f)
{
    if (f->shape == KIND_SINGLE && (f->flags & KIND_POINTER))
        buf_byte(out, '*');
    go_type_field(out, f);
}

/* ---- Values ---- */

static void dump_struct(struct buf *out, const struct kind_type *t, const struct value *v);

static void dump_int_or_string(struct buf *out, const struct value *v)
{
    int64_t i = 0;
    (void)value_to_int(v, &i);
    buf_printf(out, "{Type:(intstr.Type)%d IntVal:(int32)%lld StrVal:(string)" STR_FMT "}",
               value_is(v, VALUE_STRING), (long long)i, STR_ARG(value_str(v)));
}

static void dump_one(struct buf *out, const struct kind_field *f, const struct value *v)
{
    int64_t i = 0;
    switch (f->scalar) {
    case KIND_STRUCT:
        dump_struct(out, f->type, v);
        break;
    case KIND_QUANTITY:
        go_dump_quantity(out, value_str(v));
        break;
    case KIND_INT_OR_STRING:
        dump_int_or_string(out, v);
        break;
    case KIND_BOOL:
        buf_printf(out, "%s", value_is_true(v) ? "true" : "false");
        break;
    case KIND_INT32:
    case KIND_INT64:
        (void)value_to_int(v, &i);
        buf_printf(out, "%lld", (long long)i);
        break;
    case KIND_TIME: /* templates have none */
        buf_printf(out,
                   "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}");
        break;
    default:
        buf_str_add(out, value_str(v));
    }
}

static void dump_list(struct buf *out, const struct kind_field *f, const struct value *v)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < v->n; i++) {
        if (i)
            buf_byte(out, ' ');
        dump_one(out, f, value_at(v, i));
    }
    buf_byte(out, ']');
}

static int by_key(const void *a, const void *b)
{
    const struct value_field *const *x = a, *const *y = b;
    return str_cmp((*x)->key, (*y)->key);
}

static void dump_map(struct buf *out, const struct kind_field *f, const struct value *v)
{
    autofree const struct value_field **sorted = mem_array(v->n, sizeof(*sorted));
    size_t n = 0;
    value_each_field (field, v)
        sorted[n++] = field;
    qsort(sorted, n, sizeof(*sorted), by_key);
    buf_printf(out, "map[");
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s" STR_FMT ":", i ? " " : "", STR_ARG(sorted[i]->key));
        dump_one(out, f, &sorted[i]->val);
    }
    buf_byte(out, ']');
}

/* Lists and maps that are empty are as good as none: upstream's store cannot tell them apart. */
static void dump_field_value(struct buf *out, const struct kind_field *f, const struct value *v)
{
    const bool is_absent = !v || value_is(v, VALUE_NULL);
    if (f->shape == KIND_LIST || f->shape == KIND_MAP) {
        if (is_absent || !v->n)
            buf_printf(out, "<nil>");
        else if (f->shape == KIND_LIST)
            dump_list(out, f, v);
        else
            dump_map(out, f, v);
    } else if ((f->flags & KIND_POINTER) && is_absent) {
        buf_printf(out, "<nil>");
    } else {
        dump_one(out, f, v);
    }
}

static void dump_struct(struct buf *out, const struct kind_type *t, const struct value *v)
{
    bool is_first = true;
    buf_byte(out, '{');
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (f->flags & KIND_OLD)
            continue;
        if (!is_first)
            buf_byte(out, ' ');
        is_first = false;
        dump_name(out, t, f);
        buf_printf(out, ":(");
        dump_type(out, f);
        buf_byte(out, ')');
        dump_field_value(out, f, f->flags & KIND_INLINE ? v : value_get(v, f->name));
    }
    buf_byte(out, '}');
}

void go_dump(struct buf *out, const struct kind_type *t, const struct value *v)
{
    buf_byte(out, '(');
    go_type_struct(out, t);
    buf_byte(out, ')');
    dump_struct(out, t, v);
}
