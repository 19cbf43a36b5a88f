#include "node/agent/http_get.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/banned.h"

enum { BODY_MAX = 10 << 10, REDIRECTS_MAX = 10, HEADERS_MAX = 64, USUAL_MS = 30000 };

struct str host_port(struct arena *a, struct str host, uint16_t port)
{
    if (str_find(host, ':') >= 0)
        return arena_printf(a, "[" STR_FMT "]:%u", STR_ARG(host), port);
    return arena_printf(a, STR_FMT ":%u", STR_ARG(host), port);
}

int container_port(const struct value *port, const struct value *container, uint16_t *ret,
                   struct err *err)
{
    int64_t n = 0;
    struct str name = value_str(port);
    if (value_is(port, VALUE_INT))
        n = port->i;
    else if (!str_to_i64(name, &n))
        value_each_item (p, value_get(container, STR("ports")))
            if (str_eq(value_text(p, "name"), name))
                (void)value_to_int(value_get(p, STR("containerPort")), &n);
    if (n <= 0 && name.n)
        return err_set(err, ERR_INVALID, "port \"" STR_FMT "\" not found", STR_ARG(name));
    if (n <= 0 || n > UINT16_MAX)
        return err_set(err, ERR_INVALID, "invalid port number: %lld", (long long)n);
    *ret = (uint16_t)n;
    return 0;
}

/* ---- TCP ---- */

static const char *dial_word(int errnum)
{
    switch (errnum) {
    case ECONNREFUSED:
        return "connect: connection refused";
    case EHOSTUNREACH:
        return "connect: no route to host";
    case ENETUNREACH:
        return "connect: network is unreachable";
    case ECONNRESET:
        return "connect: connection reset by peer";
    default:
        return "i/o timeout";
    }
}

/* 0, or why not. */
static int dial(const struct addrinfo *to, int64_t timeout_ms)
{
    autoclose int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    const struct linger now = { 1, 1 };
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    if (poll(&p, 1, (int)timeout_ms) <= 0)
        return ETIMEDOUT;
    int why = 0;
    socklen_t n = sizeof(why);
    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n);
    return why;
}

int tcp_dial(struct str host, uint16_t port, int64_t timeout_ms, struct arena *a, struct err *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    struct str at = host_port(a, host, port);
    const char *service = str_cstr(a, arena_printf(a, "%u", port));
    if (getaddrinfo(str_cstr(a, host), service, &hints, &found) != 0)
        return err_set(err, ERR_UNAVAILABLE, "dial tcp: lookup " STR_FMT ": no such host",
                       STR_ARG(host));
    int why = dial(found, timeout_ms > 0 ? timeout_ms : USUAL_MS);
    freeaddrinfo(found);
    if (!why)
        return 0;
    return err_set(err, ERR_UNAVAILABLE, "dial tcp " STR_FMT ": %s", STR_ARG(at), dial_word(why));
}

/* ---- HTTP ---- */

struct request {
    struct arena *a;
    struct str scheme, host, path, url;
    uint16_t port;
    struct http_header headers[HEADERS_MAX];
    size_t n_headers;
    struct str host_header;
};

static struct str lower(struct arena *a, struct str s)
{
    char *p = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] |= 0x20;
    return (struct str){ p, s.n };
}

static bool has_header(const struct request *r, struct str name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq(r->headers[i].name, name))
            return true;
    return false;
}

static void set_headers(struct request *r, const struct value *get, const char *purpose)
{
    value_each_item (h, value_get(get, STR("httpHeaders"))) {
        struct str name = lower(r->a, value_text(h, "name")), text = value_text(h, "value");
        if (r->n_headers + 2 >= HEADERS_MAX || (str_eq(name, STR("accept")) && !text.n))
            continue;
        r->headers[r->n_headers++] = (struct http_header){ name, text };
    }
    if (!has_header(r, STR("user-agent")))
        r->headers[r->n_headers++] =
            (struct http_header){ STR("user-agent"), arena_printf(r->a, "kube-%s/1.38", purpose) };
    if (!has_header(r, STR("accept")))
        r->headers[r->n_headers++] = (struct http_header){ STR("accept"), STR("*/*") };
}

