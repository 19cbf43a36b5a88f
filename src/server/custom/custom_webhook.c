/* custom_webhook.c - what is asked of a conversion webhook, and whether its answer will do. */
#include "server/custom/custom_webhook.h"

#include "admission/webhook/hook.h"
#include "api/convert/convert.h"
#include "api/meta.h"
#include "api/go/quote.h"
#include "base/idiom.h"
#include "base/json.h"
#include "merge/unstructured.h"
#include "server/object/stored.h"
#include "base/banned.h"

/* One call: which of the objects are sent, and how they are named in messages. */
struct review {
    struct arena *arena;
    const struct custom_version *to;
    struct str to_api_version, version, uid;
    struct value *objs;
    size_t n;
    size_t *sent; /* indexes into objs */
    size_t n_sent;
    struct str what; /* "GROUP/VERSION, Kind=KIND" */
    bool is_single;
    struct err *err;
};

/* ---- The request ---- */

static struct str api_version_of(const struct value *obj)
{
    return value_str(value_get(obj, STR("apiVersion")));
}

static struct str kind_of(const struct value *obj)
{
    return value_str(value_get(obj, STR("kind")));
}

static void choose_objects(struct review *r)
{
    r->sent = arena_array(r->arena, size_t, r->n);
    for (size_t i = 0; i < r->n; i++)
        if (!str_eq(api_version_of(&r->objs[i]), r->to_api_version))
            r->sent[r->n_sent++] = i;
    if (!r->n_sent)
        return;
    const struct value *first = &r->objs[r->sent[0]];
    r->what = arena_printf(r->arena, STR_FMT ", Kind=" STR_FMT, STR_ARG(api_version_of(first)),
                           STR_ARG(kind_of(first)));
    r->is_single = r->n == 1;
}

/* An object is converted before it gets its revision. */
static void write_object(struct arena *a, struct buf *out, const struct value *obj)
{
    struct value copy = value_borrow(obj), *meta = value_edit(a, &copy, STR("metadata"));
    if (value_is(meta, VALUE_OBJECT))
        value_drop(a, meta, STR("resourceVersion"));
    json_write(out, &copy);
}

static void write_request(const struct review *r, struct buf *out)
{
    buf_printf(out,
               "{\"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/" STR_FMT
               "\",\"request\":{\"uid\":\"" STR_FMT "\",\"desiredAPIVersion\":",
               STR_ARG(r->version), STR_ARG(r->uid));
    json_write_string(out, r->to_api_version);
    buf_str_add(out, STR(",\"objects\":["));
    for (size_t i = 0; i < r->n_sent; i++) {
        if (i)
            buf_byte(out, ',');
        write_object(r->arena, out, &r->objs[r->sent[i]]);
    }
    /* Upstream sends an empty response along, and webhooks that fill it in expect it. */
    buf_str_add(out, STR("]},\"response\":{\"uid\":\"\",\"convertedObjects\":null,"
                         "\"result\":{\"metadata\":{}}}}"));
}

/* ---- The answer as a whole ---- */

static int failed(struct review *r, struct str why)
{
    return err_set(r->err, ERR_UNKNOWN, "conversion webhook for " STR_FMT " failed: " STR_FMT,
                   STR_ARG(r->what), STR_ARG(why));
}

/* The first form of the API checked neither what had come nor whether it was meant. */
static int check_origin(struct review *r, const struct value *response)
{
    struct str uid = value_str(value_get(response, STR("uid")));
    if (str_eq(uid, r->uid) || !str_eq(r->version, STR("v1")))
        return 0;
    autobuf words = { 0 };
    buf_str_add(&words, STR("expected response.uid="));
    quote_go(&words, r->uid);
    buf_str_add(&words, STR(", got "));
    quote_go(&words, uid);
    return failed(r, buf_str(&words));
}

