#include "server/reply.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/banned.h"

static void reply_typed(struct http_exchange *x, int status, struct str type, struct str text)
{
    const struct http_header headers[] = {
        { STR("content-type"), type },
        { STR("cache-control"), STR("no-cache, private") },
        { STR("x-content-type-options"), STR("nosniff") },
    };
    http_reply(x, status, headers, sizeof(headers) / sizeof(headers[0]), HTTP_BYTES(text));
}

void reply_text(struct http_exchange *x, int status, struct str text)
{
    reply_typed(x, status, STR("text/plain; charset=utf-8"), text);
}

void reply_json(struct http_exchange *x, int status, struct str text)
{
    reply_typed(x, status, STR("application/json"), text);
}

static void add_causes(struct buf *out, const struct err_cause *first)
{
    buf_str_add(out, STR("\"causes\":["));
    for (const struct err_cause *cause = first; cause; cause = cause->next) {
        if (cause != first)
            buf_byte(out, ',');
        buf_str_add(out, STR("{\"reason\":"));
        json_write_string(out, cause->reason);
        buf_str_add(out, STR(",\"message\":"));
        json_write_string(out, cause->msg);
        buf_str_add(out, STR(",\"field\":"));
        json_write_string(out, cause->field);
        buf_byte(out, '}');
    }
    buf_byte(out, ']');
}

/* Upstream leaves the details out of what it refuses before it knows which object is meant. */
static bool has_details(const struct err *err)
{
    switch (err->code) {
    case ERR_BAD_REQUEST:
    case ERR_NOT_ACCEPTABLE:
    case ERR_UNSUPPORTED_MEDIA_TYPE:
        return err->causes != NULL;
    default:
        return true;
    }
}

void reply_status_json(struct buf *out, const struct err *err)
{
    buf_str_add(out, STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                         "\"status\":\"Failure\",\"message\":"));
    json_write_string(out, err->msg);
    buf_str_add(out, STR(",\"reason\":"));
    json_write_string(out, err_reason(err->code));
    if (has_details(err)) {
        buf_str_add(out, STR(",\"details\":{"));
        if (err->causes)
            add_causes(out, err->causes);
        buf_byte(out, '}');
    }
    buf_printf(out, ",\"code\":%d}\n", err_http_status(err->code));
}

void reply_error(struct http_exchange *x, const struct err *err)
{
    autobuf text = { 0 };
    reply_status_json(&text, err);
    reply_json(x, err_http_status(err->code), arena_str(http_arena(x), buf_str(&text)));
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