static void set_url(struct request *r, struct str path)
{
    struct str at = host_port(r->a, r->host, r->port);
    if (path.n && path.p[0] != '/')
        path = arena_printf(r->a, "/" STR_FMT, STR_ARG(path));
    r->url = arena_printf(r->a, STR_FMT "://" STR_FMT STR_FMT, STR_ARG(r->scheme), STR_ARG(at),
                          STR_ARG(path));
}

/* curl's words are not Go's: why it failed is found out by asking again at the ground. */
static int fail_get(const struct request *r, const struct err *why, int64_t timeout_ms,
                    struct err *err)
{
    struct err dialed = ERR_INIT(r->a);
    if (why->code == ERR_TIMEOUT)
        return err_set(err, ERR_TIMEOUT,
                       "Get \"" STR_FMT "\": context deadline exceeded (Client.Timeout exceeded "
                       "while awaiting headers)",
                       STR_ARG(r->url));
    if (tcp_dial(r->host, r->port, timeout_ms, r->a, &dialed) < 0)
        return err_set(err, ERR_UNAVAILABLE, "Get \"" STR_FMT "\": " STR_FMT, STR_ARG(r->url),
                       STR_ARG(dialed.msg));
    return err_set(err, ERR_UNAVAILABLE, "Get \"" STR_FMT "\": EOF", STR_ARG(r->url));
}

static struct str location_of(const struct fetch_reply *reply)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (str_eq_nocase(reply->headers[i].name, STR("location")))
            return reply->headers[i].value;
    return STR("");
}

/* Goes where the reply points, if that is the same host. False: it is another. */
static bool follow(struct request *r, struct str to)
{
    struct str rest = to;
    if (str_starts(to, STR("http://")) || str_starts(to, STR("https://"))) {
        r->scheme = str_cut(&rest, ':');
        rest = str_skip(rest, 2);
        struct str authority = str_cut(&rest, '/'), host = str_cut(&authority, ':');
        uint64_t port = str_eq(r->scheme, STR("https")) ? 443 : 80;
        if (!str_eq(host, r->host))
            return false;
        if (authority.n)
            (void)str_to_u64(authority, &port);
        r->port = (uint16_t)port;
        rest = arena_printf(r->a, "/" STR_FMT, STR_ARG(rest));
    }
    set_url(r, rest);
    return true;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static int get_all(struct fetcher *f, struct request *r, int64_t timeout_ms, struct http_got *ret,
                   struct err *err)
{
    for (int turn = 0; turn <= REDIRECTS_MAX; turn++) {
        const struct fetch_request req = {
            .method = STR("GET"),
            .url = r->url,
            .headers = r->headers,
            .n_headers = r->n_headers,
            .timeout_ms = timeout_ms,
            .max_reply = 0,
        };
        struct err why = ERR_INIT(r->a);
        struct fetch_reply reply;
        if (fetch(f, &req, r->a, &reply, &why) < 0)
            return fail_get(r, &why, timeout_ms, err);
        struct str to = location_of(&reply);
        *ret = (struct http_got){ reply.status, str_take(reply.body, BODY_MAX), false };
        if (!is_redirect(reply.status) || !to.n)
            return 0;
        if (!follow(r, to)) {
            ret->left_host = true;
            return 0;
        }
    }
    return err_set(err, ERR_UNAVAILABLE, "Get \"" STR_FMT "\": stopped after 10 redirects",
                   STR_ARG(r->url));
}

int http_get(struct fetcher *f, const struct value *get, const struct value *container,
             struct str ip, const char *purpose, int64_t timeout_ms, struct arena *a,
             struct http_got *ret, struct err *err)
{
    struct request r = { .a = a };
    struct str host = value_text(get, "host"), scheme = value_text(get, "scheme");
    r.scheme = scheme.n ? lower(a, scheme) : STR("http");
    r.host = host.n ? host : ip;
    int done = container_port(value_get(get, STR("port")), container, &r.port, err);
    if (done < 0)
        return done;
    set_headers(&r, get, purpose);
    set_url(&r, value_text(get, "path"));
    return get_all(f, &r, timeout_ms > 0 ? timeout_ms : USUAL_MS, ret, err);
}
