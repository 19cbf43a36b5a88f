#include "hooks.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

int hooks_send(const struct hooks *h, struct arena *a, const char *method, struct str path,
               struct str body, struct fetch_reply *ret, struct err *err)
{
    const struct http_header headers[] = { { STR("Content-Type"), STR("application/json") } };
    const struct fetch_request req = {
        .method = str_of(method),
        .url = arena_printf(a, STR_FMT STR_FMT, STR_ARG(h->url), STR_ARG(path)),
        .headers = headers,
        .n_headers = 1,
        .body = body,
    };
    return fetch(h->fetcher, &req, a, ret, err);
}

int hooks_script(const struct hooks *h, struct arena *a, struct str ns, const struct value *script,
                 struct err *err)
{
    struct value whole = value_object();
    struct fetch_reply reply;
    autobuf text = { 0 };
    value_each_field (f, script)
        value_put(a, &whole, arena_printf(a, "/" STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(f->key)),
                  value_borrow(&f->val));
    json_write(&text, &whole);
    return hooks_send(h, a, "PUT", STR("/-/script"), buf_str(&text), &reply, err);
}

/* ---- What it was asked ---- */

/* The path behind /NS/; of a webhook that has none, all of it. */
static struct str path_of(struct str ns, struct str path)
{
    struct str rest = str_skip(path, 1);
    return str_eq(str_cut(&rest, '/'), ns) ? rest : path;
}

/* Those that the recorder kept. */
static struct value headers_of(struct arena *a, const struct value *list)
{
    static const char *const kept[] = { "accept", "accept-encoding", "content-type", "user-agent" };
    struct value ret = value_object();
    value_each_item (it, list)
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            if (str_eq_nocase(value_str(value_at(it, 0)), str_of(kept[i])))
                value_put(a, &ret, str_of(kept[i]), value_borrow(value_at(it, 1)));
    if (str_starts(value_text(&ret, "user-agent"), STR("kube-apiserver")))
        value_put(a, &ret, STR("user-agent"), value_string(STR("<kube-apiserver>")));
    return ret;
}

static struct value shape(struct arena *a, struct str ns, const struct value *call,
                          bool with_headers)
{
    struct value ret = value_object();
    value_put(a, &ret, STR("path"), value_string(path_of(ns, value_text(call, "path"))));
    value_put(a, &ret, STR("query"), value_borrow(value_get(call, STR("query"))));
    value_put(a, &ret, STR("review"), value_borrow(value_get(call, STR("body"))));
    if (with_headers) {
        value_put(a, &ret, STR("headers"), headers_of(a, value_get(call, STR("headers"))));
        value_put(a, &ret, STR("method"), value_borrow(value_get(call, STR("method"))));
    }
    return ret;
}

static struct value without_uid(struct arena *a, const struct value *call)
{
    struct value ret = value_borrow(call);
    struct value *review = value_edit(a, &ret, STR("review"));
    struct value *request = review ? value_edit(a, review, STR("request")) : NULL;
    if (value_is(request, VALUE_OBJECT))
        value_drop(a, request, STR("uid"));
    return ret;
}

/* The recorder left out what differs by nothing but its uid. */
static bool is_repeated(struct arena *a, const struct value *list, const struct value *call)
{
    struct value bare = without_uid(a, call);
    value_each_item (it, list) {
        struct value other = without_uid(a, it);
        if (value_eq(&other, &bare))
            return true;
    }
    return false;
}

static bool is_parallel(const struct value *call)
{
    return str_starts(value_text(call, "path"), STR("v/"));
}

static int by_path(const void *x, const void *y)
{
    return str_cmp(value_text((const struct value *)x, "path"),
                   value_text((const struct value *)y, "path"));
}

/* Each group of calls that came at the same time. */
static void sort_parallel(struct value *list)
{
    for (size_t i = 0, end; i < list->n; i = end + 1) {
        for (end = i; end < list->n && is_parallel(&list->items[end]); end++)
            continue;
        if (end > i + 1)
            qsort(&list->items[i], end - i, sizeof(*list->items), by_path);
    }
}

int hooks_take(const struct hooks *h, struct arena *a, struct str ns, bool with_headers,
               struct value *ret, struct err *err)
{
    struct fetch_reply reply;
    struct value calls;
    *ret = value_array();
    int r = hooks_send(h, a, "POST", arena_printf(a, "/-/take?/" STR_FMT "/", STR_ARG(ns)), STR(""),
                       &reply, err);
    if (r < 0)
        return r;
    r = json_read(a, reply.body, NULL, &calls, err);
    if (r < 0)
        return r;
    value_each_item (it, &calls) {
        struct value call = shape(a, ns, it, with_headers);
        bool is_conversion = str_starts(value_text(&call, "path"), STR("c/"));
        if ((!is_conversion || with_headers) && !is_repeated(a, ret, &call))
            value_put_item(a, ret, call);
    }
    sort_parallel(ret);
    return 0;
}