/* hook_read_review() believes those who leave it out; the first form of the API did, too. */
static int check_type(struct review *r, const struct value *review)
{
    static const struct str wanted = STR("apiextensions.k8s.io/v1, Kind=ConversionReview");
    struct str got = hook_review_name(r->arena, review);
    if (str_eq(got, wanted) || !str_eq(r->version, STR("v1")))
        return 0;
    return failed(r,
                  arena_printf(r->arena, "expected webhook response of " STR_FMT ", got " STR_FMT,
                               STR_ARG(wanted), STR_ARG(got)));
}

static int check_result(struct review *r, const struct value *response)
{
    const struct value *result = value_get(response, STR("result"));
    struct str status = value_str(value_get(result, STR("status"))),
               message = value_str(value_get(result, STR("message")));
    if (str_eq(status, STR("Success")))
        return 0;
    return failed(r, message.n
                         ? message
                         : arena_printf(r->arena,
                                        "response.result.status was '" STR_FMT "', not 'Success'",
                                        STR_ARG(status)));
}

static int check_count(struct review *r, const struct value *objects)
{
    size_t n = value_is(objects, VALUE_ARRAY) ? objects->n : 0;
    if (n == r->n_sent)
        return 0;
    return err_set(r->err, ERR_UNKNOWN,
                   "conversion webhook for " STR_FMT " returned %zu objects, expected %zu",
                   STR_ARG(r->what), n, r->n_sent);
}

/* `*ret` is the list of objects. */
static int check_review(struct review *r, const struct value *review, const struct value **ret)
{
    const struct value *response = value_get(review, STR("response"));
    if (!value_is(response, VALUE_OBJECT))
        response = NULL;
    int fault = check_type(r, review);
    if (fault < 0)
        return fault;
    if (!response)
        return failed(r, STR("no response provided"));
    fault = check_origin(r, response);
    if (fault < 0)
        return fault;
    fault = check_result(r, response);
    if (fault < 0)
        return fault;
    *ret = value_get(response, STR("convertedObjects"));
    return check_count(r, *ret);
}

/* ---- One object ---- */

static int invalid(struct review *r, size_t i, struct str why)
{
    if (r->is_single)
        return err_set(r->err, ERR_UNKNOWN,
                       "conversion webhook for " STR_FMT " returned invalid object: " STR_FMT,
                       STR_ARG(r->what), STR_ARG(why));
    return err_set(r->err, ERR_UNKNOWN,
                   "conversion webhook for " STR_FMT
                   " returned invalid converted object at index %zu: " STR_FMT,
                   STR_ARG(r->what), i, STR_ARG(why));
}

static int invalid_meta(struct review *r, size_t i, struct str why)
{
    if (r->is_single)
        return err_set(r->err, ERR_UNKNOWN,
                       "conversion webhook for " STR_FMT " returned invalid metadata: " STR_FMT,
                       STR_ARG(r->what), STR_ARG(why));
    return err_set(r->err, ERR_UNKNOWN,
                   "conversion webhook for " STR_FMT
                   " returned invalid metadata in object at index %zu: " STR_FMT,
                   STR_ARG(r->what), i, STR_ARG(why));
}

static int invalid_type(struct review *r, size_t i, const char *which, struct str wanted,
                        struct str got)
{
    return err_set(r->err, ERR_UNKNOWN,
                   "conversion webhook for " STR_FMT
                   " returned invalid %sobject at index %zu: invalid %s (expected " STR_FMT
                   ", received " STR_FMT ")",
                   STR_ARG(r->what), r->is_single ? "" : "converted ", i, which, STR_ARG(wanted),
                   STR_ARG(got));
}

static int no_kind(struct review *r, size_t i, const struct value *obj)
{
    autobuf words = { 0 };
    buf_str_add(&words, STR("Object 'Kind' is missing in '"));
    json_write(&words, obj);
    buf_byte(&words, '\'');
    if (r->is_single)
        return err_set(r->err, ERR_UNKNOWN, STR_FMT, STR_ARG(buf_str(&words)));
    return invalid(r, i, buf_str(&words));
}

