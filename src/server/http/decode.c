#include "server/http/decode.h"

#include "api/codec/cbor.h"
#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/field_errors.h"
#include "api/codec/proto.h"
#include "api/typed.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/yaml.h"
#include "server/audit/audit_answer.h"
#include "server/audit/audit_event.h"
#include "server/custom/custom.h"
#include "server/object/encode.h"
#include "base/banned.h"

/* What the body says it is. */
struct claimed {
    struct str group, version, kind;
};

struct decoder {
    struct call *call;
    struct arena *arena;
    const struct kind_type *want;
    bool is_options; /* a type that every group and version has; its faults are told without more */
    struct str body;
    struct err *err;
    struct claimed claimed;
    bool is_typed;     /* the body has no fields but those of its type */
    struct str *lines; /* notes of YAML's reader */
    size_t n_lines;
};

/* ---- Refusals ---- */

enum { SUMMARY_BYTES = 30 };

static struct str summary(struct decoder *d)
{
    bool cut = d->body.n > SUMMARY_BYTES;
    struct str head = str_take(d->body, SUMMARY_BYTES);
    if (!head.n)
        return STR("<empty>");
    if (head.p[0] == '{')
        return arena_printf(d->arena, STR_FMT "%s", STR_ARG(head), cut ? " ..." : "");
    autobuf hex = { 0 };
    for (size_t i = 0; i < head.n; i++)
        buf_printf(&hex, "%02x", (unsigned char)head.p[i]);
    return arena_printf(d->arena, STR_FMT "%s", STR_ARG(buf_str(&hex)), cut ? " ..." : "");
}

static int unrecognized(struct decoder *d, const char *prefix, struct str why)
{
    if (d->is_options)
        return err_set(d->err, ERR_BAD_REQUEST, "%s" STR_FMT, prefix, STR_ARG(why));
    return err_set(d->err, ERR_BAD_REQUEST,
                   "the object provided is unrecognized (must be of type " STR_FMT "): %s" STR_FMT
                   " (" STR_FMT ")",
                   STR_ARG(d->want->name), prefix, STR_ARG(why), STR_ARG(summary(d)));
}

#define NO_VERSION "couldn't get version/kind; json parse error: "

static int unhandled(struct decoder *d, struct str why)
{
    if (d->is_options)
        return err_set(d->err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(why));
    return err_set(d->err, ERR_BAD_REQUEST,
                   STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT
                           ": " STR_FMT,
                   STR_ARG(d->claimed.kind), STR_ARG(d->claimed.version), STR_ARG(d->want->name),
                   STR_ARG(why));
}

/* ---- kind and apiVersion ---- */

static const char *go_type(const struct value *v)
{
    switch (v->type) {
    case VALUE_BOOL:
        return "bool";
    case VALUE_INT:
    case VALUE_NUMBER:
        return "number";
    case VALUE_STRING:
        return "string";
    case VALUE_ARRAY:
        return "array";
    default:
        return "object";
    }
}

static int claimed_text(struct decoder *d, const struct value *obj, struct str name,
                        struct str *ret)
{
    const struct value *v = value_get(obj, name);
    *ret = value_str(v);
    if (!v || v->type == VALUE_STRING || v->type == VALUE_NULL)
        return 0;
    return unrecognized(d, NO_VERSION,
                        arena_printf(d->arena,
                                     "json: cannot unmarshal %s into Go struct field ." STR_FMT
                                     " of type string",
                                     go_type(v), STR_ARG(name)));
}

static int read_claims(struct decoder *d, const struct value *obj)
{
    struct str api_version;
    int r = claimed_text(d, obj, STR("apiVersion"), &api_version);
    if (r < 0)
        return r;
    r = claimed_text(d, obj, STR("kind"), &d->claimed.kind);
    if (r < 0)
        return r;
    struct str version = api_version, group = STR("");
    if (str_find(api_version, '/') >= 0)
        group = str_cut(&version, '/');
    if (str_find(version, '/') >= 0)
        return unrecognized(d, "",
                            arena_printf(d->arena, "unexpected GroupVersion string: " STR_FMT,
                                         STR_ARG(api_version)));
    if (!version.n && (!group.n || str_eq(group, d->want->group))) {
        group = d->want->group;
        version = d->want->version;
    }
    d->claimed.group = group;
    d->claimed.version = version;
    if (!d->claimed.kind.n)
        d->claimed.kind = d->want->name;
    return 0;
}

