#include "server/http/reply.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "net/loop.h"
#include "server/object/encode.h"
#include "base/banned.h"

static void reply(struct http_exchange *x, int status, const struct http_header *headers,
                  size_t n_headers, struct http_bytes bytes)
{
    if (loop_is_mine(http_loop(x)))
        http_reply(x, status, headers, n_headers, bytes);
    else
        http_send(x, status, headers, n_headers, bytes);
}

void reply_bytes(struct http_exchange *x, int status, const struct http_header *headers,
                 size_t n_headers, struct str bytes)
{
    reply(x, status, headers, n_headers, HTTP_BYTES(bytes));
}

static void release(void *owner)
{
    free(owner);
}

void reply_buffer(struct http_exchange *x, int status, const struct http_header *headers,
                  size_t n_headers, struct buf *bytes)
{
    const struct http_bytes all = { buf_str(bytes), release, bytes->p };
    *bytes = (struct buf){ 0 };
    reply(x, status, headers, n_headers, all);
}

static void reply_typed(struct http_exchange *x, int status, struct str type, struct str text)
{
    const struct http_header headers[] = {
        { STR("content-type"), type },
        { STR("cache-control"), STR("no-cache, private") },
        { STR("x-content-type-options"), STR("nosniff") },
    };
    reply_bytes(x, status, headers, ARRAY_LEN(headers), text);
}

void reply_text(struct http_exchange *x, int status, struct str text)
{
    reply_typed(x, status, STR("text/plain; charset=utf-8"), text);
}

void reply_json(struct http_exchange *x, int status, struct str text)
{
    reply_typed(x, status, STR("application/json"), text);
}

static void add_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    if (text.n)
        value_put_new(a, obj, key, value_string(text));
}

static struct value causes_of(struct arena *a, const struct err_cause *first)
{
    struct value list = value_array();
    for (const struct err_cause *cause = first; cause; cause = cause->next) {
        struct value one = value_object();
        add_text(a, &one, STR("reason"), cause->reason);
        add_text(a, &one, STR("message"), cause->msg);
        add_text(a, &one, STR("field"), cause->field);
        value_put_item(a, &list, one);
    }
    return list;
}

/* Upstream leaves the details out of what it refuses before it knows which object is meant. */
static bool has_details(const struct err *err)
{
    if (err->causes || err->about.kind.p || err->about.retry_after_sec)
        return true;
    switch (err->code) {
    case ERR_BAD_REQUEST:
    case ERR_NOT_ACCEPTABLE:
    case ERR_UNSUPPORTED_MEDIA_TYPE:
    case ERR_UNKNOWN:
    case ERR_EXPIRED:
    case ERR_UNAUTHORIZED:
    case ERR_UNAVAILABLE:
        return false;
    default:
        return true;
    }
}

static struct value details_of(struct arena *a, const struct err *err)
{
    struct value details = value_object();
    add_text(a, &details, STR("name"), err->about.name);
    add_text(a, &details, STR("group"), err->about.group);
    add_text(a, &details, STR("kind"), err->about.kind);
    if (err->causes)
        value_put_new(a, &details, STR("causes"), causes_of(a, err->causes));
    if (err->about.retry_after_sec)
        value_put_new(a, &details, STR("retryAfterSeconds"), value_int(err->about.retry_after_sec));
    return details;
}

/* What the disk does is for whoever runs the server: its words have names of files in them. */
static struct str message_of(const struct err *err)
{
    struct str words;
    switch (err->code) {
    case ERR_NO_SPACE:
        words = STR("the disk is full: nothing was written");
        break;
    case ERR_IO:
        words = STR("the disk failed: nothing was acknowledged");
        break;
    default:
        return err->msg;
    }
    log_error("a request failed", LOG_STR("error", err->msg));
    return words;
}

/* With the names that an answer has. */
static struct value given_status(struct arena *a, const struct value *given)
{
    struct value status = value_object();
    add_text(a, &status, STR("kind"), STR("Status"));
    add_text(a, &status, STR("apiVersion"), STR("v1"));
    value_each_field (f, given)
        if (!value_get(&status, f->key))
            value_put_new(a, &status, f->key, value_borrow(&f->val));
    return status;
}

int reply_code(const struct err *err)
{
    int64_t code;
    if (err->about.status && value_to_int(value_get(err->about.status, STR("code")), &code) &&
        code >= 400 && code <= 999)
        return (int)code;
    return err_http_status(err->code);
}

struct value reply_status(struct arena *a, const struct err *err)
{
    if (err->about.status)
        return given_status(a, err->about.status);
    struct value status = value_object(), meta = value_object();
    add_text(a, &status, STR("kind"), STR("Status"));
    add_text(a, &status, STR("apiVersion"), STR("v1"));
    add_text(a, &meta, STR("continue"), err->about.resume);
    value_put_new(a, &status, STR("metadata"), meta);
    add_text(a, &status, STR("status"), STR("Failure"));
    add_text(a, &status, STR("message"), message_of(err));
    add_text(a, &status, STR("reason"), err_reason(err->code));
    if (has_details(err))
        value_put_new(a, &status, STR("details"), details_of(a, err));
    value_put_new(a, &status, STR("code"), value_int(err_http_status(err->code)));
    return status;
}

void reply_error(struct http_exchange *x, const struct err *err)
{
    struct arena *a = http_arena(x);
    struct value status = reply_status(a, err);
    struct format f = format_of_refusal(a, http_header_get(http_request_of(x), STR("accept")));
    autobuf bytes = { 0 };
    encode_tree(&bytes, a, &f, kind_type_find(STR("meta"), STR("v1"), STR("Status")), &status);
    reply_typed(x, reply_code(err), format_content_type(f.media, false),
                arena_str(a, buf_str(&bytes)));
}

void reply_refusal(struct http_exchange *x, enum err_code code, const char *words)
{
    struct err err = ERR_INIT(http_arena(x));
    (void)err_set(&err, code, "%s", words);
    reply_error(x, &err);
}

void reply_method_not_allowed(struct http_exchange *x)
{
    reply_refusal(x, ERR_METHOD_NOT_ALLOWED,
                  "the server does not allow this method on the requested resource");
}
