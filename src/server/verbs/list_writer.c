#include "server/verbs/list_writer.h"

#include "api/codec/cbor.h"
#include "api/columns/columns.h"
#include "api/convert/convert.h"
#include "api/codec/proto.h"
#include "base/json.h"
#include "server/object/stored.h"
#include "server/object/wire.h"
#include "base/banned.h"

unsigned list_writer_needs(const struct format *f)
{
    switch (f->media) {
    case FORMAT_JSON:
        return LIST_WRITER_TOKEN;
    case FORMAT_YAML:
        return f->as == FORMAT_TABLE ? LIST_WRITER_TOKEN : 0;
    case FORMAT_CBOR:
        return LIST_WRITER_COUNT;
    case FORMAT_PROTO:
        return LIST_WRITER_BYTES | LIST_WRITER_TOKEN;
    }
    return 0;
}

/* ---- Parts ---- */

static const struct kind_type *list_type(const struct encoder *e)
{
    return e->format.as == FORMAT_OBJECT
               ? e->resource->list
               : kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadataList"));
}

static struct str list_kind(const struct encoder *e)
{
    return e->format.as == FORMAT_TABLE ? STR("Table") : list_type(e)->name;
}

static struct str list_version(struct arena *a, const struct encoder *e)
{
    if (e->format.as == FORMAT_OBJECT)
        return convert_api_version(a, e->resource->type);
    return e->format.beta ? STR("meta.k8s.io/v1beta1") : STR("meta.k8s.io/v1");
}

static struct str items_name(const struct encoder *e)
{
    return e->format.as == FORMAT_TABLE ? STR("rows") : STR("items");
}

/* Upstream's slice of partial objects starts out as nil. */
static bool items_are_null(const struct encoder *e, const struct list_meta *meta)
{
    return e->format.as == FORMAT_PARTIAL_LIST && meta->n_items == 0;
}

static struct value meta_tree(struct arena *a, const struct encoder *e,
                              const struct list_meta *meta)
{
    struct value tree = value_object();
    struct str rev = arena_printf(a, "%llu", (unsigned long long)meta->rev);
    value_put_new(a, &tree, STR("resourceVersion"), value_string(rev));
    bool always = e->format.as == FORMAT_OBJECT && e->stored->type->custom; /* as upstream does */
    if (meta->token.n || always)
        value_put_new(a, &tree, STR("continue"), value_string(meta->token));
    if (meta->has_remaining)
        value_put_new(a, &tree, STR("remainingItemCount"), value_int((int64_t)meta->remaining));
    return tree;
}

/* ---- JSON ---- */

/* Everything but the items, which stand last: the text of a list without any, cut open. */
static void json_frame(struct buf *out, struct arena *a, const struct encoder *e,
                       const struct list_meta *meta)
{
    struct value frame = value_object();
    value_put_new(a, &frame, STR("kind"), value_string(list_kind(e)));
    value_put_new(a, &frame, STR("apiVersion"), value_string(list_version(a, e)));
    value_put_new(a, &frame, STR("metadata"), meta_tree(a, e, meta));
    if (e->format.as == FORMAT_TABLE)
        value_put_new(a, &frame, STR("columnDefinitions"), columns_definitions(a, e->stored));
    value_put_new(a, &frame, items_name(e), items_are_null(e, meta) ? value_null() : value_array());
    if (e->format.pretty)
        json_write_pretty(out, &frame);
    else
        json_write(out, &frame);
}

/* What follows the opening bracket in the text of an empty frame. */
static struct str json_empty_tail(const struct encoder *e)
{
    return e->format.pretty ? STR("]\n}") : STR("]}");
}

static void json_head(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta)
{
    json_frame(out, a, e, meta);
    if (meta->n_items)
        out->n -= json_empty_tail(e).n;
}

static void json_tail(struct buf *out, const struct encoder *e, const struct list_meta *meta)
{
    if (meta->n_items) {
        if (e->format.pretty)
            buf_str_add(out, STR("\n  "));
        buf_str_add(out, json_empty_tail(e));
    }
    buf_byte(out, '\n');
}

/* A newline in the text of a tree is always one between fields. */
static void json_indented(struct buf *out, const struct value *v)
{
    autobuf text = { 0 };
    json_write_pretty(&text, v);
    struct str rest = buf_str(&text);
    while (rest.p) {
        struct str line = str_cut(&rest, '\n');
        buf_str_add(out, STR("\n    "));
        buf_str_add(out, line);
    }
}

/* ---- YAML ---- */

