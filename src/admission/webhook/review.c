#include "admission/webhook/review.h"

#include "admission/webhook/hook.h"
#include "api/go/quote.h"
#include "api/typed.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "merge/json_patch.h"
#include "base/banned.h"

/* ---- The question ---- */

static void write_part(struct buf *out, const char *key, const struct value *v)
{
    buf_printf(out, ",\"%s\":", key);
    if (v)
        json_write(out, v);
    else
        buf_str_add(out, STR("null"));
}

struct str review_rest(struct admission_request *req, const struct view *v)
{
    autobuf out = { 0 };
    write_part(&out, "object", v->obj);
    write_part(&out, "oldObject", v->old_obj);
    write_part(&out, "options", req->options);
    return arena_str(req->arena, buf_str(&out));
}

void review_write(struct buf *out, struct admission_request *req, const struct view *v,
                  struct str version, struct str uid, struct str rest)
{
    struct value request = view_request(req, v, uid);
    autobuf text = { 0 };
    json_write(&text, &request);
    buf_printf(out,
               "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/" STR_FMT
               "\",\"request\":",
               STR_ARG(version));
    buf_str_add(out, str_take(buf_str(&text), text.n - 1)); /* it is an object */
    buf_str_add(out, rest);
    buf_str_add(out, STR("}}"));
}

/* ---- The answer ---- */

static int undecodable(struct err *err)
{
    struct str why = err->msg;
    return err_set(err, ERR_UNKNOWN, "failed to call webhook: " STR_FMT, STR_ARG(why));
}

static int invalid(struct err *err, const char *why)
{
    return err_set(err, ERR_UNKNOWN, "received invalid webhook response: %s", why);
}

static int check_uid(struct arena *a, struct str uid, struct str got, struct err *err)
{
    autobuf words = { 0 };
    if (str_eq(uid, got))
        return 0;
    buf_str_add(&words, STR("expected response.uid="));
    quote_go(&words, uid);
    buf_str_add(&words, STR(", got "));
    quote_go(&words, got);
    return invalid(err, str_cstr(a, buf_str(&words)));
}

static int check_kind(struct arena *a, const struct value *review, struct err *err)
{
    static const struct str wanted = STR("admission.k8s.io/v1, Kind=AdmissionReview");
    struct str got = hook_review_name(a, review);
    if (str_eq(got, wanted))
        return 0;
    return invalid(
        err, str_cstr(a, arena_printf(a, "expected webhook response of " STR_FMT ", got " STR_FMT,
                                      STR_ARG(wanted), STR_ARG(got))));
}

static int check_patch(struct arena *a, bool is_mutating, bool has_type,
                       const struct review_answer *answer, struct err *err)
{
    if (!is_mutating && answer->patch.n)
        return invalid(err, "validating webhook may not return response.patch");
    if (!is_mutating && has_type)
        return invalid(err, "validating webhook may not return response.patchType");
    if (answer->patch.n && !has_type)
        return invalid(err, "webhook returned response.patch but not response.patchType");
    if (!answer->patch.n && has_type)
        return invalid(err, "webhook returned response.patchType but not response.patch");
    (void)a;
    if (has_type && !answer->patch_type.n)
        return invalid(err, "webhook returned invalid response.patchType of \"\"");
    return 0;
}

static struct str decode_patch(struct arena *a, const struct value *patch)
{
    autobuf bytes = { 0 };
    if (!base64_decode(&bytes, value_str(patch)))
        return STR("");
    return arena_str(a, buf_str(&bytes));
}

static int check(struct arena *a, const struct value *review, struct str uid, bool is_mutating,
                 const struct review_answer *answer, struct err *err)
{
    const struct value *response = value_get(review, STR("response"));
    int r = check_uid(a, uid, value_text(response, "uid"), err);
    if (r < 0)
        return r;
    r = check_kind(a, review, err);
    if (r < 0)
        return r;
    return check_patch(a, is_mutating, value_get(response, STR("patchType")), answer, err);
}

