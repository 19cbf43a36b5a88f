/* url(), isURL() and the parts of a URL (Kubernetes). The text is read as Go's net/url does when it
 * is asked for the URI of a request: with a scheme, or a path that begins with a slash. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "api/go/go_url.h"
#include "api/go/quote.h"
#include "base/buf.h"

#include "base/banned.h"

struct url {
    struct str text;
    struct str scheme, host, path, query; /* path and query as written */
};

static const char *no_request(struct arena *a, struct str text)
{
    autobuf quoted = { 0 };
    quote_go(&quoted, text);
    return str_cstr(a, arena_printf(a, "parse " STR_FMT ": invalid URI for request",
                                    STR_ARG(buf_str(&quoted))));
}

/* Of a URL that need not be one of a request. */
static bool is_about_segment(const char *fault)
{
    return str_ends(str_of(fault), STR("first path segment in URL cannot contain colon"));
}

static const char *parse(struct arena *a, struct str text, struct url *ret)
{
    struct go_url parts;
    if (!text.n)
        return "parse \"\": empty url";
    if (str_eq(text, STR("*"))) {
        *ret = (struct url){ .text = text, .path = text };
        return NULL;
    }
    const char *fault = go_url_parse(a, text, &parts);
    if (fault ? is_about_segment(fault) : !parts.scheme.n && text.p[0] != '/')
        return no_request(a, text);
    if (fault)
        return fault;
    struct str rest = text;
    rest = str_cut(&rest, '#');
    if (parts.scheme.n)
        rest = str_skip(rest, parts.scheme.n + 1);
    rest = str_cut(&rest, '?');
    bool opaque = parts.scheme.n && !str_starts(rest, STR("/"));
    if (str_starts(rest, STR("//")) && (parts.scheme.n || !str_starts(rest, STR("///")))) {
        rest = str_skip(rest, 2);
        ptrdiff_t slash = str_find(rest, '/');
        rest = slash < 0 ? STR("") : str_skip(rest, (size_t)slash);
    }
    *ret = (struct url){
        .text = text,
        .scheme = parts.scheme,
        .host = parts.host,
        .path = opaque ? STR("") : rest,
        .query = parts.query,
    };
    return NULL;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           str_find(STR("-_.~"), c) >= 0;
}

/* `%XX` as the byte it stands for; a plus as a space in queries. Bad escapes make it false. */
static bool unescape(struct buf *out, struct str s, bool query)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '%') {
            int high = i + 2 < s.n ? str_hex_digit(s.p[i + 1]) : -1;
            int low = i + 2 < s.n ? str_hex_digit(s.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (query && c == '+') {
            c = ' ';
        }
        buf_byte(out, c);
    }
    return true;
}

static bool is_encoded(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if (!is_unreserved(path.p[i]) && str_find(STR("!$&'()*+,;=:@[]%/"), path.p[i]) < 0)
            return false;
    return true;
}

static struct cel_value fn_escaped_path(struct cel__eval *ev, const struct cel_value *args,
                                        size_t n)
{
    (void)n;
    const struct url *u = args[0].opaque;
    autobuf plain = { 0 }, out = { 0 };
    if (is_encoded(u->path))
        return cel_of_string(u->path);
    (void)unescape(&plain, u->path, false);
    for (size_t i = 0; i < plain.n; i++) {
        char c = plain.p[i];
        if (is_unreserved(c) || str_find(STR("$&+,/:;=@"), c) >= 0)
            buf_byte(&out, c);
        else
            buf_printf(&out, "%%%02X", (unsigned char)c);
    }
    return cel_of_string(arena_str(ev->arena, buf_str(&out)));
}

static struct cel_value fn_url(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct url *u = arena_new(ev->arena, struct url);
    const char *fault = parse(ev->arena, cel__str(&args[0]), u);
    if (fault)
        return cel__fail(ev, "URL parse error during conversion from string: %s", fault);
    return cel__opaque(&cel_url, u);
}

