#include "server/http/call.h"

#include "admission/memory.h"
#include "admission/xray.h"
#include "api/columns/columns.h"
#include "server/custom/custom.h"
#include "server/audit/audit_event.h"
#include "server/object/encode.h"
#include "api/errors.h"
#include "base/utf8.h"
#include "server/http/reply.h"
#include "server/object/stored.h"
#include "base/banned.h"

enum { HEADERS_MAX = 3, WARNINGS_MAX = 100 };

/* ---- Answers ---- */

/* A header is a line: what has control characters, or is no UTF-8, is not told. */
static bool can_be_told(struct str text)
{
    if (!text.n || !utf8_valid(text))
        return false;
    for (size_t i = 0, step; i < text.n; i += step) {
        step = utf8_step(text.p + i, text.n - i);
        uint32_t code = utf8_decode(text.p + i, step);
        if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            return false;
    }
    return true;
}

void call_warn(struct call *c, struct str text)
{
    if (!c->warnings || !can_be_told(text))
        return;
    size_t n = 0;
    struct call_warning **end = &c->warnings->first;
    for (; *end; end = &(*end)->next)
        if (str_eq((*end)->text, text) || ++n == WARNINGS_MAX)
            return;
    *end = arena_new(c->arena, struct call_warning);
    (*end)->text = text;
}

void call_annotate(struct call *c, struct str key, struct str value)
{
    if (!c->notes) {
        audit_event_annotate(c->audit, key, value);
        return;
    }
    struct call_note **end = &c->notes->first;
    while (*end)
        end = &(*end)->next;
    *end = arena_new(c->arena, struct call_note);
    **end = (struct call_note){ .key = key, .value = value };
}

/* 299 - "TEXT", with quotes and backslashes escaped. */
static struct str warning_value(struct arena *a, struct str text)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("299 - \""));
    for (size_t i = 0; i < text.n; i++) {
        char ch = text.p[i];
        if (ch == '"' || ch == '\\')
            buf_byte(&out, '\\');
        buf_byte(&out, ch);
    }
    buf_byte(&out, '"');
    return arena_str(a, buf_str(&out));
}

/* ---- How much of the warnings is told: as upstream ---- */

enum { WARNED_MAX = 4096, WARNING_MAX = 256 }; /* characters */

static size_t characters(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return n;
}

static struct str shortened(struct str text, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (((unsigned char)text.p[i] & 0xc0) != 0x80 && n++ == most)
            return str_take(text, i);
    return text;
}

/* Adds headers; all are cut short if together they say too much, and then some may be left out. */
static size_t add_warnings(struct call *c, const struct call_warning *first, struct http_header *h)
{
    size_t n = 0, all = 0, told = 0;
    for (const struct call_warning *w = first; w; w = w->next)
        all += characters(w->text);
    bool is_cut = all > WARNED_MAX;
    all = 0;
    for (const struct call_warning *w = first; w; w = w->next) {
        struct str text = is_cut ? shortened(w->text, WARNING_MAX) : w->text;
        bool is_late = all > WARNED_MAX; /* those before it had made too much of it already */
        if (is_cut && is_late && told >= WARNED_MAX)
            break;
        all += characters(w->text);
        told += characters(text);
        h[n++] = (struct http_header){ STR("warning"), warning_value(c->arena, text) };
    }
    return n;
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
    n += add_warnings(c, first, h + n);
    *ret = h;
    return n;
}

static void answer(struct call *c, int status, struct buf *bytes)
{
    const struct http_header *headers;
    size_t n = call_headers(c, format_content_type(c->format.media, false), &headers);
    autobuf way = { 0 };
    if (c->xray) {
        xray_write(c->xray, status, buf_str(bytes), &way);
        bytes = &way;
    }
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
    if (!c->xray)
        c->format = format_of_refusal(c->arena, http_header_get(c->http, STR("accept")));
    c->format.pretty |= pretty;
    encode_tree(&bytes, c->arena, &c->format, status_type(), &status);
    answer(c, reply_code(err), &bytes);
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
    xray_stage(c->xray, "answer", c->req.resource->version, type == c->stored->type ? obj : NULL);
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

void call_status(struct call *c, struct value *status)
{
    int64_t code = 0;
    if (!value_to_int(value_get(status, STR("code")), &code) || code < 400 || code > 599)
        code = 500;
    value_put(c->arena, status, STR("kind"), value_string(STR("Status")));
    value_put(c->arena, status, STR("apiVersion"), value_string(STR("v1")));
    autobuf bytes = { 0 };
    encode_tree(&bytes, c->arena, &c->format, status_type(), status);
    answer(c, (int)code, &bytes);
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

/* Whoever reviews a token or a right may ask a webhook. */
static bool is_review(const struct kind_resource *r)
{
    return str_eq(r->group, STR("authentication.k8s.io")) ||
           str_eq(r->group, STR("authorization.k8s.io"));
}

/* What admission may be asked; 0: nothing. */
static unsigned operations_of(enum kind_verb verb)
{
    switch (verb) {
    case KIND_GET: /* a WebSocket into a pod begins so, and whoever reads through a proxy */
        return ADMISSION_CONNECT;
    case KIND_CREATE:
        return ADMISSION_CREATE | ADMISSION_CONNECT;
    case KIND_UPDATE:
    case KIND_PATCH:
        return ADMISSION_CREATE | ADMISSION_UPDATE | ADMISSION_CONNECT;
    case KIND_DELETE:
    case KIND_DELETE_COLLECTION:
        return ADMISSION_DELETE | ADMISSION_CONNECT;
    default:
        return 0;
    }
}

static struct admission_call admission_call_of(const struct call *c)
{
    return (struct admission_call){
        .resource = c->req.resource,
        .stored = c->stored,
        .sub = c->req.sub ? c->req.sub->name : STR(""),
        .choice = c->api->admission,
        .operations = operations_of(c->verb),
    };
}

/* Admission may ask a webhook, too. */
static bool admission_waits(const struct call *c)
{
    const struct admission_call call = admission_call_of(c);
    return call.operations && admission_may_wait(c->api->admission_memory, &call);
}

bool call_may_be_refused(const struct call *c)
{
    const struct admission_call call = admission_call_of(c);
    return admission_may_decide(c->api->admission_memory, &call);
}

bool call_may_wait(const struct call *c)
{
    const struct custom_version *v = custom_version_of(c->req.resource);
    return (v && v->of->webhook) || is_review(c->req.resource) || admission_waits(c);
}

struct workers *call_workers(const struct call *c)
{
    return call_may_wait(c) ? c->api->hook_workers : c->api->workers;
}
