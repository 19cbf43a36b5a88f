#include "server/http/suite_call.h"

#include "base/json.h"

void suite_call_init(struct suite_call *s, const char *target, const char *type, struct str body)
{
    struct str query = str_of(target);
    *s = (struct suite_call){ .type = { STR("content-type"), str_of(type ? type : "") } };
    arena_init(&s->arena);
    s->err = (struct err)ERR_INIT(&s->arena);
    s->api.clock = &clock_system;
    s->http = (struct http_request){
        .method = STR("GET"), .headers = &s->type, .n_headers = type ? 1 : 0, .body = body
    };
    s->http.path = str_cut(&query, '?');
    s->http.query = query;
    s->call = (struct call){
        .api = &s->api, .arena = &s->arena, .http = &s->http, .warnings = &s->warnings
    };
    if (request_parse(&s->arena, &s->http, KIND_ALL_VERSIONS, NULL, &s->call.req) != REQUEST_FOUND)
        fail_msg("%s is nothing", target);
    s->call.stored = kind_stored(s->call.req.resource);
}

void suite_call_done(struct suite_call *s)
{
    arena_done(&s->arena);
}

const char *suite_call_refusal(struct suite_call *s)
{
    return str_cstr(&s->arena, s->err.msg);
}

const char *suite_call_warnings(struct suite_call *s)
{
    autobuf all = { 0 };
    for (const struct call_warning *w = s->warnings.first; w; w = w->next)
        buf_printf(&all, STR_FMT "\n", STR_ARG(w->text));
    return str_cstr(&s->arena, buf_str(&all));
}

static void swap(char *text, size_t n, char from, char to)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == from)
            text[i] = to;
}

const char *suite_call_shown(struct suite_call *s, const struct value *v)
{
    autobuf out = { 0 };
    if (!v)
        return "";
    json_write(&out, v);
    swap(out.p, out.n, '"', '\'');
    return str_cstr(&s->arena, buf_str(&out));
}

struct str suite_call_quoted(struct arena *a, const char *text)
{
    size_t n = strlen(text);
    char *quoted = arena_dup(a, text, n);
    swap(quoted, n, '\'', '"');
    return (struct str){ quoted, n };
}
