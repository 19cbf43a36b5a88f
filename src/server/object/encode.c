#include "server/object/encode.h"

#include "api/codec/cbor.h"
#include "api/columns/columns.h"
#include "api/convert/convert.h"
#include "api/codec/proto.h"
#include "api/keys.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/yaml.h"
#include "merge/sorted.h"
#include "server/object/stored.h"
#include "base/banned.h"

/* ---- Trees ---- */

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
        struct value by_name = sorted_copy(a, obj); /* upstream makes YAML from a map */
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

void encode_hide(struct arena *a, const struct encoder *e, struct value *obj)
{
    if (e->format.managers != FORMAT_MANAGERS_HIDDEN ||
        !value_dig(obj, "metadata", "managedFields"))
        return;
    value_drop(a, value_edit(a, obj, STR("metadata")), STR("managedFields"));
}

struct value encode_partial(struct arena *a, const struct encoder *e, const struct value *obj)
{
    struct value partial = value_object();
    const struct value *meta = value_get(obj, STR("metadata"));
    value_put_new(a, &partial, STR("kind"), value_string(STR("PartialObjectMetadata")));
    value_put_new(a, &partial, STR("apiVersion"), value_string(meta_version(&e->format)));
    if (meta)
        value_put_new(a, &partial, STR("metadata"), value_borrow(meta));
    encode_hide(a, e, &partial);
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

/* Annotations that stand for fields which today's version has no more. Upstream's inner form has
 * the fields, and rows show the metadata of that. */
static void hide_annotations(struct arena *a, struct value *partial)
{
    static const struct str hidden[] = { STR(KEY_TEMPLATE_GENERATION),
                                         STR("deprecated.deployment.rollback.to") };
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
        if (!value_get(value_dig(partial, "metadata", "annotations"), hidden[i]))
            continue;
        struct value *meta = value_edit(a, partial, STR("metadata"));
        struct value *annotations = value_edit(a, meta, STR("annotations"));
        value_drop(a, annotations, hidden[i]);
        if (!annotations->n)
            value_drop(a, meta, STR("annotations"));
    }
}

static bool is_workload(const struct kind_resource *r)
{
    return str_eq(r->group, STR("apps"));
}

static int to_asked(struct arena *a, const struct encoder *e, const struct value *obj,
                    struct value *ret, struct err *err)
{
    *ret = value_borrow(obj);
    if (e->resource == e->stored)
        return 0;
    struct value in = *ret;
    return convert_object(a, e->stored->type, e->resource->type, &in, ret, err);
}

int encode_row_of(struct arena *a, const struct encoder *e, const struct value *obj,
                  struct value cells, struct value *ret, struct err *err)
{
    struct value row = value_object(), shown = value_null();
    if (e->include == ENCODE_META) {
        shown = encode_partial(a, e, obj);
        if (is_workload(e->stored))
            hide_annotations(a, &shown);
    } else if (e->include == ENCODE_OBJECT) {
        int r = to_asked(a, e, obj, &shown, err);
        if (r < 0)
            return r;
        encode_hide(a, e, &shown);
    }
    value_put_new(a, &row, STR("cells"), cells);
    struct value conditions = columns_conditions(a, e->stored, obj);
    if (conditions.type != VALUE_NULL)
        value_put_new(a, &row, STR("conditions"), conditions);
    value_put_new(a, &row, STR("object"), shown);
    *ret = row;
    return 0;
}

int encode_row(struct arena *a, const struct encoder *e, const struct value *obj, struct value *ret,
               struct err *err)
{
    return encode_row_of(a, e, obj, columns_row(a, e->stored, obj, e->now_ns, e->work), ret, err);
}

struct value encode_table_head(struct arena *a, const struct encoder *e)
{
    struct value table = value_object();
    value_put_new(a, &table, STR("kind"), value_string(STR("Table")));
    value_put_new(a, &table, STR("apiVersion"), value_string(meta_version(&e->format)));
    return table;
}

int encode_table_of(struct arena *a, const struct encoder *e, const struct value *obj, bool columns,
                    struct value *ret, struct err *err)
{
    struct value table = encode_table_head(a, e), meta = value_object(), rows = value_array(), row;
    const struct value *rev = value_dig(obj, "metadata", "resourceVersion");
    int r = encode_row(a, e, obj, &row, err);
    if (r < 0)
        return r;
    if (rev)
        value_put_new(a, &meta, STR("resourceVersion"), value_borrow(rev));
    value_put_item(a, &rows, row);
    value_put_new(a, &table, STR("metadata"), meta);
    value_put_new(a, &table, STR("columnDefinitions"),
                  columns ? columns_definitions(a, e->stored) : value_null());
    value_put_new(a, &table, STR("rows"), rows);
    *ret = table;
    return 0;
}

/* ---- Objects ---- */

int encode_object(struct buf *out, struct arena *a, const struct encoder *e,
                  const struct value *obj, struct err *err)
{
    struct value shown;
    const struct kind_type *type = e->resource->type;
    int r;
    switch (e->format.as) {
    case FORMAT_OBJECT:
        r = to_asked(a, e, obj, &shown, err);
        if (r < 0)
            return r;
        encode_hide(a, e, &shown);
        break;
    case FORMAT_TABLE:
        r = encode_table_of(a, e, obj, true, &shown, err);
        if (r < 0)
            return r;
        type = NULL;
        break;
    case FORMAT_PARTIAL:
    case FORMAT_PARTIAL_LIST:
        shown = encode_partial(a, e, obj);
        type = kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadata"));
        break;
    }
    encode_tree(out, a, &e->format, type, &shown);
    return 0;
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

bool encode_splices(const struct encoder *e, const struct store_entry *entry)
{
    if (e->format.media != FORMAT_JSON || e->format.pretty)
        return false;
    if (e->format.as == FORMAT_OBJECT)
        return e->resource == e->stored && stored_fits(entry, e->stored);
    return e->format.as == FORMAT_PARTIAL;
}

int encode_entry(struct buf *out, struct arena *a, const struct encoder *e,
                 const struct store_entry *entry, struct err *err)
{
    if (encode_splices(e, entry)) {
        struct stored s = { 0 };
        int r = stored_open(entry, &s, err);
        if (r < 0)
            return r;
        if (e->format.managers == FORMAT_MANAGERS_HIDDEN)
            stored_hide_managers(&s);
        if (e->format.as == FORMAT_OBJECT)
            stored_splice(out, &s, e->stored->type);
        else
            stored_splice_meta(out, &s, e->format.beta);
        buf_byte(out, '\n');
        return 0;
    }
    struct value obj;
    int r = stored_read(a, e->stored->type, entry, &obj, err);
    return r < 0 ? r : encode_object(out, a, e, &obj, err);
}

struct str encode_package(struct str group)
{
    return group.n ? str_cut(&group, '.') : STR("core");
}
