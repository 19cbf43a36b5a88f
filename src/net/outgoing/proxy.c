#include "net/outgoing/proxy.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include "base/base64.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/banned.h"

/* ---- Which one ---- */

static const struct scheme {
    const char *name, *port, *for_curl;
    enum proxy_kind kind;
} schemes[] = {
    { "http", "80", "http", PROXY_HTTP },
    { "https", "443", "https", PROXY_HTTPS },
    { "socks5", "1080", "socks5h", PROXY_SOCKS5 },
    { "socks5h", "1080", "socks5h", PROXY_SOCKS5 },
};

static const struct scheme *find_scheme(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (str_eq_nocase(str_of(schemes[i].name), name))
            return &schemes[i];
    return NULL;
}

/* A NULL pointer: it has no such part. */
static struct str part(struct arena *a, CURLU *url, CURLUPart which, unsigned flags)
{
    char *text = NULL;
    if (curl_url_get(url, which, &text, flags) != CURLUE_OK)
        return (struct str){ 0 };
    struct str ret = arena_str(a, str_of(text));
    curl_free(text);
    return ret;
}

static int take_parts(struct arena *a, CURLU *url, struct proxy *ret, struct err *err)
{
    const struct scheme *scheme = find_scheme(part(a, url, CURLUPART_SCHEME, 0));
    struct str host = part(a, url, CURLUPART_HOST, 0), port = part(a, url, CURLUPART_PORT, 0);
    if (!scheme || !host.n)
        return err_set(err, ERR_INVALID, "a proxy is http://, https:// or socks5:// and a host");
    *ret = (struct proxy){
        .kind = scheme->kind,
        .address = arena_printf(a, STR_FMT ":" STR_FMT, STR_ARG(host),
                                STR_ARG(port.n ? port : str_of(scheme->port))),
        .user = part(a, url, CURLUPART_USER, CURLU_URLDECODE),
        .password = part(a, url, CURLUPART_PASSWORD, CURLU_URLDECODE),
    };
    return 0;
}