static struct cel_value fn_is_url(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct url u;
    return cel_of_bool(!parse(ev->arena, cel__str(&args[0]), &u));
}

static struct cel_value fn_scheme(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return cel_of_string(((const struct url *)args[0].opaque)->scheme);
}

static struct cel_value fn_host(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return cel_of_string(((const struct url *)args[0].opaque)->host);
}

/* Name and port of a host; an IPv6 address loses its brackets. */
static void split_host(struct str host, struct str *ret_name, struct str *ret_port)
{
    size_t colon = host.n;
    for (size_t i = host.n; i > 0 && host.p[i - 1] != ']'; i--)
        if (host.p[i - 1] == ':') {
            colon = i - 1;
            break;
        }
    *ret_name = str_take(host, colon);
    *ret_port = str_skip(host, colon + 1);
    if (str_starts(*ret_name, STR("[")) && str_ends(*ret_name, STR("]")))
        *ret_name = str_take(str_skip(*ret_name, 1), ret_name->n - 2);
}

static struct cel_value fn_hostname(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    struct str name, port;
    split_host(((const struct url *)args[0].opaque)->host, &name, &port);
    return cel_of_string(name);
}

static struct cel_value fn_port(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    struct str name, port;
    split_host(((const struct url *)args[0].opaque)->host, &name, &port);
    return cel_of_string(port);
}

static struct cel_value unescaped(struct cel__eval *ev, struct str s, bool *ret_good)
{
    autobuf out = { 0 };
    *ret_good = unescape(&out, s, true);
    return cel_of_string(arena_str(ev->arena, buf_str(&out)));
}

/* Pairs that cannot be read, and those with a semicolon, are left out, as Go does. */
static struct cel_value fn_query(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value map = cel__map_new(ev, 4);
    struct str rest = ((const struct url *)args[0].opaque)->query;
    while (rest.n) {
        struct str val = str_cut(&rest, '&');
        struct str key = str_cut(&val, '=');
        bool good_key, good_val;
        if (!key.n && !val.n)
            continue;
        struct cel_value k = unescaped(ev, key, &good_key), v = unescaped(ev, val, &good_val);
        if (!good_key || !good_val || str_find(key, ';') >= 0 || str_find(val, ';') >= 0)
            continue;
        struct cel_value list;
        if (cel__map_find(ev, &map, &k, &list) <= 0)
            list = cel__list_new(ev, 2);
        cel__list_push(ev, &list, v);
        cel__map_put(ev, &map, k, list, true);
    }
    return map;
}

static const struct cel_type map_of_lists = {
    .kind = CEL_MAP,
    .name = { "map", 3 },
    .n_params = 2,
    .params = { &cel_string, &cel__list_string },
    .max_size = CEL_SIZE_UNKNOWN,
};

#define ONE CEL__COST_ONE

static const struct cel__overload rows[] = {
    CEL__FUNCTION("url", CEL__COST_TEXT_ARG, fn_url, &cel_url, &cel_string),
    CEL__METHOD("getScheme", ONE, fn_scheme, &cel_string, &cel_url),
    CEL__METHOD("getHost", ONE, fn_host, &cel_string, &cel_url),
    CEL__METHOD("getHostname", ONE, fn_hostname, &cel_string, &cel_url),
    CEL__METHOD("getPort", ONE, fn_port, &cel_string, &cel_url),
    CEL__METHOD("getEscapedPath", ONE, fn_escaped_path, &cel_string, &cel_url),
    CEL__METHOD("getQuery", ONE, fn_query, &map_of_lists, &cel_url),
    CEL__FUNCTION("isURL", ONE, fn_is_url, &cel_bool, &cel_string),
};

const struct cel__library cel__lib_url = { rows, ARRAY_LEN(rows), 0 };

bool cel__url_equal(const void *x, const void *y)
{
    return str_eq(((const struct url *)x)->text, ((const struct url *)y)->text);
}

const char *cel__url_fault(struct arena *a, struct str text)
{
    struct url u;
    return parse(a, text, &u);
}
