#include "server/encode.h"

#include <stdlib.h>

#include "api/cbor.h"
#include "api/columns.h"
#include "api/convert.h"
#include "api/proto.h"
#include "base/json.h"
#include "base/yaml.h"
#include "server/stored.h"
#include "base/banned.h"

/* ---- Trees ---- */

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct value_field *)a)->key, ((const struct value_field *)b)->key);
}

/* Upstream makes YAML from a map, whose keys come sorted. */
static struct value sorted(struct arena *a, const struct value *v)
{
    struct value out = *v;
    if (!v->n)
        return out;
    if (v->type == VALUE_ARRAY) {
        out = value_array();
        for (size_t i = 0; i < v->n; i++)
            (void)value_push(a, &out, sorted(a, &v->items[i]));
    } else if (v->type == VALUE_OBJECT) {
        struct value_field *fields = arena_array(a, struct value_field, v->n);
        memcpy(fields, v->fields, v->n * sizeof(*fields));
        qsort(fields, v->n, sizeof(*fields), by_key);
        out = value_object();
        for (size_t i = 0; i < v->n; i++)
            (void)value_add(a, &out, fields[i].key, sorted(a, &fields[i].val));
    }
    return out;
}

void encode_tree(struct buf *out, struct arena *a, const struct format *f,
                 const struct kind_type *type, const struct value *obj)
{
    switch (f->media) {
    case FORMAT_JSON:
        if (f->pretty)
            json_write_pretty(out, obj);
        else
            json_write(out, obj);
        buf_byte(out, '\n');
        break;
    case FORMAT_YAML: {
        struct value by_name = sorted(a, obj);
        yaml_write(out, &by_name);
        break;
    }
    case FORMAT_PROTO:
        proto_envelope_write(out, type, obj);
        break;
    case FORMAT_CBOR:
        cbor_write(out, type, obj);
        break;
    }
}

/* ---- Metadata alone ---- */

static struct str meta_version(const struct format *f)
{
    return f->beta ? STR("meta.k8s.io/v1beta1") : STR("meta.k8s.io/v1");
}

struct value encode_partial(struct arena *a, const struct encoder *e, const struct value *obj)
{
    struct value partial = value_object();
    const struct value *meta = value_get(obj, STR("metadata"));
    (void)value_add(a, &partial, STR("kind"), value_string(STR("PartialObjectMetadata")));
    (void)value_add(a, &partial, STR("apiVersion"), value_string(meta_version(&e->format)));
    if (meta)
        (void)value_add(a, &partial, STR("metadata"), value_borrow(meta));
    return partial;
}

/* ---- Tables ---- */

int encode_include_parse(struct str text, enum encode_include *ret, struct err *err)
{
    if (!text.n || str_eq(text, STR("Metadata")))
        *ret = ENCODE_META;
    else if (str_eq(text, STR("None")))
        *ret = ENCODE_NONE;
    else if (str_eq(text, STR("Object")))
        *ret = ENCODE_OBJECT;
    else
        return err_set(err, ERR_BAD_REQUEST,
                       "Unable to convert to Table as requested: includeObject: Invalid value: "
                       "\"" STR_FMT "\": must be 'Metadata', 'Object', 'None', or empty",
                       STR_ARG(text));
    return 0;
}

struct value encode_row(struct arena *a, const struct encoder *e, const struct value *obj)
{
    struct value row = value_object(), shown = value_null();
    if (e->include == ENCODE_META)
        shown = encode_partial(a, e, obj);
    else if (e->include == ENCODE_OBJECT)
        shown = value_borrow(obj);
    (void)value_add(a, &row, STR("cells"), columns_row(a, e->resource, obj, e->now_ns));
    struct value conditions = columns_conditions(a, e->resource, obj);
    if (conditions.type != VALUE_NULL)
        (void)value_add(a, &row, STR("conditions"), conditions);
    (void)value_add(a, &row, STR("object"), shown);
    return row;
}

struct value encode_table_head(struct arena *a, const struct encoder *e)
{
    struct value table = value_object();
    (void)value_add(a, &table, STR("kind"), value_string(STR("Table")));
    (void)value_add(a, &table, STR("apiVersion"), value_string(meta_version(&e->format)));
    return table;
}

static void encode_table(struct buf *out, struct arena *a, const struct encoder *e,
                         const struct value *obj)
{
    struct value table = encode_table_head(a, e), meta = value_object(), rows = value_array();
    const struct value *rev = value_dig(obj, "metadata", "resourceVersion");
    if (rev)
        (void)value_add(a, &meta, STR("resourceVersion"), value_borrow(rev));
    (void)value_push(a, &rows, encode_row(a, e, obj));
    (void)value_add(a, &table, STR("metadata"), meta);
    (void)value_add(a, &table, STR("columnDefinitions"), columns_definitions(a, e->resource));
    (void)value_add(a, &table, STR("rows"), rows);
    encode_tree(out, a, &e->format, NULL, &table);
}

/* ---- Objects ---- */

void encode_object(struct buf *out, struct arena *a, const struct encoder *e,
                   const struct value *obj)
{
    switch (e->format.as) {
    case FORMAT_OBJECT:
        encode_tree(out, a, &e->format, e->resource->type, obj);
        break;
    case FORMAT_TABLE:
        encode_table(out, a, e, obj);
        break;
    case FORMAT_PARTIAL:
    case FORMAT_PARTIAL_LIST: {
        struct value partial = encode_partial(a, e, obj);
        const struct kind_type *type =
            kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadata"));
        encode_tree(out, a, &e->format, type, &partial);
        break;
    }
    }
}

int encode_read(struct arena *a, const struct encoder *e, const struct store_entry *entry,
                struct value *ret, struct err *err)
{
    struct value stored;
    int r = stored_read(a, e->stored->type, entry, &stored, err);
    if (r < 0)
        return r;
    return convert_object(a, e->stored->type, e->resource->type, &stored, ret, err);
}

int encode_entry(struct buf *out, struct arena *a, const struct encoder *e,
                 const struct store_entry *entry, struct err *err)
{
    bool spliced = e->format.media == FORMAT_JSON && !e->format.pretty;
    bool whole = e->format.as == FORMAT_OBJECT && e->resource == e->stored;
    if (spliced && (whole || e->format.as == FORMAT_PARTIAL)) {
        struct stored s = { 0 };
        int r = stored_open(entry, &s, err);
        if (r < 0)
            return r;
        if (whole)
            stored_splice(out, &s, e->stored->type);
        else
            stored_splice_meta(out, &s, e->format.beta);
        buf_byte(out, '\n');
        return 0;
    }
    struct value obj;
    int r = encode_read(a, e, entry, &obj, err);
    if (r < 0)
        return r;
    encode_object(out, a, e, &obj);
    return 0;
}

struct str encode_package(struct str group)
{
    return group.n ? str_cut(&group, '.') : STR("core");
}
