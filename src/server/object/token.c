#include "server/object/token.h"

#include <assert.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/banned.h"

#define TOKEN_VERSION STR("meta.k8s.io/v1")

/* ---- Base64 as Go reads it ---- */

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* Like Go's RawURLEncoding: line breaks are passed over, stray bits at the end do not matter, and
 * the place of what is wrong is told. The number of bytes, or -1 and the place. */
static ptrdiff_t decode(struct str text, char *to, size_t *ret_bad)
{
    uint32_t bits = 0;
    size_t n_digits = 0, n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' || text.p[i] == '\r')
            continue;
        int d = digit(text.p[i]);
        if (d < 0) {
            *ret_bad = i;
            return -1;
        }
        bits = bits << 6 | (uint32_t)d;
        if (n_digits++ % 4)
            to[n++] = (char)(unsigned char)(bits >> (6 - 2 * ((n_digits - 1) % 4)));
    }
    *ret_bad = text.n - 1;
    return n_digits % 4 == 1 ? -1 : (ptrdiff_t)n;
}

/* ---- Reading ---- */

static int refuse(struct err *err, struct str why)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "invalid continue token: continue key is not valid" STR_FMT, STR_ARG(why));
}

/* Go's decoder does not mind the case of a field's name, and the last of one name counts. */
static const struct value *find(const struct value *obj, struct str name)
{
    const struct value *found = NULL;
    value_each_field (f, obj)
        if (str_eq_nocase(f->key, name) && f->val.type != VALUE_NULL)
            found = &f->val;
    return found;
}

static const char *go_kind(const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_BOOL:
        return "bool";
    case VALUE_STRING:
        return "string";
    case VALUE_ARRAY:
        return "array";
    case VALUE_OBJECT:
        return "object";
    default:
        return "number";
    }
}

static int refuse_type(struct err *err, struct arena *a, const struct value *v, const char *field,
                       const char *type)
{
    return refuse(err,
                  arena_printf(a, ": json: cannot unmarshal %s into Go %s%s of type %s", go_kind(v),
                               *field ? "struct field continueToken." : "value", field, type));
}

static int read_fields(struct arena *a, const struct value *doc, struct str *ret_version,
                       struct token *ret, struct err *err)
{
    const struct value *version = find(doc, STR("v")), *rev = find(doc, STR("rv")),
                       *start = find(doc, STR("start")), *began = find(doc, STR("t"));
    if (doc->type != VALUE_OBJECT && doc->type != VALUE_NULL)
        return refuse_type(err, a, doc, "", "storage.continueToken");
    if (version && version->type != VALUE_STRING)
        return refuse_type(err, a, version, "v", "string");
    if (rev && rev->type != VALUE_INT)
        return refuse_type(err, a, rev, "rv", "int64");
    if (start && start->type != VALUE_STRING)
        return refuse_type(err, a, start, "start", "string");
    *ret_version = value_str(version);
    *ret = (struct token){ .rev = rev ? rev->i : 0, .start = value_str(start) };
    if (value_is(began, VALUE_INT) && began->i > 0)
        ret->began_ms = began->i;
    return 0;
}

/* No empty segment, no "." and no "..": nothing that another reader could take for a way up. */
static bool is_clean(struct str key)
{
    if (str_starts(key, STR("/")))
        key = str_skip(key, 1);
    if (!key.n)
        return true;
    while (key.p) {
        struct str segment = str_cut(&key, '/');
        if (!segment.n || str_eq(segment, STR(".")) || str_eq(segment, STR("..")))
            return false;
    }
    return true;
}

static struct str join(struct arena *a, struct str prefix, struct str rest)
{
    char *p = arena_alloc(a, prefix.n + rest.n, 1);
    memcpy(p, prefix.p, prefix.n);
    if (rest.n)
        memcpy(p + prefix.n, rest.p, rest.n);
    return (struct str){ p, prefix.n + rest.n };
}

static int check(struct arena *a, struct str version, struct str prefix, struct token *t,
                 struct err *err)
{
    if (!str_eq(version, TOKEN_VERSION))
        return refuse(err,
                      arena_printf(a, ": server does not recognize this encoded version " STR_FMT,
                                   STR_ARG(version)));
    if (t->rev == 0)
        return refuse(err, STR(": incorrect encoded start resourceVersion (version "
                               "meta.k8s.io/v1)"));
    if (!t->start.n)
        return refuse(err, STR(": encoded start key empty (version meta.k8s.io/v1)"));
    if (!is_clean(t->start))
        return refuse(err, arena_printf(a, ": " STR_FMT, STR_ARG(t->start)));
    struct str rest = str_starts(t->start, STR("/")) ? str_skip(t->start, 1) : t->start;
    t->start = join(a, prefix, rest);
    return 0;
}

int token_read(struct arena *a, struct str text, struct str prefix, struct token *ret,
               struct err *err)
{
    char *bytes = arena_alloc(a, text.n, 1);
    size_t bad = 0;
    ptrdiff_t n = decode(text, bytes, &bad);
    if (n < 0)
        return refuse(err, arena_printf(a, ": illegal base64 data at input byte %zu", bad));

    struct str json = { bytes, (size_t)n };
    struct value doc;
    if (json_read(a, json, NULL, &doc, NULL) < 0)
        return refuse(err, arena_printf(a, ": " STR_FMT, STR_ARG(json_fault(a, json))));
    struct str version = STR("");
    struct token t = { 0 };
    int r = read_fields(a, &doc, &version, &t, err);
    if (r < 0)
        return r;
    r = check(a, version, prefix, &t, err);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}

/* ---- Writing ---- */

struct str token_write(struct arena *a, const struct token *t, struct str prefix)
{
    assert(str_starts(t->start, prefix));
    autobuf json = { 0 };
    buf_printf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":", (long long)t->rev);
    json_write_string(&json, str_skip(t->start, prefix.n));
    if (t->began_ms)
        buf_printf(&json, ",\"t\":%lld", (long long)t->began_ms);
    buf_byte(&json, '}');
    autobuf text = { 0 };
    base64url_encode(&text, buf_str(&json));
    return arena_str(a, buf_str(&text));
}

bool token_is_old(const struct token *t, int64_t now_ns, int64_t ttl_ns)
{
    return t->rev > 0 && t->began_ms && now_ns / NS_PER_MS - t->began_ms > ttl_ns / NS_PER_MS;
}