int proxy_read(struct arena *a, struct str url, struct proxy *ret, struct err *err)
{
    *ret = (struct proxy){ .kind = PROXY_NONE };
    if (!url.n)
        return 0;
    CURLU *parsed = curl_url();
    if (!parsed)
        mem_exhausted(url.n);
    bool is_url = !memchr(url.p, 0, url.n) && curl_url_set(parsed, CURLUPART_URL, str_cstr(a, url),
                                                           CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    int r = is_url ? take_parts(a, parsed, ret, err)
                   : err_set(err, ERR_INVALID, "the proxy's URL cannot be read");
    curl_url_cleanup(parsed);
    return r;
}

static struct str copy(struct arena *a, struct str s)
{
    return s.p ? arena_str(a, s) : s;
}

struct str proxy_host(const struct proxy *p)
{
    struct str host = p->address;
    if (!str_starts(host, STR("[")))
        return str_cut(&host, ':');
    host = str_skip(host, 1);
    return str_cut(&host, ']');
}

struct proxy proxy_copy(struct arena *a, const struct proxy *p)
{
    return (struct proxy){ p->kind, copy(a, p->address), copy(a, p->user), copy(a, p->password) };
}

struct str proxy_for_curl(struct arena *a, const struct proxy *p)
{
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (schemes[i].kind == p->kind)
            return arena_printf(a, "%s://" STR_FMT, schemes[i].for_curl, STR_ARG(p->address));
    return STR("");
}

/* ---- CONNECT ---- */

static bool has_account(const struct proxy *p)
{
    return p->user.p || p->password.p;
}

static void ask(const struct tunnel *t, struct buf *out)
{
    buf_printf(out, "CONNECT " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT "\r\n", STR_ARG(t->target),
               STR_ARG(t->target));
    if (has_account(t->proxy)) {
        autobuf both = { 0 };
        buf_printf(&both, STR_FMT ":" STR_FMT, STR_ARG(t->proxy->user),
                   STR_ARG(t->proxy->password));
        buf_printf(out, "Proxy-Authorization: Basic ");
        base64_encode(out, buf_str(&both));
        buf_printf(out, "\r\n");
    }
    buf_printf(out, "\r\n");
}

static int take_answer(struct tunnel *t, struct err *err)
{
    const char *end = t->in.n ? memmem(t->in.p, t->in.n, "\r\n\r\n", 4) : NULL;
    if (!end && t->in.n > LIMIT_PROXY_BYTES)
        return err_set(err, ERR_UNAVAILABLE, "the proxy's answer is too large");
    if (!end)
        return 0;
    struct str line = buf_str(&t->in);
    uint64_t status = 0;
    line = str_trim(str_cut(&line, '\n'));
    bool is_http = str_starts(line, STR("HTTP/1."));
    (void)str_cut(&line, ' ');
    if (!is_http || !str_to_u64(str_take(line, 3), &status))
        return err_set(err, ERR_UNAVAILABLE, "the proxy does not speak HTTP");
    if (status < 200 || status >= 300)
        return err_set(err, ERR_UNAVAILABLE, "the proxy refuses: " STR_FMT, STR_ARG(line));
    buf_drop(&t->in, (size_t)(end - t->in.p) + 4);
    t->step = TUNNEL_OPEN;
    return 0;
}

/* ---- SOCKS ---- */

enum {
    SOCKS = 5,
    METHOD_NONE = 0,
    METHOD_ACCOUNT = 2,
    ACCOUNT = 1, /* the version of its own exchange */
    COMMAND_CONNECT = 1,
    ADDRESS_V4 = 1,
    ADDRESS_NAME = 3,
    ADDRESS_V6 = 4,
    TEXT_MAX = 255,
};

static void put_bytes(struct buf *out, const unsigned char *p, size_t n)
{
    buf_add(out, p, n);
}

static void put_short_text(struct buf *out, struct str s)
{
    buf_byte(out, (char)(unsigned char)s.n);
    buf_str_add(out, s);
}

static void greet(const struct tunnel *t, struct buf *out)
{
    const unsigned char methods[] = { SOCKS, 2, METHOD_NONE, METHOD_ACCOUNT };
    const unsigned char none[] = { SOCKS, 1, METHOD_NONE };
    if (has_account(t->proxy))
        put_bytes(out, methods, sizeof(methods));
    else
        put_bytes(out, none, sizeof(none));
}

/* "host:port", "[::1]:port" */
static bool split(struct str target, struct str *ret_host, uint16_t *ret_port)
{
    uint64_t port = 0;
    size_t colon = target.n;
    while (colon && target.p[colon - 1] != ':')
        colon--;
    if (!colon || !str_to_u64(str_skip(target, colon), &port) || port > UINT16_MAX)
        return false;
    struct str host = str_take(target, colon - 1);
    if (str_starts(host, STR("[")) && str_ends(host, STR("]")))
        host = (struct str){ host.p + 1, host.n - 2 };
    *ret_host = host;
    *ret_port = (uint16_t)port;
    return host.n > 0 && host.n <= TEXT_MAX && !memchr(host.p, 0, host.n);
}

/* Numbers as numbers; the proxy looks up what is a name. */
static void put_address(struct buf *out, struct str host)
{
    unsigned char ip[16];
    char text[TEXT_MAX + 1] = { 0 };
    memcpy(text, host.p, host.n);
    if (inet_pton(AF_INET, text, ip) == 1) {
        buf_byte(out, ADDRESS_V4);
        put_bytes(out, ip, 4);
    } else if (inet_pton(AF_INET6, text, ip) == 1) {
        buf_byte(out, ADDRESS_V6);
        put_bytes(out, ip, 16);
    } else {
        buf_byte(out, ADDRESS_NAME);
        put_short_text(out, host);
    }
}

static void put_request(struct tunnel *t, struct buf *out)
{
    struct str host = { 0 };
    uint16_t port = 0;
    const unsigned char head[] = { SOCKS, COMMAND_CONNECT, 0 };
    (void)split(t->target, &host, &port); /* tunnel_begin() has looked */
    put_bytes(out, head, sizeof(head));
    put_address(out, host);
    buf_byte(out, (char)(unsigned char)(port >> 8));
    buf_byte(out, (char)(unsigned char)port);
    t->step = TUNNEL_REPLY;
}

static int take_method(struct tunnel *t, struct buf *out, struct err *err)
{
    if (t->in.n < 2)
        return 0;
    unsigned char method = (unsigned char)t->in.p[1];
    if (t->in.p[0] != SOCKS)
        return err_set(err, ERR_UNAVAILABLE, "the proxy does not speak SOCKS 5");
    buf_drop(&t->in, 2);
    if (method == METHOD_NONE) {
        put_request(t, out);
        return 0;
    }
    if (method != METHOD_ACCOUNT || !has_account(t->proxy))
        return err_set(err, ERR_UNAVAILABLE, "the proxy wants to know who asks");
    buf_byte(out, ACCOUNT);
    put_short_text(out, t->proxy->user);
    put_short_text(out, t->proxy->password);
    t->step = TUNNEL_ACCOUNT;
    return 0;
}

static int take_account(struct tunnel *t, struct buf *out, struct err *err)
{
    if (t->in.n < 2)
        return 0;
    bool is_good = t->in.p[0] == ACCOUNT && t->in.p[1] == 0;
    buf_drop(&t->in, 2);
    if (!is_good)
        return err_set(err, ERR_UNAVAILABLE, "the proxy refuses the user name and password");
    put_request(t, out);
    return 0;
}

/* The reply names an address that nobody needs; its length depends on its type. */
static size_t reply_bytes(struct str in)
{
    enum { HEAD = 4, PORT = 2 };
    if (in.n < HEAD + 1)
        return HEAD + 1;
    switch (in.p[3]) {
    case ADDRESS_V4:
        return HEAD + 4 + PORT;
    case ADDRESS_V6:
        return HEAD + 16 + PORT;
    default:
        return HEAD + 1 + (unsigned char)in.p[4] + PORT;
    }
}

static const char *refusal(unsigned char code)
{
    static const char *const words[] = {
        [1] = "general SOCKS server failure", [2] = "connection not allowed by ruleset",
        [3] = "network unreachable",          [4] = "host unreachable",
        [5] = "connection refused",           [6] = "TTL expired",
        [7] = "command not supported",        [8] = "address type not supported",
    };
    return code && code < ARRAY_LEN(words) ? words[code] : "unknown code";
}

static int take_reply(struct tunnel *t, struct err *err)
{
    if (t->in.n >= 2 && t->in.p[1] != 0)
        return err_set(err, ERR_UNAVAILABLE, "the proxy refuses: %s",
                       refusal((unsigned char)t->in.p[1]));
    size_t n = reply_bytes(buf_str(&t->in));
    if (t->in.n < n)
        return 0;
    buf_drop(&t->in, n);
    t->step = TUNNEL_OPEN;
    return 0;
}

/* ---- Both ---- */

int tunnel_begin(struct tunnel *t, const struct proxy *p, struct str target, struct buf *out,
                 struct err *err)
{
    struct str host;
    uint16_t port;
    *t = (struct tunnel){ .proxy = p, .target = target };
    if (!split(target, &host, &port) || p->user.n > TEXT_MAX || p->password.n > TEXT_MAX)
        return err_set(err, ERR_INVALID, "a proxy cannot be told of this server or user");
    if (p->kind == PROXY_SOCKS5) {
        t->step = TUNNEL_METHOD;
        greet(t, out);
        return 0;
    }
    t->step = TUNNEL_ANSWER;
    ask(t, out);
    return 0;
}

static int take_step(struct tunnel *t, struct buf *out, struct err *err)
{
    switch (t->step) {
    case TUNNEL_ANSWER:
        return take_answer(t, err);
    case TUNNEL_METHOD:
        return take_method(t, out, err);
    case TUNNEL_ACCOUNT:
        return take_account(t, out, err);
    case TUNNEL_REPLY:
        return take_reply(t, err);
    case TUNNEL_OPEN:
        break;
    }
    return 0;
}

/* Whoever speaks before he is spoken to is not the server: in TLS the client begins. */
int tunnel_feed(struct tunnel *t, struct str bytes, struct buf *out, struct err *err)
{
    buf_str_add(&t->in, bytes);
    int r = take_step(t, out, err);
    if (r < 0)
        return r;
    if (t->step != TUNNEL_OPEN)
        return 0;
    if (t->in.n)
        return err_set(err, ERR_UNAVAILABLE, "the proxy says more than it was asked");
    return 1;
}

void tunnel_done(struct tunnel *t)
{
    buf_done(&t->in);
}
