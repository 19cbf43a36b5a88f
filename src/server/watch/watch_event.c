#include "server/watch/watch_event.h"

#include "api/codec/cbor.h"
#include "api/convert/convert.h"
#include "api/codec/proto.h"
#include "api/typed.h"
#include "base/json.h"
#include "server/http/reply.h"
#include "server/object/stored.h"
#include "server/object/wire.h"
#include "base/banned.h"

static struct str type_name(enum watch_type type)
{
    static const struct str names[] = {
        [WATCH_ADDED] = { "ADDED", 5 },     [WATCH_MODIFIED] = { "MODIFIED", 8 },
        [WATCH_DELETED] = { "DELETED", 7 }, [WATCH_BOOKMARK] = { "BOOKMARK", 8 },
        [WATCH_ERROR] = { "ERROR", 5 },
    };
    return names[type];
}

/* ---- Frames ---- */

static void json_begin(struct buf *out, enum watch_type type)
{
    buf_str_add(out, STR("{\"type\":\""));
    buf_str_add(out, type_name(type));
    buf_str_add(out, STR("\",\"object\":"));
}

static void json_end(struct buf *out)
{
    buf_str_add(out, STR("}\n"));
}

static void cbor_event(struct buf *out, enum watch_type type, const struct kind_type *t,
                       const struct value *obj)
{
    cbor_write_tag(out);
    cbor_write_head(out, CBOR_MAP, 2);
    cbor_write_string(out, STR("type"));
    cbor_write_string(out, type_name(type));
    cbor_write_string(out, STR("object"));
    cbor_write(out, t, obj);
}

/* meta.v1.WatchEvent has two fields: the type, and a RawExtension whose only one is the object in
 * its envelope. There is none around the event itself. */
static void proto_event(struct buf *out, enum watch_type type, const struct kind_type *t,
                        const struct value *obj)
{
    autobuf object = { 0 }, raw = { 0 };
    proto_envelope_write(&object, t, obj);
    wire_bytes(&raw, 1, buf_str(&object));

    size_t at = out->n;
    buf_add(out, "\0\0\0\0", WATCH_FRAME_BYTES);
    wire_bytes(out, 1, type_name(type));
    wire_bytes(out, 2, buf_str(&raw));
    size_t n = out->n - at - WATCH_FRAME_BYTES;
    for (int i = 0; i < WATCH_FRAME_BYTES; i++)
        out->p[at + (size_t)i] = (char)(unsigned char)(n >> (8 * (3 - i)));
}

static void write_tree(struct buf *out, const struct encoder *e, enum watch_type type,
                       const struct kind_type *t, const struct value *obj)
{
    if (e->format.media == FORMAT_PROTO) {
        proto_event(out, type, t, obj);
    } else if (e->format.media == FORMAT_CBOR) {
        cbor_event(out, type, t, obj);
    } else {
        json_begin(out, type);
        json_write(out, obj);
        json_end(out);
    }
}

/* ---- Objects ---- */

/* `obj` is of the version that was asked for where it is shown whole, else of the stored one. */
static int write_shown(struct buf *out, struct arena *a, const struct encoder *e,
                       enum watch_type type, const struct value *obj, bool columns, struct err *err)
{
    struct value shown;
    const struct kind_type *t = e->resource->type;
    int r = 0;
    switch (e->format.as) {
    case FORMAT_OBJECT:
        shown = value_borrow(obj);
        encode_hide(a, e, &shown);
        break;
    case FORMAT_TABLE:
        r = encode_table_of(a, e, obj, columns, &shown, err);
        break;
    case FORMAT_PARTIAL:
    case FORMAT_PARTIAL_LIST:
        shown = encode_partial(a, e, obj);
        t = kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadata"));
        break;
    }
    if (r < 0)
        return r;
    write_tree(out, e, type, t, &shown);
    return 0;
}

static bool is_spliced(const struct encoder *e, const struct store_entry *entry)
{
    return e->format.media == FORMAT_JSON &&
           (e->format.as == FORMAT_PARTIAL ||
            (e->format.as == FORMAT_OBJECT && e->resource == e->stored &&
             stored_fits(entry, e->stored)));
}

static int splice(struct buf *out, const struct encoder *e, enum watch_type type,
                  const struct store_entry *entry, struct err *err)
{
    struct stored s;
    int r = stored_open(entry, &s, err);
    if (r < 0)
        return r;
    if (e->format.managers == FORMAT_MANAGERS_HIDDEN)
        stored_hide_managers(&s);
    json_begin(out, type);
    if (e->format.as == FORMAT_OBJECT)
        stored_splice(out, &s, e->stored->type);
    else
        stored_splice_meta(out, &s, e->format.beta);
    json_end(out);
    return 0;
}

int watch_event_object(struct buf *out, const struct encoder *e, enum watch_type type,
                       struct selection_subject *subject, bool columns, struct err *err)
{
    if (is_spliced(e, &subject->entry))
        return splice(out, e, type, &subject->entry, err);
    const struct value *tree;
    int r = e->format.as == FORMAT_OBJECT ? selection_tree(subject, &tree, err)
                                          : selection_stored(subject, &tree, err);
    return r < 0 ? r : write_shown(out, subject->arena, e, type, tree, columns, err);
}

/* ---- The others ---- */

int watch_event_bookmark(struct buf *out, struct arena *a, const struct encoder *e, uint64_t rev,
                         bool initial_end, bool columns, struct err *err)
{
    struct value bare = value_object(), meta = value_object(), marks = value_object(), obj;
    struct str version = arena_printf(a, "%llu", (unsigned long long)rev);
    value_put_new(a, &meta, STR("resourceVersion"), value_string(version));
    if (initial_end) {
        value_put_new(a, &marks, STR("k8s.io/initial-events-end"), value_string(STR("true")));
        value_put_new(a, &meta, STR("annotations"), marks);
    }
    const struct kind_type *t = e->format.as == FORMAT_OBJECT ? e->resource->type : e->stored->type;
    value_put_new(a, &bare, STR("kind"), value_string(t->name));
    value_put_new(a, &bare, STR("apiVersion"), value_string(convert_api_version(a, t)));
    value_put_new(a, &bare, STR("metadata"), meta);
    /* Fields that a Go struct cannot leave out are there in a bookmark, too. */
    int r = typed_read(a, t, &bare, NULL, &obj, err);
    if (r < 0)
        return r;
    struct encoder shown = *e;
    if (initial_end && e->include == ENCODE_NONE)
        shown.include = ENCODE_META; /* or nobody could see what it marks */
    return write_shown(out, a, &shown, WATCH_BOOKMARK, &obj, columns, err);
}

void watch_event_error(struct buf *out, struct arena *a, const struct encoder *e,
                       const struct err *why)
{
    struct value status = reply_status(a, why);
    write_tree(out, e, WATCH_ERROR, kind_type_find(STR("meta"), STR("v1"), STR("Status")), &status);
}
