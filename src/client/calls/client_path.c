#include "client/calls/client.h"

#include "base/idiom.h"
#include "base/percent.h"
#include "base/banned.h"

void query_add(struct client_query *q, const char *key, struct str value)
{
    if (!value.n)
        return;
    buf_byte(&q->text, q->text.n ? '&' : '?');
    buf_str_add(&q->text, str_of(key));
    buf_byte(&q->text, '=');
    percent_encode(&q->text, value);
}

void query_add_bool(struct client_query *q, const char *key, bool value)
{
    query_add(q, key, value ? STR("true") : STR(""));
}

void query_add_int(struct client_query *q, const char *key, int64_t value)
{
    autobuf text = { 0 };
    if (value)
        buf_printf(&text, "%lld", (long long)value);
    query_add(q, key, buf_str(&text));
}

/* A segment that would lead elsewhere. Escaping does not help against dots. */
static bool leads_astray(struct str segment)
{
    return str_eq(segment, STR(".")) || str_eq(segment, STR("..")) || str_find(segment, '/') >= 0 ||
           str_find(segment, '%') >= 0;
}

static int add_segment(struct buf *path, struct spn_text text, struct spn_err *err)
{
    struct str segment = str_in(text);
    if (!segment.n)
        return 0;
    if (leads_astray(segment))
        return spn_err_set(err, SPN_BAD_REQUEST, "\"" STR_FMT "\" cannot be part of a path",
                           STR_ARG(segment));
    buf_byte(path, '/');
    percent_encode(path, segment);
    return 0;
}

int client_path(struct arena *a, const struct spn_target *at, const struct client_query *q,
                struct str *ret, struct spn_err *err)
{
    if (!at->plural.n || !at->version.n)
        return spn_err_set(err, SPN_BAD_REQUEST, "a resource without a version or a plural");
    autobuf path = { 0 };
    const struct spn_text segments[] = {
        at->group.n ? SPN_TEXT("apis") : SPN_TEXT("api"),
        at->group,
        at->version,
        at->ns.n ? SPN_TEXT("namespaces") : SPN_TEXT(""),
        at->ns,
        at->plural,
        at->name,
        at->sub,
    };
    for (size_t i = 0; i < ARRAY_LEN(segments); i++) {
        int r = add_segment(&path, segments[i], err);
        if (r < 0)
            return r;
    }
    if (q)
        buf_str_add(&path, buf_str(&q->text));
    *ret = arena_str(a, buf_str(&path));
    return 0;
}