static int no_such_kind(struct decoder *d, struct str gv)
{
    return unhandled(
        d, arena_printf(d->arena,
                        "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                        "\" in scheme \"%s\"",
                        STR_ARG(d->claimed.kind), STR_ARG(gv),
                        d->is_options ? "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/"
                                        "register.go:27"
                                      : "pkg/api/legacyscheme/scheme.go:30"));
}

/* The type that the body claims to be: the wanted one, or a refusal. `tree` is what is to be read
 * as that, where it was not read yet. */
static int check_claims(struct decoder *d, const struct value *tree)
{
    struct claimed *got = &d->claimed;
    bool same_group = d->is_options || str_eq(got->group, d->want->group),
         same_version = d->is_options || str_eq(got->version, d->want->version),
         same_kind = str_eq(got->kind, d->want->name);
    if (same_group && same_version && same_kind)
        return 0;
    struct str gv = arena_printf(d->arena, STR_FMT "%s" STR_FMT, STR_ARG(got->group),
                                 got->group.n ? "/" : "", STR_ARG(got->version));
    const struct kind_type *claimed = kind_type_find(got->group, got->version, got->kind);
    if (!claimed || d->is_options)
        return no_such_kind(d, gv);
    if (convert_same_kind(claimed, d->want))
        return err_set(d->err, ERR_BAD_REQUEST,
                       "the API version in the data (" STR_FMT
                       ") does not match the expected API version (" STR_FMT ")",
                       STR_ARG(gv), STR_ARG(convert_api_version(d->arena, d->want)));
    struct err why = ERR_INIT(d->arena);
    struct value ignored;
    if (tree && typed_read(d->arena, claimed, tree, NULL, &ignored, &why) < 0)
        return unhandled(d, why.msg);
    return unhandled(d,
                     arena_printf(d->arena,
                                  "converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "." STR_FMT
                                  "): unknown conversion",
                                  STR_ARG(got->version), STR_ARG(got->kind),
                                  STR_ARG(encode_package(d->want->group)), STR_ARG(d->want->name)));
}

static int check_custom_kind(struct decoder *d, const struct value *obj)
{
    struct field_errors e = FIELD_ERRORS_INIT(d->arena);
    struct field_path path = field_child(NULL, STR("kind"));
    if (str_eq(d->claimed.kind, d->want->name))
        return 0;
    field_error(&e, FIELD_INVALID, &path, field_quoted(&e, d->claimed.kind), "must be " STR_FMT,
                STR_ARG(d->want->name));
    return field_errors_report(&e, d->want->group, d->claimed.kind,
                               value_str(value_dig(obj, "metadata", "name")), d->err);
}

/* An object of a custom kind has to say what it is. */
static int check_custom_claims(struct decoder *d, const struct value *obj,
                               enum decode_validation validation)
{
    if (!value_str(value_get(obj, STR("kind"))).n)
        return unrecognized(
            d, "",
            arena_printf(d->arena, "Object 'Kind' is missing in '" STR_FMT "'", STR_ARG(d->body)));
    struct str given = value_str(value_get(obj, STR("apiVersion"))),
               wanted = convert_api_version(d->arena, d->want);
    if (str_eq(given, wanted))
        return check_custom_kind(d, obj);
    if (validation == DECODE_WARN && str_eq(d->claimed.group, d->want->group) &&
        !custom_served(d->call->req.custom, d->claimed.version))
        value_each_field (f, obj) /* of a version that nobody knows nothing is known */
            if (!str_eq(f->key, STR("kind")) && !str_eq(f->key, STR("apiVersion")) &&
                !str_eq(f->key, STR("metadata")))
                call_warn(d->call,
                          arena_printf(d->arena, "unknown field \"" STR_FMT "\"", STR_ARG(f->key)));
    return err_set(d->err, ERR_BAD_REQUEST,
                   "the API version in the data (" STR_FMT
                   ") does not match the expected API version (" STR_FMT ")",
                   STR_ARG(given), STR_ARG(wanted));
}

/* ---- Encodings ---- */

static int read_json(struct decoder *d, struct value *ret)
{
    struct err why = ERR_INIT(d->arena);
    if (json_read(d->arena, d->body, NULL, ret, &why) < 0) {
        struct str words = json_fault(d->arena, d->body);
        return unrecognized(d, NO_VERSION, words.n ? words : why.msg);
    }
    return 0;
}

