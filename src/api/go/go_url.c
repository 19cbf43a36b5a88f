#include "api/go/go_url.h"

#include "api/go/quote.h"
#include "base/buf.h"
#include "base/banned.h"

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* What stands in front of the first colon, if that may be a scheme. False for a colon that starts
 * the URL. */
static bool take_scheme(struct arena *a, struct str *rest, struct go_url *ret)
{
    for (size_t i = 0; i < rest->n; i++) {
        char c = rest->p[i];
        if (is_letter(c))
            continue;
        if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.') {
            if (i == 0)
                return true;
            continue;
        }
        if (c != ':')
            return true;
        if (i == 0)
            return false;
        char *lower = arena_dup(a, rest->p, i);
        for (size_t k = 0; k < i; k++)
            lower[k] = (char)(is_letter(lower[k]) ? lower[k] | 0x20 : lower[k]);
        ret->scheme = (struct str){ lower, i };
        *rest = str_skip(*rest, i + 1);
        return true;
    }
    return true;
}

/* A '%' that is not followed by two digits, with what follows it; empty if there is none. */
static struct str bad_escape(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '%' && (i + 2 >= text.n || str_hex_digit(text.p[i + 1]) < 0 ||
                                 str_hex_digit(text.p[i + 2]) < 0))
            return str_take(str_skip(text, i), 3);
    return STR("");
}

static bool is_port(struct str port)
{
    if (port.n == 0)
        return true;
    if (port.p[0] != ':')
        return false;
    for (size_t i = 1; i < port.n; i++)
        if (port.p[i] < '0' || port.p[i] > '9')
            return false;
    return true;
}

static const char *host_fault(struct arena *a, struct str host)
{
    struct str port = STR("");
    autobuf quoted = { 0 };
    if (str_starts(host, STR("["))) {
        ptrdiff_t end = str_find(host, ']');
        if (end < 0)
            return "missing ']' in host";
        port = str_skip(host, (size_t)end + 1);
    } else {
        for (size_t i = host.n; i-- > 0 && !port.n;)
            if (host.p[i] == ':')
                port = str_skip(host, i);
    }
    for (size_t i = 0; i < host.n; i++)
        if (strchr(" <>\"\\^`{|}", host.p[i])) {
            quote_go(&quoted, str_take(str_skip(host, i), 1));
            return str_cstr(a, arena_printf(a, "invalid character " STR_FMT " in host name",
                                            STR_ARG(buf_str(&quoted))));
        }
    if (is_port(port))
        return NULL;
    quote_go(&quoted, port);
    return str_cstr(
        a, arena_printf(a, "invalid port " STR_FMT " after host", STR_ARG(buf_str(&quoted))));
}

static const char *take_authority(struct arena *a, struct str *rest, struct go_url *ret)
{
    struct str authority = str_skip(*rest, 2);
    ptrdiff_t slash = str_find(authority, '/');
    *rest = slash < 0 ? STR("") : str_skip(authority, (size_t)slash);
    authority = slash < 0 ? authority : str_take(authority, (size_t)slash);
    ret->host = authority;
    for (size_t i = authority.n; i-- > 0;)
        if (authority.p[i] == '@') {
            ret->has_user = true;
            ret->user = str_take(authority, i);
            ret->host = str_skip(authority, i + 1);
            break;
        }
    return host_fault(a, ret->host);
}

static const char *parse(struct arena *a, struct str text, struct go_url *ret)
{
    struct str rest = text, escape;
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            return "net/url: invalid control character in URL";
    if (text.n == 0)
        return NULL;
    ret->fragment = rest;
    rest = str_cut(&ret->fragment, '#');
    if (!take_scheme(a, &rest, ret))
        return "missing protocol scheme";
    ret->query = rest;
    rest = str_cut(&ret->query, '?');
    if (!str_starts(rest, STR("/"))) {
        struct str after = rest, first = str_cut(&after, '/');
        if (ret->scheme.n)
            return NULL; /* opaque */
        if (str_find(first, ':') >= 0)
            return "first path segment in URL cannot contain colon";
    }
    if (str_starts(rest, STR("//")) && (ret->scheme.n || !str_starts(rest, STR("///")))) {
        const char *fault = take_authority(a, &rest, ret);
        if (fault)
            return fault;
    }
    escape = bad_escape(rest);
    if (escape.n == 0)
        return NULL;
    autobuf quoted = { 0 };
    quote_go(&quoted, escape);
    return str_cstr(a, arena_printf(a, "invalid URL escape " STR_FMT, STR_ARG(buf_str(&quoted))));
}

const char *go_url_parse(struct arena *a, struct str text, struct go_url *ret)
{
    *ret = (struct go_url){ 0 };
    const char *fault = parse(a, text, ret);
    if (!fault)
        return NULL;
    autobuf quoted = { 0 };
    quote_go(&quoted, text);
    return str_cstr(a, arena_printf(a, "parse " STR_FMT ": %s", STR_ARG(buf_str(&quoted)), fault));
}