static int check_object(struct review *r, size_t i, const struct value *in, const struct value *out)
{
    static const struct {
        const char *field, *shown;
    } same[] = { { "name", "name" }, { "namespace", "namespace" }, { "uid", "UID" } };
    if (!value_is(out, VALUE_OBJECT) || !kind_of(out).n)
        return no_kind(r, i, out);
    if (!str_eq(api_version_of(out), r->to_api_version))
        return invalid_type(r, i, "groupVersion", r->to_api_version, api_version_of(out));
    if (!str_eq(kind_of(in), kind_of(out)))
        return invalid_type(r, i, "kind", kind_of(in), kind_of(out));
    for (size_t k = 0; k < ARRAY_LEN(same); k++) {
        struct str was = value_str(value_dig(in, "metadata", same[k].field)),
                   is = value_str(value_dig(out, "metadata", same[k].field));
        if (!str_eq(was, is))
            return invalid(r, i,
                           arena_printf(r->arena, "must have the same %s: " STR_FMT " != " STR_FMT,
                                        same[k].shown, STR_ARG(was), STR_ARG(is)));
    }
    return 0;
}

static const char *go_type(const struct value *v)
{
    return v->type == VALUE_NULL ? "<nil>" : unstructured_type(v);
}

/* That every value is text; `field` is "labels" or "annotations". */
static int check_texts(struct review *r, size_t i, const char *field, const struct value *map)
{
    value_each_field (f, map)
        if (f->val.type != VALUE_STRING)
            return invalid_meta(r, i,
                                arena_printf(r->arena,
                                             "metadata.%s[" STR_FMT "] must be a string, but is "
                                             "%s in converted object",
                                             field, STR_ARG(f->key), go_type(&f->val)));
    return 0;
}

static int check_rules(struct review *r, size_t i, bool labels, const struct value *map)
{
    struct field_errors e = FIELD_ERRORS_INIT(r->arena);
    struct field_path meta = field_child(NULL, STR("metadata"));
    struct field_path path = field_child(&meta, labels ? STR("labels") : STR("annotation"));
    if (labels)
        meta_check_labels(&e, &path, map);
    else
        meta_check_annotations(&e, &path, map);
    return e.n ? invalid_meta(r, i, field_errors_text(&e)) : 0;
}

/* Labels or annotations of the answer, into the metadata that were sent. */
static int take_map(struct review *r, size_t i, const char *field, const struct value *answered,
                    struct value *meta)
{
    struct str key = str_of(field);
    const struct value *map = value_get(answered, key), *was = value_get(meta, key);
    if (!map || map->type == VALUE_NULL) {
        value_drop(r->arena, meta, key);
        return 0;
    }
    if (map->type != VALUE_OBJECT)
        return invalid_meta(r, i,
                            arena_printf(r->arena,
                                         "invalid metadata.%s of type %s in converted object",
                                         field, go_type(map)));
    int fault = check_texts(r, i, field, map);
    if (fault < 0)
        return fault;
    bool is_same = was && value_eq(was, map);
    fault = is_same ? 0 : check_rules(r, i, str_eq(key, STR("labels")), map);
    if (fault < 0)
        return fault;
    value_put(r->arena, meta, key, value_borrow(map));
    return 0;
}

/* Puts the metadata back that were sent. */
static int restore_meta(struct review *r, size_t i, const struct value *in, struct value *out)
{
    const struct value *answered = value_get(out, STR("metadata")),
                       *was = value_get(in, STR("metadata"));
    if (!answered)
        return invalid_meta(r, i, STR("missing metadata in converted object"));
    if (answered->type != VALUE_OBJECT)
        return invalid_meta(r, i,
                            arena_printf(r->arena,
                                         "invalid metadata of type %s in converted object",
                                         go_type(answered)));
    struct value meta = was ? value_borrow(was) : value_object(), kept = value_borrow(answered);
    int fault = take_map(r, i, "labels", &kept, &meta);
    if (fault < 0)
        return fault;
    fault = take_map(r, i, "annotations", &kept, &meta);
    if (fault < 0)
        return fault;
    value_put(r->arena, out, STR("metadata"), meta);
    return 0;
}

