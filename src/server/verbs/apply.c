#include "server/verbs/apply.h"

#include "admission/xray.h"
#include "api/codec/cbor.h"
#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/json.h"
#include "base/yaml.h"
#include "base/banned.h"

/* ---- Reading ---- */

static bool looks_like_json(struct str body)
{
    return str_starts(str_trim(body), STR("{"));
}

static bool is_cbor(const struct call *c)
{
    struct str type = http_header_get(c->http, STR("content-type"));
    return str_eq(str_cut(&type, ';'), STR("application/apply-patch+cbor"));
}

static int read_document(struct apply *ap, struct str body, struct err *err)
{
    struct arena *a = ap->call->arena;
    if (is_cbor(ap->call))
        return cbor_read(a, body, &ap->config, err);
    if (looks_like_json(body) && json_read(a, body, NULL, &ap->config, NULL) == 0)
        return 0;
    struct yaml_stream *s = yaml_stream_new(a, body, NULL);
    int r = yaml_stream_next(s, &ap->config, err);
    yaml_stream_free(s);
    if (r < 0)
        return r;
    if (r == 0) /* no document at all */
        ap->config = value_null();
    return 0;
}

static const char *json_type(const struct value *v)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",     [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
        [VALUE_NUMBER] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
        [VALUE_OBJECT] = "object",
    };
    return names[v->type];
}

int apply_read(struct apply *ap, struct err *err)
{
    struct arena *a = ap->call->arena;
    struct str body = ap->call->http->body;
    struct err why = ERR_INIT(a);
    ap->unread = STR("");
    ap->n_odd = 0;
    if (read_document(ap, body, &why) < 0) {
        if (is_cbor(ap->call))
            return err_set(err, ERR_BAD_REQUEST, "error decoding CBOR: " STR_FMT, STR_ARG(why.msg));
        if (!looks_like_json(body))
            return err_set(err, ERR_BAD_REQUEST, "error encoding patch: " STR_FMT,
                           STR_ARG(why.msg));
        ap->unread = arena_printf(a, "error converting YAML to JSON: " STR_FMT, STR_ARG(why.msg));
    } else if (ap->config.type == VALUE_NULL) {
        ap->config = value_object();
    } else if (ap->config.type != VALUE_OBJECT) {
        ap->unread = arena_printf(a,
                                  "error unmarshaling JSON: while decoding JSON: json: cannot "
                                  "unmarshal %s into Go value of type map[string]interface {}",
                                  json_type(&ap->config));
    } else {
        struct str path = value_find_duplicate(a, &ap->config);
        if (path.n)
            ap->n_odd = yaml_duplicates(a, body, ap->odd, APPLY_NOTES_MAX);
        if (path.n && !ap->n_odd)
            ap->odd[ap->n_odd++] =
                arena_printf(a, "duplicate field \"" STR_FMT "\"", STR_ARG(path));
        value_drop_duplicates(a, &ap->config);
    }
    return 0;
}

/* ---- What it says it is ---- */

/* "apps/v1, Kind=Deployment", "/v1, Kind=Pod"; what is no version at all leaves nothing. */
static struct str type_text(struct arena *a, const struct value *config)
{
    struct str version = value_text(config, "apiVersion"), group = STR(""),
               kind = value_text(config, "kind");
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    if (str_find(version, '/') >= 0)
        return STR("/, Kind=");
    return arena_printf(a, STR_FMT "/" STR_FMT ", Kind=" STR_FMT, STR_ARG(group), STR_ARG(version),
                        STR_ARG(kind));
}

static int check_type(const struct apply *ap, const struct kind_type *type, struct err *err)
{
    struct arena *a = ap->call->arena;
    if (str_eq(value_text(&ap->config, "kind"), type->name) &&
        str_eq(value_text(&ap->config, "apiVersion"), convert_api_version(a, type)))
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "invalid object type: " STR_FMT,
                   STR_ARG(type_text(a, &ap->config)));
}

/* ---- Applying ---- */

/* The result as its kind, with the managers that it came with. */
static int settle(struct apply *ap, const struct kind_type *type, const struct value *made,
                  struct value *ret, struct err *err)
{
    struct arena *a = ap->call->arena;
    struct err why = ERR_INIT(a);
    if (typed_read_made(a, type, made, NULL, ret, &why) < 0) {
        struct str gvk = type_text(a, &ap->config);
        return err_set(err, ERR_UNKNOWN,
                       "failed to convert new object (" STR_FMT "/" STR_FMT "; " STR_FMT
                       ") to proper version: unable to convert unstructured object to " STR_FMT
                       ": " STR_FMT,
                       STR_ARG(value_str(value_dig(&ap->config, "metadata", "namespace"))),
                       STR_ARG(value_str(value_dig(&ap->config, "metadata", "name"))), STR_ARG(gvk),
                       STR_ARG(gvk), STR_ARG(why.msg));
    }
    xray_stage(ap->call->xray, "defaults", type->name, ret);
    defaults_apply(a, type, ret);
    return 0;
}

static int heed_duplicates(struct apply *ap, struct err *err)
{
    if (!ap->n_odd || ap->validation == DECODE_IGNORE)
        return 0;
    autobuf list = { 0 };
    for (size_t i = 0; i < ap->n_odd; i++) {
        if (ap->validation == DECODE_WARN)
            call_warn(ap->call, ap->odd[i]);
        buf_printf(&list, "\n  " STR_FMT, STR_ARG(ap->odd[i]));
    }
    if (ap->validation == DECODE_WARN)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal "
                   "errors:" STR_FMT,
                   STR_ARG(buf_str(&list)));
}

int apply_object(struct apply *ap, const struct kind_type *type, const struct value *live,
                 struct value *ret, struct err *err)
{
    struct arena *a = ap->call->arena;
    struct value made;
    if (ap->unread.n)
        return err_set(err, ERR_BAD_REQUEST, "error decoding patch: " STR_FMT, STR_ARG(ap->unread));
    int r = check_type(ap, type, err);
    if (r < 0)
        return r;
    r = managed_check(a, ap->managers, &ap->config, err);
    if (r < 0)
        return r;
    r = managed_apply(a, ap->managers, live, &ap->config, ap->force, &made, err);
    if (r < 0)
        return r;
    r = settle(ap, type, &made, ret, err);
    if (r < 0)
        return r;
    return heed_duplicates(ap, err);
}
