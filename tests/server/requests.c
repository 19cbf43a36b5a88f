#include "requests.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "net/outgoing/fetch.h"

enum { REPLY_MAX = 256 << 20, PATIENCE_MS = 120000 };

struct requests {
    struct fetcher *fetcher;
    struct str address;
};

struct requests *requests_new(const struct live *l)
{
    struct requests *r = mem_new(struct requests);
    r->fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    r->address = l->address;
    return r;
}

struct requests *requests_free(struct requests *r)
{
    if (!r)
        return NULL;
    fetcher_free(r->fetcher);
    free(r);
    return NULL;
}

struct sent requests_send(struct requests *r, struct arena *a, const char *method, struct str path,
                          const char *content_type, const char *accept, struct str body)
{
    struct http_header headers[2];
    size_t n = 0;
    if (*content_type)
        headers[n++] = (struct http_header){ STR("Content-Type"), str_of(content_type) };
    if (*accept)
        headers[n++] = (struct http_header){ STR("Accept"), str_of(accept) };
    const struct fetch_request req = {
        .method = str_of(method),
        .url = arena_printf(a, "http://" STR_FMT STR_FMT, STR_ARG(r->address), STR_ARG(path)),
        .headers = headers,
        .n_headers = n,
        .body = body,
        .max_reply = REPLY_MAX,
        .timeout_ms = PATIENCE_MS,
    };
    struct fetch_reply reply;
    struct err err = ERR_INIT(a);
    if (fetch(r->fetcher, &req, a, &reply, &err) < 0)
        fail_msg("%s " STR_FMT ": " STR_FMT, method, STR_ARG(path), STR_ARG(err.msg));
    struct sent ret = { .status = reply.status, .body = reply.body };
    for (size_t i = 0; i < reply.n_headers; i++)
        if (str_eq_nocase(reply.headers[i].name, STR("content-type")))
            ret.type = reply.headers[i].value;
    if (str_starts(ret.type, STR("application/json")))
        (void)json_read(a, ret.body, NULL, &ret.obj, &err);
    return ret;
}

struct sent requests_json(struct requests *r, struct arena *a, const char *method, struct str path,
                          const struct value *body)
{
    autobuf text = { 0 };
    if (body)
        json_write(&text, body);
    bool patch = !strcmp(method, "PATCH");
    return requests_send(r, a, method, path,
                         patch  ? "application/merge-patch+json"
                         : body ? "application/json"
                                : "",
                         "", buf_str(&text));
}

struct str sent_message(const struct sent *s)
{
    return value_str(value_get(&s->obj, STR("message")));
}

bool sent_says(const struct sent *s, const char *words)
{
    struct str msg = sent_message(s);
    return memmem(msg.p, msg.n, words, strlen(words));
}

struct value requests_parse(struct arena *a, struct str text)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (yaml_read(a, text, NULL, &v, &err) < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(err.msg), STR_ARG(str_take(text, 200)));
    return v;
}

void requests_define(struct requests *r, struct arena *a, const char *definition)
{
    struct value crd = requests_parse(a, str_of(definition));
    struct sent got = requests_json(
        r, a, "POST", STR("/apis/apiextensions.k8s.io/v1/customresourcedefinitions"), &crd);
    if (got.status != 201)
        fail_msg("%d " STR_FMT, got.status, STR_ARG(got.body));
}