static int read_yaml(struct decoder *d, struct value *ret)
{
    /* Of several documents the first counts. */
    struct err why = ERR_INIT(d->arena);
    struct yaml_stream *s = yaml_stream_new(d->arena, d->body, NULL);
    int r = yaml_stream_next(s, ret, &why);
    yaml_stream_free(s);
    if (r < 0)
        return unrecognized(d, "", why.msg);
    if (r == 0)
        *ret = value_null();
    return 0;
}

static int read_cbor(struct decoder *d, struct value *ret)
{
    struct err why = ERR_INIT(d->arena);
    if (cbor_read(d->arena, d->body, ret, &why) < 0)
        return unrecognized(d, "", why.msg);
    return 0;
}

static int read_proto(struct decoder *d, struct value *ret)
{
    struct err why = ERR_INIT(d->arena);
    struct proto_envelope envelope;
    if (proto_envelope_read(d->body, &envelope, &why) < 0)
        return unrecognized(d, "", why.msg);
    struct value claims = value_object();
    value_put_new(d->arena, &claims, STR("apiVersion"), value_string(envelope.api_version));
    value_put_new(d->arena, &claims, STR("kind"), value_string(envelope.kind));
    int r = read_claims(d, &claims);
    if (r < 0)
        return r;
    r = check_claims(d, NULL);
    if (r < 0)
        return r;
    if (proto_read(d->arena, d->want, envelope.raw, convert_api_version(d->arena, d->want),
                   d->want->name, ret, &why) < 0)
        return unhandled(d, why.msg);
    d->is_typed = true;
    return 0;
}

static int read_tree(struct decoder *d, enum format_media media, struct value *ret)
{
    switch (media) {
    case FORMAT_JSON:
        return read_json(d, ret);
    case FORMAT_YAML:
        return read_yaml(d, ret);
    case FORMAT_PROTO:
        return read_proto(d, ret);
    case FORMAT_CBOR:
        return read_cbor(d, ret);
    }
    return 0;
}

/* ---- Putting it together ---- */

/* Of YAML the reader itself has noted duplicate keys, by their lines, before anything else. */
static void note_lines(struct decoder *d, struct value *tree)
{
    if (!value_find_duplicate(d->arena, tree).n)
        return;
    d->lines = arena_array(d->arena, struct str, TYPED_NOTES_MAX);
    d->n_lines = yaml_duplicates(d->arena, d->body, d->lines, TYPED_NOTES_MAX);
    value_drop_duplicates(d->arena, tree);
}

static int heed_notes(struct decoder *d, const struct typed_notes *notes,
                      enum decode_validation validation)
{
    size_t n = notes->n < TYPED_NOTES_MAX ? notes->n : TYPED_NOTES_MAX;
    autobuf list = { 0 };
    if (d->n_lines)
        buf_str_add(&list, STR("yaml: unmarshal errors:"));
    for (size_t i = 0; i < d->n_lines; i++) {
        if (validation == DECODE_WARN)
            call_warn(d->call, d->lines[i]);
        buf_printf(&list, "\n  " STR_FMT, STR_ARG(d->lines[i]));
    }
    for (size_t i = 0; i < n; i++) {
        if (validation == DECODE_WARN)
            call_warn(d->call, notes->notes[i]);
        buf_printf(&list, "%s" STR_FMT, list.n ? ", " : "", STR_ARG(notes->notes[i]));
    }
    if (validation != DECODE_STRICT || !list.n)
        return 0;
    return unhandled(
        d, arena_printf(d->arena, "strict decoding error: " STR_FMT, STR_ARG(buf_str(&list))));
}

/* kind and apiVersion as they will be stored and shown, whatever the body left out. */
static void name_type(struct decoder *d, struct value *obj)
{
    struct value named = value_object();
    if (d->want->custom) /* has said it */
        return;
    value_put_new(d->arena, &named, STR("kind"), value_string(d->want->name));
    value_put_new(d->arena, &named, STR("apiVersion"),
                  value_string(convert_api_version(d->arena, d->want)));
    value_each_field (f, obj)
        if (!str_eq(f->key, STR("kind")) && !str_eq(f->key, STR("apiVersion")))
            value_put_new(d->arena, &named, f->key, f->val);
    *obj = named;
}

void decode_keep_reset(struct arena *a, const struct value *raw, struct value *obj)
{
    const struct value *managers = value_dig(raw, "metadata", "managedFields");
    struct value *meta = value_is(managers, VALUE_ARRAY) && !managers->n
                             ? value_ensure(a, obj, STR("metadata"))
                             : NULL;
    if (meta)
        value_put(a, meta, STR("managedFields"), value_array());
}