static int take_objects(struct review *r, const struct value *objects)
{
    for (size_t i = 0; i < r->n_sent; i++) {
        struct value *in = &r->objs[r->sent[i]];
        const struct value *answered = value_at(objects, i);
        int fault = check_object(r, i, in, answered);
        if (fault < 0)
            return fault;
        struct value out = value_borrow(answered);
        value_drop_duplicates(r->arena, &out);
        fault = restore_meta(r, i, in, &out);
        if (fault < 0)
            return fault;
        *in = out;
    }
    return 0;
}

/* ---- All of it ---- */

static int read_review(struct review *r, struct str text, struct value *ret)
{
    const struct hook_review wanted = { STR("apiextensions.k8s.io"), r->version,
                                        STR("ConversionReview") };
    struct err why = ERR_INIT(r->arena);
    return hook_read_review(r->arena, text, &wanted, ret, &why) < 0 ? failed(r, why.msg) : 0;
}

static int ask(struct review *r, bool *ret_answered)
{
    autobuf body = { 0 };
    struct str answer;
    struct value review;
    const struct value *objects = NULL;
    struct err why = ERR_INIT(r->arena);
    write_request(r, &body);
    if (custom_webhook__post(r->arena, r->to->of, buf_str(&body), &answer, &why) < 0)
        return failed(r, why.msg);
    *ret_answered = true;
    int fault = read_review(r, answer, &review);
    if (fault < 0)
        return fault;
    fault = check_review(r, &review, &objects);
    return fault < 0 ? fault : take_objects(r, objects);
}

int custom_webhook_call(struct arena *a, const struct custom_version *to, struct value *objs,
                        size_t n, bool *ret_answered, struct err *err)
{
    struct review r = {
        .arena = a,
        .to = to,
        .to_api_version = convert_api_version(a, &to->type),
        .version = custom_webhook__review_version(to->of->webhook),
        .uid = meta_new_uid(a),
        .objs = objs,
        .n = n,
        .err = err,
    };
    *ret_answered = false;
    choose_objects(&r);
    if (!r.version.p)
        return err_set(err, ERR_UNKNOWN, "no supported conversion review versions");
    return r.n_sent ? ask(&r, ret_answered) : 0;
}

/* One that says nothing but what it is: there is nothing to ask. */
static bool is_empty(const struct value *obj)
{
    return obj->n == 2 && kind_of(obj).n && api_version_of(obj).n;
}

static int convert_one(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                       struct value *obj, struct err *err)
{
    bool answered;
    value_put(a, obj, STR("apiVersion"), value_string(convert_api_version(a, from)));
    if (!is_empty(obj))
        return custom_webhook_call(a, custom_version_of_type(to), obj, 1, &answered, err);
    value_put(a, obj, STR("apiVersion"), value_string(convert_api_version(a, to)));
    return 0;
}

int custom_webhook_convert_bare(struct arena *a, const struct kind_type *from,
                                const struct kind_type *to, struct value *in, struct value *ret,
                                struct err *err)
{
    *ret = value_share(in);
    if (from == to)
        return 0;
    if (custom_version_of_type(to)->of->webhook)
        return convert_one(a, from, to, ret, err);
    value_put(a, ret, STR("apiVersion"), value_string(convert_api_version(a, to)));
    return 0;
}

int custom_webhook_convert(struct arena *a, const struct kind_type *from,
                           const struct kind_type *to, struct value *in, struct value *ret,
                           struct err *err)
{
    struct value obj = value_share(in);
    if (from == to) {
        *ret = obj;
        return 0;
    }
    int r = convert_one(a, from, to, &obj, err);
    if (r < 0)
        return r;
    r = to->custom->read(a, to, &obj, NULL, ret, err);
    if (r < 0)
        return r;
    to->custom->defaults(a, to, ret);
    return 0;
}
