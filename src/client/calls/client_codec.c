#include "client/calls/client_codec.h"

#include "api/codec/proto.h"
#include "api/typed.h"
#include "base/json.h"
#include "client/bridge.h"
#include "base/banned.h"

/* ---- What is asked for ---- */

#define JSON            "application/json"
#define PROTO           "application/vnd.kubernetes.protobuf"
#define AS(media, kind) media ";as=" kind ";g=meta.k8s.io;v=v1,"

struct str codec_accept(enum codec_form form, bool may_be_proto)
{
    static const struct str accepts[][2] = {
        [CODEC_WHOLE] = { STR(JSON), STR(PROTO "," JSON) },
        [CODEC_METADATA] = { STR(AS(JSON, "PartialObjectMetadata") JSON),
                             STR(AS(PROTO, "PartialObjectMetadata")
                                     AS(JSON, "PartialObjectMetadata") JSON) },
        [CODEC_METADATA_LIST] = { STR(AS(JSON, "PartialObjectMetadataList") JSON),
                                  STR(AS(PROTO, "PartialObjectMetadataList")
                                          AS(JSON, "PartialObjectMetadataList") JSON) },
    };
    return accepts[form][may_be_proto];
}

const struct kind_type *codec_type_at(const struct spn_target *at)
{
    const struct kind_version *v = kind_version_find(str_in(at->group), str_in(at->version));
    const struct kind_resource *r = v ? kind_resource_find(v, str_in(at->plural)) : NULL;
    const struct kind_type *t = r ? r->type : NULL;
    if (r && at->sub.n) {
        const struct kind_subresource *sub = kind_subresource_find(r, str_in(at->sub));
        t = sub ? sub->type : NULL;
    }
    return t && !(t->flags & KIND_JSON_ONLY) ? t : NULL;
}

/* ---- Writing ---- */

static struct str api_version_of(struct arena *a, const struct kind_type *t)
{
    return t->group.n ? arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(t->group), STR_ARG(t->version))
                      : t->version;
}

/* An object may leave its kind out, for the path says it. */
static bool says(const struct value *obj, struct str key, struct str want)
{
    const struct value *said = value_get(obj, key);
    return !said || str_eq(value_str(said), want);
}

static bool write_proto(struct arena *a, struct buf *out, const struct kind_type *t,
                        const struct value *obj)
{
    struct typed_notes notes = { .n = 0 };
    struct value typed;
    struct str version = api_version_of(a, t);
    if (!says(obj, STR("kind"), t->name) || !says(obj, STR("apiVersion"), version))
        return false;
    if (typed_read(a, t, obj, &notes, &typed, NULL) < 0 || notes.n)
        return false;
    value_put(a, &typed, STR("kind"), value_string(t->name));
    value_put(a, &typed, STR("apiVersion"), value_string(version));
    proto_envelope_write(out, t, &typed);
    return true;
}

bool codec_write_proto(struct buf *out, const struct kind_type *t, const struct value *obj)
{
    struct arena a;
    if (!t || !value_is(obj, VALUE_OBJECT))
        return false;
    arena_init(&a);
    bool done = write_proto(&a, out, t, obj);
    arena_done(&a);
    return done;
}

/* ---- Reading ---- */

/* Protobuf says the kind of a list's items nowhere; JSON says it if they are metadata alone. */
static void name_items(struct arena *a, const struct proto_envelope *envelope, struct value *list)
{
    if (!str_eq(envelope->kind, STR("PartialObjectMetadataList")))
        return;
    struct value *items = value_edit(a, list, STR("items"));
    for (size_t i = 0; value_is(items, VALUE_ARRAY) && i < items->n; i++) {
        struct value *item = value_edit_at(a, items, i);
        value_put(a, item, STR("kind"), value_string(STR("PartialObjectMetadata")));
        value_put(a, item, STR("apiVersion"), value_string(envelope->api_version));
    }
}

int codec_read(struct arena *a, struct str bytes, struct value *ret, struct err *err)
{
    struct proto_envelope envelope;
    if (!proto_is_envelope(bytes))
        return json_read(a, bytes, NULL, ret, err);
    int r = proto_envelope_read(bytes, &envelope, err);
    if (r < 0)
        return r;
    const struct kind_type *t = kind_find(envelope.api_version, envelope.kind);
    if (!t)
        return err_set(err, ERR_BAD_REQUEST, "protobuf of an unknown kind " STR_FMT ", " STR_FMT,
                       STR_ARG(str_take(envelope.api_version, 80)),
                       STR_ARG(str_take(envelope.kind, 80)));
    r = proto_read(a, t, envelope.raw, envelope.api_version, envelope.kind, ret, err);
    if (r < 0)
        return r;
    name_items(a, &envelope, ret);
    return 0;
}

static bool eat_number(struct str *s, uint64_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; shift < 64 && s->n; shift += 7) {
        unsigned char byte = (unsigned char)s->p[0];
        *ret |= (uint64_t)(byte & 0x7f) << shift;
        *s = str_skip(*s, 1);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The next field of a message whose fields are all texts or messages. */
static bool eat_field(struct str *s, uint64_t *ret_number, struct str *ret)
{
    enum { LENGTH_DELIMITED = 2 };
    uint64_t tag, n;
    if (!eat_number(s, &tag) || (tag & 7) != LENGTH_DELIMITED || !eat_number(s, &n) || n > s->n)
        return false;
    *ret_number = tag >> 3;
    *ret = str_take(*s, n);
    *s = str_skip(*s, n);
    return true;
}

int codec_read_event(struct str bytes, struct str *ret_type, struct str *ret_object,
                     struct err *err)
{
    struct str type = { 0 }, raw = { 0 }, object = { 0 }, field;
    uint64_t number;
    while (bytes.n && eat_field(&bytes, &number, &field)) {
        if (number == 1)
            type = field;
        else if (number == 2)
            raw = field;
    }
    if (bytes.n || !raw.n || !eat_field(&raw, &number, &object) || number != 1)
        return err_set(err, ERR_BAD_REQUEST, "an event that is no protobuf");
    *ret_type = type;
    *ret_object = object;
    return 0;
}
