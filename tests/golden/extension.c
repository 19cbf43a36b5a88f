#include "extension.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

int extension_script(const struct hooks *h, struct arena *a, const struct value *script,
                     struct err *err)
{
    struct fetch_reply reply;
    autobuf text = { 0 };
    json_write(&text, script);
    return hooks_send(h, a, "PUT", STR("/-/script"), buf_str(&text), &reply, err);
}

/* What the recorder left out: what is about the connection. */
static bool is_kept(struct str name)
{
    static const char *const dropped[] = { "host", "content-length", "connection",
                                           "transfer-encoding" };
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if (str_eq(name, str_of(dropped[i])))
            return false;
    return true;
}

static struct str lower(struct arena *a, struct str s)
{
    char *p = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
    return (struct str){ p, s.n };
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct value_field *)x)->key, ((const struct value_field *)y)->key);
}

/* One that came several times is a list. */
static struct value headers_of(struct arena *a, const struct value *list)
{
    struct value ret = value_object();
    value_each_item (it, list) {
        struct str name = lower(a, value_str(value_at(it, 0)));
        const struct value *there = value_get(&ret, name);
        struct value now = value_borrow(value_at(it, 1)), both = value_array();
        if (!is_kept(name))
            continue;
        if (value_is(there, VALUE_ARRAY))
            both = value_borrow(there);
        else if (there)
            value_put_item(a, &both, value_borrow(there));
        if (there)
            value_put_item(a, &both, now);
        value_put(a, &ret, name, there ? both : now);
    }
    qsort(ret.fields, ret.n, sizeof(*ret.fields), by_key);
    return ret;
}

static void put_unless_empty(struct arena *a, struct value *to, const char *key,
                             const struct value *v)
{
    if (v && v->type != VALUE_NULL && !(value_is(v, VALUE_STRING) && !value_str(v).n))
        value_put(a, to, str_of(key), value_borrow(v));
}

static struct value shape(struct arena *a, const struct value *call)
{
    struct value ret = value_object();
    put_unless_empty(a, &ret, "body", value_get(call, STR("body")));
    put_unless_empty(a, &ret, "clientCertificate", value_get(call, STR("peer")));
    value_put(a, &ret, STR("headers"), headers_of(a, value_get(call, STR("headers"))));
    value_put(a, &ret, STR("method"), value_borrow(value_get(call, STR("method"))));
    value_put(a, &ret, STR("path"), value_borrow(value_get(call, STR("path"))));
    put_unless_empty(a, &ret, "query", value_get(call, STR("query")));
    return ret;
}

static bool is_of_server(const struct value *call)
{
    struct str user = value_text(value_get(call, STR("headers")), "x-remote-user");
    return str_eq(user, STR("system:kube-aggregator")) || str_eq(user, STR("system:aggregator"));
}

static bool is_there(const struct value *list, const struct value *call)
{
    value_each_item (it, list)
        if (value_eq(it, call))
            return true;
    return false;
}

static int by_text(const void *x, const void *y)
{
    autobuf a = { 0 }, b = { 0 };
    json_write(&a, x);
    json_write(&b, y);
    return str_cmp(buf_str(&a), buf_str(&b));
}

int extension_take(const struct hooks *h, struct arena *a, bool of_server, struct value *ret,
                   struct err *err)
{
    struct fetch_reply reply;
    struct value calls;
    *ret = value_array();
    int r = hooks_send(h, a, "POST", STR("/-/take?/"), STR(""), &reply, err);
    if (r < 0)
        return r;
    r = json_read(a, reply.body, NULL, &calls, err);
    if (r < 0)
        return r;
    value_each_item (it, &calls) {
        struct value call = shape(a, it);
        if (is_of_server(&call) == of_server && !(of_server && is_there(ret, &call)))
            value_put_item(a, ret, call);
    }
    if (of_server)
        qsort(ret->items, ret->n, sizeof(*ret->items), by_text);
    return 0;
}