/* The first form of the API took everything, and every patch for a JSON patch. */
static void be_lenient(bool is_mutating, struct review_answer *ret)
{
    if (!is_mutating)
        ret->patch = STR("");
    ret->patch_type = ret->patch.n ? STR("JSONPatch") : STR("");
}

int review_read(struct arena *a, struct str body, struct str version, struct str uid,
                bool is_mutating, struct review_answer *ret, struct err *err)
{
    const struct hook_review wanted = { STR("admission.k8s.io"), version, STR("AdmissionReview") };
    const struct kind_type *type = kind_type_find(wanted.group, version, wanted.kind);
    struct value raw, *review = arena_new(a, struct value);
    if (hook_read_review(a, body, &wanted, &raw, err) < 0 ||
        typed_read(a, type, &raw, NULL, review, err) < 0)
        return undecodable(err);
    const struct value *response = value_get(review, STR("response"));
    if (!value_is(response, VALUE_OBJECT))
        return invalid(err, "webhook response was absent");
    *ret = (struct review_answer){
        .allowed = value_is_true(value_get(response, STR("allowed"))),
        .status = value_get(response, STR("status")),
        .annotations = value_get(response, STR("auditAnnotations")),
        .warnings = value_get(response, STR("warnings")),
        .patch = decode_patch(a, value_get(response, STR("patch"))),
        .patch_type = value_text(response, "patchType"),
    };
    if (str_eq(version, STR("v1")))
        return check(a, review, uid, is_mutating, ret, err);
    be_lenient(is_mutating, ret);
    return 0;
}

static int undecodable_patch(struct str why, struct err *err)
{
    struct str text = arena_str(err->arena, why);
    return err_set(err, ERR_UNKNOWN, "received undecodable patch in webhook response: " STR_FMT,
                   STR_ARG(text));
}

int review_patch(struct arena *a, const struct review_answer *answer, struct value *ret,
                 struct err *err)
{
    *ret = value_array();
    if (!answer->patch.n)
        return 0;
    if (json_read(a, answer->patch, NULL, ret, NULL) < 0)
        return undecodable_patch(json_fault(a, answer->patch), err);
    if (json_patch_check(a, ret, NULL, err) < 0)
        return undecodable_patch(err->msg, err);
    if (ret->type == VALUE_NULL)
        *ret = value_array();
    return 0;
}

/* ---- Refusals ---- */

static struct str refusal_words(struct arena *a, struct str webhook, const struct value *status)
{
    struct str message = value_text(status, "message"), reason = value_text(status, "reason");
    autobuf name = { 0 };
    quote_go(&name, webhook);
    struct str why = message.n ? message : reason;
    return arena_printf(a, "admission webhook " STR_FMT " denied the request%s" STR_FMT,
                        STR_ARG(buf_str(&name)), why.n ? ": " : " without explanation",
                        STR_ARG(why));
}

int review_refusal(struct arena *a, struct str webhook, const struct value *status, struct err *err)
{
    enum { BAD_REQUEST = 400 };
    struct str words = refusal_words(a, webhook, status);
    struct value *answer = arena_new(a, struct value);
    int64_t code = 0, seconds = 0;
    *answer = status ? value_clone(a, status) : value_object();
    (void)value_to_int(value_get(answer, STR("code")), &code);
    if (!value_get(answer, STR("metadata")))
        value_put(a, answer, STR("metadata"), value_object());
    if (!value_text(answer, "status").n || str_eq(value_text(answer, "status"), STR("Success")))
        value_put(a, answer, STR("status"), value_string(STR("Failure")));
    value_put(a, answer, STR("message"), value_string(words));
    value_put(a, answer, STR("code"), value_int(code < BAD_REQUEST ? BAD_REQUEST : code));
    (void)value_to_int(value_dig(answer, "details", "retryAfterSeconds"), &seconds);
    /* Whatever code it names, nobody here should take it for what it is not. */
    int r = err_set(err, ERR_FORBIDDEN, STR_FMT, STR_ARG(words));
    err->about.status = answer;
    err->about.retry_after_sec = seconds > 0 && seconds < UINT32_MAX ? (uint32_t)seconds : 0;
    return r;
}