static void yaml_field(struct buf *out, struct arena *a, const struct encoder *e, struct str name,
                       struct value v)
{
    struct value field = value_object();
    value_put_new(a, &field, name, v);
    encode_tree(out, a, &e->format, NULL, &field);
}

static void yaml_items_name(struct buf *out, const struct encoder *e, const struct list_meta *meta)
{
    buf_str_add(out, items_name(e));
    buf_str_add(out, items_are_null(e, meta) ? STR(": null\n")
                     : meta->n_items         ? STR(":\n")
                                             : STR(": []\n"));
}

static void yaml_kind_and_meta(struct buf *out, struct arena *a, const struct encoder *e,
                               const struct list_meta *meta)
{
    yaml_field(out, a, e, STR("kind"), value_string(list_kind(e)));
    yaml_field(out, a, e, STR("metadata"), meta_tree(a, e, meta));
}

/* By name, so the items of a list come before its metadata and the rows of a Table last. */
static void yaml_head(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta)
{
    yaml_field(out, a, e, STR("apiVersion"), value_string(list_version(a, e)));
    if (e->format.as == FORMAT_TABLE) {
        yaml_field(out, a, e, STR("columnDefinitions"), columns_definitions(a, e->stored));
        yaml_kind_and_meta(out, a, e, meta);
    }
    yaml_items_name(out, e, meta);
}

static void yaml_tail(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta)
{
    if (e->format.as != FORMAT_TABLE)
        yaml_kind_and_meta(out, a, e, meta);
}

/* ---- CBOR: keys by their length ---- */

static void cbor_head(struct buf *out, const struct encoder *e, const struct list_meta *meta)
{
    cbor_write_tag(out);
    cbor_write_head(out, CBOR_MAP, 4);
    cbor_write_string(out, STR("kind"));
    cbor_write_string(out, list_kind(e));
    cbor_write_string(out, STR("items"));
    struct value none = value_null();
    if (items_are_null(e, meta))
        cbor_write_item(out, NULL, &none);
    else
        cbor_write_head(out, CBOR_ARRAY, meta->n_items);
}

static void cbor_tail(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta)
{
    struct value tree = meta_tree(a, e, meta);
    cbor_write_string(out, STR("metadata"));
    cbor_write_item(out, NULL, &tree);
    cbor_write_string(out, STR("apiVersion"));
    cbor_write_string(out, list_version(a, e));
}

/* ---- Protobuf ---- */

/* meta.k8s.io/v1beta1 has the items of its list in front. */
static bool proto_meta_is_last(const struct encoder *e)
{
    return e->format.as == FORMAT_PARTIAL_LIST && e->format.beta;
}

static unsigned proto_items_number(const struct encoder *e)
{
    return proto_meta_is_last(e) ? 1 : kind_field_find(list_type(e), STR("items"))->number;
}

static void proto_meta(struct buf *out, struct arena *a, const struct encoder *e,
                       const struct list_meta *meta)
{
    const struct kind_field *field = kind_field_find(list_type(e), STR("metadata"));
    struct value tree = meta_tree(a, e, meta);
    autobuf message = { 0 };
    proto_write(&message, field->type, &tree);
    wire_bytes(out, proto_meta_is_last(e) ? 2 : field->number, buf_str(&message));
}

/* The envelope up to its first item: k8s\0, the type, and the length of all that follows. */
static void proto_head(struct buf *out, struct arena *a, const struct encoder *e,
                       const struct list_meta *meta)
{
    autobuf type = { 0 }, list_meta = { 0 };
    wire_bytes(&type, 1, list_version(a, e));
    wire_bytes(&type, 2, list_kind(e));
    proto_meta(&list_meta, a, e, meta);
    buf_add(out, "k8s\0", 4);
    wire_bytes(out, 1, buf_str(&type));
    wire_head(out, 2, list_meta.n + meta->bytes);
    if (!proto_meta_is_last(e))
        buf_str_add(out, buf_str(&list_meta));
}

static void proto_tail(struct buf *out, struct arena *a, const struct encoder *e,
                       const struct list_meta *meta)
{
    if (proto_meta_is_last(e))
        proto_meta(out, a, e, meta);
    wire_bytes(out, 3, STR(""));
    wire_bytes(out, 4, STR(""));
}

/* ---- All of them ---- */

void list_writer_head(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta)
{
    switch (e->format.media) {
    case FORMAT_JSON:
        json_head(out, a, e, meta);
        break;
    case FORMAT_YAML:
        yaml_head(out, a, e, meta);
        break;
    case FORMAT_CBOR:
        cbor_head(out, e, meta);
        break;
    case FORMAT_PROTO:
        proto_head(out, a, e, meta);
        break;
    }
}

