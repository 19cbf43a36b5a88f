/* dns_forward.c - see its header. */
#include "dns/dns_forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "api/ip.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/banned.h"

enum { ASK_MS = 2000, TRIES = 2, FILE_BYTES = 64 << 10, PORT = 53 };

/* ---- Whom ---- */

/* "[::1]:53", "10.0.0.1:53" and, without a port, either address alone. */
static bool split_port(struct str address, struct str *ret_host, uint64_t *ret_port)
{
    *ret_port = PORT;
    *ret_host = address;
    struct ip ip;
    if (ip_parse(address, &ip))
        return true;
    struct str rest = address;
    if (str_starts(address, STR("["))) {
        *ret_host = str_skip(str_cut(&rest, ']'), 1);
        if (!str_starts(rest, STR(":")))
            return rest.p && rest.n == 0;
        rest = str_skip(rest, 1);
    } else {
        *ret_host = str_cut(&rest, ':');
    }
    return rest.n && str_to_u64(rest, ret_port) && *ret_port > 0 && *ret_port <= UINT16_MAX;
}

int dns_forward_add(struct dns_forward *f, struct str address, struct err *err)
{
    struct str host;
    uint64_t port;
    struct ip ip;
    if (f->n == DNS_UPSTREAMS_MAX)
        return err_set(err, ERR_INVALID, "more than %d name servers", DNS_UPSTREAMS_MAX);
    if (!split_port(address, &host, &port) || !ip_parse(host, &ip))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no address of a name server",
                       STR_ARG(address));
    struct tcp_address *at = &f->upstreams[f->n++];
    *at = (struct tcp_address){ 0 };
    if (ip.is_v4) {
        struct sockaddr_in *in = (struct sockaddr_in *)&at->any;
        *in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
        memcpy(&in->sin_addr, ip.bytes, sizeof(in->sin_addr));
        at->n = sizeof(*in);
        return 0;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&at->any;
    *in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    memcpy(&in6->sin6_addr, ip.bytes, sizeof(in6->sin6_addr));
    at->n = sizeof(*in6);
    return 0;
}

int dns_forward_read(struct dns_forward *f, const char *resolv_conf, struct err *err)
{
    autobuf text = { 0 };
    int r = file_read(resolv_conf, FILE_BYTES, &text, err);
    if (r < 0)
        return r;
    struct str rest = buf_str(&text);
    while (rest.p && f->n < DNS_UPSTREAMS_MAX) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (str_starts(line, STR("nameserver ")) || str_starts(line, STR("nameserver\t")))
            (void)dns_forward_add(f, str_trim(str_skip(line, sizeof("nameserver"))), NULL);
    }
    return 0;
}

/* ---- How ---- */

static bool is_ready(int fd, short events, int64_t until_ns)
{
    struct pollfd p = { .fd = fd, .events = events };
    for (;;) {
        int64_t ms = (until_ns - clock_mono_ns(&clock_system)) / NS_PER_MS;
        int n = poll(&p, 1, ms > 0 ? (int)ms : 0);
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

/* Replies that do not fit are somebody's attempt to be believed; they are passed over. */
static bool ask_udp(int fd, struct str packet, const struct dns_question *q, int64_t until_ns,
                    struct arena *a, struct str *ret)
{
    const uint16_t id = (uint16_t)((unsigned char)packet.p[0] << 8 | (unsigned char)packet.p[1]);
    char reply[DNS_MESSAGE_BYTES];
    if (send(fd, packet.p, packet.n, 0) != (ssize_t)packet.n)
        return false;
    while (is_ready(fd, POLLIN, until_ns)) {
        ssize_t n = recv(fd, reply, sizeof(reply), 0);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0 && dns_reply_fits((struct str){ reply, (size_t)n }, id, q)) {
            *ret = arena_str(a, (struct str){ reply, (size_t)n });
            return true;
        }
    }
    return false;
}

static bool move_all(int fd, char *p, size_t n, bool is_write, int64_t until_ns)
{
    while (n && is_ready(fd, is_write ? POLLOUT : POLLIN, until_ns)) {
        ssize_t got = is_write ? send(fd, p, n, MSG_NOSIGNAL) : recv(fd, p, n, 0);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
    return n == 0;
}

static bool ask_tcp(int fd, struct str packet, const struct dns_question *q, int64_t until_ns,
                    struct arena *a, struct str *ret)
{
    const uint16_t id = (uint16_t)((unsigned char)packet.p[0] << 8 | (unsigned char)packet.p[1]);
    char *out = arena_alloc(a, packet.n + 2, 1), head[2];
    out[0] = (char)(packet.n >> 8);
    out[1] = (char)packet.n;
    memcpy(out + 2, packet.p, packet.n);
    if (!move_all(fd, out, packet.n + 2, true, until_ns) ||
        !move_all(fd, head, sizeof(head), false, until_ns))
        return false;
    const size_t n = (size_t)((unsigned char)head[0] << 8 | (unsigned char)head[1]);
    char *reply = arena_alloc(a, n + 1, 1);
    *ret = (struct str){ reply, n };
    return move_all(fd, reply, n, false, until_ns) && dns_reply_fits(*ret, id, q);
}

static bool ask_one(const struct tcp_address *at, struct str packet, const struct dns_question *q,
                    bool over_tcp, struct arena *a, struct str *ret)
{
    const int64_t until_ns = clock_mono_ns(&clock_system) + ASK_MS * NS_PER_MS;
    int fd = socket(at->any.ss_family,
                    (over_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    int r = connect(fd, (const struct sockaddr *)&at->any, at->n);
    bool is_done =
        (r == 0 || errno == EINPROGRESS) && (over_tcp ? ask_tcp(fd, packet, q, until_ns, a, ret)
                                                      : ask_udp(fd, packet, q, until_ns, a, ret));
    (void)close(fd);
    return is_done;
}

/* Nobody can guess it. */
static bool set_random_id(char *packet)
{
    return getrandom(packet, 2, 0) == 2;
}

static void set_id(struct str packet, uint16_t id)
{
    char *p = (char *)packet.p; /* it lies in the arena */
    p[0] = (char)(id >> 8);
    p[1] = (char)id;
}

int dns_forward_ask(const struct dns_forward *f, struct arena *a, struct str packet,
                    const struct dns_question *q, bool over_tcp, struct str *ret, struct err *err)
{
    struct str own = arena_str(a, packet);
    for (size_t i = 0; i < TRIES * f->n; i++) {
        if (!set_random_id((char *)own.p) ||
            !ask_one(&f->upstreams[i % f->n], own, q, over_tcp, a, ret))
            continue;
        set_id(*ret, q->id);
        return 0;
    }
    return err_set(err, ERR_UNAVAILABLE, "no name server answers");
}

struct str dns_forward_question(struct arena *a, struct dns_name name, uint16_t type,
                                struct dns_question *ret)
{
    enum { HEAD_BYTES = 12 };
    static const char head[HEAD_BYTES] = { 0, 0, 1, 0, 0, 1 }; /* one question, recursion desired */
    autobuf packet = { 0 };
    buf_add(&packet, head, sizeof(head));
    for (size_t i = 0; i < name.n; i++) {
        buf_byte(&packet, (char)name.labels[i].n);
        buf_str_add(&packet, name.labels[i]);
    }
    const char tail[] = { 0, (char)(type >> 8), (char)type, 0, 1 };
    buf_add(&packet, tail, sizeof(tail));
    struct str copy = arena_str(a, buf_str(&packet));
    *ret = (struct dns_question){
        .name = name, .type = type, .class = 1, .asked = str_skip(copy, HEAD_BYTES)
    };
    return copy;
}