static int type_tree(struct decoder *d, struct value *tree, enum decode_validation validation,
                     struct value *ret)
{
    if (tree->type == VALUE_NULL)
        *tree = value_object();
    if (tree->type != VALUE_OBJECT)
        return unrecognized(
            d, NO_VERSION,
            arena_printf(d->arena,
                         "json: cannot unmarshal %s into Go value of type struct { APIVersion "
                         "string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                         "\"json:\\\"kind,omitempty\\\"\" }",
                         go_type(tree)));
    int r = read_claims(d, tree);
    if (r < 0)
        return r;
    r = d->want->custom ? check_custom_claims(d, tree, validation) : check_claims(d, tree);
    if (r < 0)
        return r;
    struct typed_notes notes = { .n = 0 };
    struct err why = ERR_INIT(d->arena);
    if (d->is_typed)
        *ret = *tree;
    else if (typed_read_sent(d->arena, d->want, tree, &notes, ret, &why) < 0)
        return unhandled(d, why.msg);
    decode_keep_reset(d->arena, tree, ret);
    name_type(d, ret);
    return heed_notes(d, &notes, validation);
}

static int decode(struct decoder *d, enum decode_validation validation, struct value *ret)
{
    enum format_media media;
    struct value tree = value_null();
    if (!format_of_content(http_header_get(d->call->http, STR("content-type")), &media))
        return err_set(d->err, ERR_UNSUPPORTED_MEDIA_TYPE,
                       "the body of the request was in an unknown format - accepted media types "
                       "include: application/json, application/yaml, "
                       "application/vnd.kubernetes.protobuf");
    if (media == FORMAT_PROTO && d->want->custom)
        return err_set(d->err, ERR_UNSUPPORTED_MEDIA_TYPE,
                       "the body of the request was in an unknown format - accepted media types "
                       "include: application/json, application/yaml");
    int r = read_tree(d, media, &tree);
    if (r < 0)
        return r;
    if (media == FORMAT_YAML)
        note_lines(d, &tree);
    return type_tree(d, &tree, validation, ret);
}

/* Auditors see what was sent as its type reads it, with the defaults. */
static void show_object(struct call *c, const struct kind_type *type, const struct value *obj)
{
    if (!c->audit)
        return;
    audit_event_metadata(c->audit, obj);
    if (!audit_event_wants_object(c->audit))
        return;
    const struct format json = { .media = FORMAT_JSON };
    struct value shown = value_clone(c->arena, obj);
    autobuf text = { 0 };
    defaults_apply(c->arena, type, &shown);
    if (audit_event_omits_managers(c->audit))
        audit_answer_drop_managers(c->arena, &shown);
    encode_tree(&text, c->arena, &json, type, &shown);
    audit_event_object(c->audit, str_trim(buf_str(&text)));
}

/* Upstream shows them in a version that has no name. */
static void show_delete_options(struct call *c, const struct value *options)
{
    struct value shown = value_object();
    if (!audit_event_wants_object(c->audit))
        return;
    value_put_new(c->arena, &shown, STR("kind"), value_string(STR("DeleteOptions")));
    value_put_new(c->arena, &shown, STR("apiVersion"), value_string(STR("meta.k8s.io/__internal")));
    value_each_field (f, options)
        if (!str_eq(f->key, STR("kind")) && !str_eq(f->key, STR("apiVersion")))
            value_put_new(c->arena, &shown, f->key, value_borrow(&f->val));
    audit_event_patch(c->audit, &shown);
}

int decode_body(struct call *c, const struct kind_type *type, enum decode_validation validation,
                struct value *ret, struct err *err)
{
    struct decoder d = {
        .call = c, .arena = c->arena, .want = type, .body = c->http->body, .err = err
    };
    int r = decode(&d, validation, ret);
    if (r == 0)
        show_object(c, type, ret);
    if (!arena_spent(c->arena))
        return r;
    if (err)
        err_clear(err);
    return allowance_error(c->arena->allowance, err);
}

int decode_delete_options(struct call *c, struct value *ret, struct err *err)
{
    struct decoder d = {
        .call = c,
        .arena = c->arena,
        .want = kind_type_find(STR("meta"), STR("v1"), STR("DeleteOptions")),
        .is_options = true,
        .body = c->http->body,
        .err = err,
    };
    int r = decode(&d, DECODE_IGNORE, ret);
    if (r == 0)
        show_delete_options(c, ret);
    return r;
}