void list_writer_tail(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta)
{
    switch (e->format.media) {
    case FORMAT_JSON:
        json_tail(out, e, meta);
        break;
    case FORMAT_YAML:
        yaml_tail(out, a, e, meta);
        break;
    case FORMAT_CBOR:
        cbor_tail(out, a, e, meta);
        break;
    case FORMAT_PROTO:
        proto_tail(out, a, e, meta);
        break;
    }
}

/* ---- Items ---- */

static bool is_spliced(const struct encoder *e, const struct store_entry *entry)
{
    return e->format.media == FORMAT_JSON && !e->format.pretty &&
           (e->format.as == FORMAT_PARTIAL_LIST ||
            (e->format.as == FORMAT_OBJECT && e->resource == e->stored &&
             stored_fits(entry, e->stored)));
}

/* The list's own type says what built-in items are; custom ones say it themselves. */
static const struct kind_type *item_type(const struct encoder *e)
{
    return e->stored->type->custom ? e->stored->type : NULL;
}

static int splice_item(struct buf *out, const struct encoder *e, const struct store_entry *entry,
                       struct err *err)
{
    struct stored s;
    int r = stored_open(entry, &s, err);
    if (r < 0)
        return r;
    if (e->format.managers == FORMAT_MANAGERS_HIDDEN)
        stored_hide_managers(&s);
    if (e->format.as == FORMAT_OBJECT)
        stored_splice(out, &s, item_type(e));
    else
        stored_splice_meta(out, &s, e->format.beta);
    return 0;
}

/* What stands in the list for the object: without its type where the list's own says it. */
static int item_tree(const struct encoder *e, struct selection_subject *subject, struct value *ret,
                     struct err *err)
{
    const struct value *tree;
    int r = e->format.as == FORMAT_OBJECT ? selection_tree(subject, &tree, err)
                                          : selection_stored(subject, &tree, err);
    if (r < 0)
        return r;
    switch (e->format.as) {
    case FORMAT_TABLE:
        return encode_row(subject->arena, e, tree, ret, err);
    case FORMAT_PARTIAL:
    case FORMAT_PARTIAL_LIST:
        *ret = encode_partial(subject->arena, e, tree);
        break;
    case FORMAT_OBJECT:
        *ret = value_borrow(tree);
        encode_hide(subject->arena, e, ret);
        if (item_type(e))
            break;
        value_drop(subject->arena, ret, STR("kind"));
        value_drop(subject->arena, ret, STR("apiVersion"));
        break;
    }
    return 0;
}

static void write_item(struct buf *out, struct arena *a, const struct encoder *e,
                       const struct value *item)
{
    const struct kind_type *type = e->resource->type;
    if (e->format.as != FORMAT_OBJECT)
        type = kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadata"));
    switch (e->format.media) {
    case FORMAT_JSON:
        if (e->format.pretty)
            json_indented(out, item);
        else
            json_write(out, item);
        break;
    case FORMAT_YAML: {
        struct value one = value_array();
        value_put_item(a, &one, *item);
        encode_tree(out, a, &e->format, type, &one);
        break;
    }
    case FORMAT_CBOR:
        cbor_write_item(out, type, item);
        break;
    case FORMAT_PROTO:
        proto_write_item(out, proto_items_number(e), type, item);
        break;
    }
}

static int write_subject(struct buf *out, const struct encoder *e,
                         struct selection_subject *subject, struct err *err)
{
    struct value item;
    if (is_spliced(e, &subject->entry))
        return splice_item(out, e, &subject->entry, err);
    int r = item_tree(e, subject, &item, err);
    if (r < 0)
        return r;
    write_item(out, subject->arena, e, &item);
    return 0;
}

int list_writer_item(struct buf *out, const struct encoder *e, struct selection_subject *subject,
                     bool is_first, struct err *err)
{
    size_t before = out->n;
    if (e->format.media == FORMAT_JSON && !is_first)
        buf_byte(out, ',');
    int r = write_subject(out, e, subject, err);
    if (r < 0)
        out->n = before;
    return r;
}

int list_writer_rows(struct buf *out, struct arena *a, const struct encoder *e,
                     const struct value **objs, size_t n, struct err *err)
{
    struct value *cells = arena_array(a, struct value, n);
    columns_list(a, e->stored, objs, n, e->now_ns, cells);
    for (size_t i = 0; i < n; i++) {
        struct value row;
        int r = encode_row_of(a, e, objs[i], cells[i], &row, err);
        if (r < 0)
            return r;
        if (e->format.media == FORMAT_JSON && i)
            buf_byte(out, ',');
        write_item(out, a, e, &row);
    }
    return 0;
}
