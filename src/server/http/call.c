#include "server/http/call.h"

#include "api/columns/columns.h"
#include "server/custom/custom.h"
#include "server/object/encode.h"
#include "api/errors.h"
#include "server/http/reply.h"
#include "server/object/stored.h"
#include "base/banned.h"

enum { HEADERS_MAX = 3, WARNINGS_MAX = 100 };

/* ---- Answers ---- */

void call_warn(struct call *c, struct str text)
{
    if (!c->warnings)
        return;
    size_t n = 0;
    struct call_warning **end = &c->warnings->first;
    for (; *end; end = &(*end)->next)
        if (str_eq((*end)->text, text) || ++n == WARNINGS_MAX)
            return;
    *end = arena_new(c->arena, struct call_warning);
    (*end)->text = text;
}

/* 299 - "TEXT", with quotes and backslashes escaped and no control characters. */
static struct str warning_value(struct arena *a, struct str text)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("299 - \""));
    for (size_t i = 0; i < text.n; i++) {
        char ch = text.p[i];
        if (ch == '"' || ch == '\\')
            buf_byte(&out, '\\');
        if ((unsigned char)ch >= 0x20 && ch != 0x7f)
            buf_byte(&out, ch);
    }
    buf_byte(&out, '"');
    return arena_str(a, buf_str(&out));
}

size_t call_headers(struct call *c, struct str content_type, const struct http_header **ret)
{
    const struct call_warning *first = c->warnings ? c->warnings->first : NULL;
    size_t n_warnings = 0, n = 0;
    for (const struct call_warning *w = first; w; w = w->next)
        n_warnings++;
    struct http_header *h = arena_array(c->arena, struct http_header, HEADERS_MAX + n_warnings);
    h[n++] = (struct http_header){ STR("content-type"), content_type };
    h[n++] = (struct http_header){ STR("cache-control"), STR("no-cache, private") };
    if (c->retry_after_sec)
        h[n++] = (struct http_header){ STR("retry-after"),
                                       arena_printf(c->arena, "%u", c->retry_after_sec) };
    for (const struct call_warning *w = first; w; w = w->next)
        h[n++] = (struct http_header){ STR("warning"), warning_value(c->arena, w->text) };
    *ret = h;
    return n;
}

static void answer(struct call *c, int status, struct buf *bytes)
{
    const struct http_header *headers;
    size_t n = call_headers(c, format_content_type(c->format.media, false), &headers);
    reply_buffer(c->x, status, headers, n, bytes);
}

static const struct kind_type *status_type(void)
{
    return kind_type_find(STR("meta"), STR("v1"), STR("Status"));
}

void call_fail(struct call *c, const struct err *err)
{
    autobuf bytes = { 0 };
    struct value status = reply_status(c->arena, err);
    bool pretty = c->format.pretty;
    c->retry_after_sec = err->about.retry_after_sec;
    c->format = format_of_refusal(c->arena, http_header_get(c->http, STR("accept")));
    c->format.pretty |= pretty;
    encode_tree(&bytes, c->arena, &c->format, status_type(), &status);
    answer(c, err_http_status(err->code), &bytes);
}

void call_object(struct call *c, int status, const struct kind_type *type, struct value *obj)
{
    struct encoder e = {
        .format = c->format,
        .resource = c->req.resource,
        .stored = c->stored,
        .now_ns = clock_wall_ns(c->api->clock),
        .include = c->include,
    };
    struct err err = ERR_INIT(c->arena);
    autobuf bytes = { 0 };
    int r = 0;
    if (type != c->stored->type && c->format.as == FORMAT_TABLE) {
        e.resource = e.stored = &columns_scale;
        r = encode_object(&bytes, c->arena, &e, obj, &err);
    } else if (type != c->stored->type) {
        encode_tree(&bytes, c->arena, &c->format, type, obj);
    } else {
        r = encode_object(&bytes, c->arena, &e, obj, &err);
    }
    if (r < 0)
        call_fail(c, &err);
    else
        answer(c, status, &bytes);
}

static void send_success(struct call *c, struct value details, bool says_code)
{
    struct value status = value_object();
    value_put_new(c->arena, &status, STR("kind"), value_string(STR("Status")));
    value_put_new(c->arena, &status, STR("apiVersion"), value_string(STR("v1")));
    value_put_new(c->arena, &status, STR("metadata"), value_object());
    value_put_new(c->arena, &status, STR("status"), value_string(STR("Success")));
    value_put_new(c->arena, &status, STR("details"), details);
    if (says_code)
        value_put_new(c->arena, &status, STR("code"), value_int(200));
    autobuf bytes = { 0 };
    encode_tree(&bytes, c->arena, &c->format, status_type(), &status);
    answer(c, 200, &bytes);
}

void call_success(struct call *c, struct str name, struct str uid)
{
    struct value details = value_object();
    if (name.n)
        value_put_new(c->arena, &details, STR("name"), value_string(name));
    if (c->req.resource->group.n)
        value_put_new(c->arena, &details, STR("group"), value_string(c->req.resource->group));
    value_put_new(c->arena, &details, STR("kind"), value_string(c->req.resource->plural));
    if (uid.n)
        value_put_new(c->arena, &details, STR("uid"), value_string(uid));
    send_success(c, details, false);
}

void call_deleted_unread(struct call *c, struct str name)
{
    struct value details = value_object();
    value_put_new(c->arena, &details, STR("name"), value_string(name));
    value_put_new(c->arena, &details, STR("kind"), value_string(c->req.resource->type->name));
    send_success(c, details, true);
}

/* ---- Where it runs ---- */

struct workers *call_workers(const struct call *c)
{
    const struct custom_version *v = custom_version_of(c->req.resource);
    return v && v->of->webhook ? c->api->hook_workers : c->api->workers;
}
