/* The peer is a small server in here, since what is tested is how we take bad answers. */
#include "net/outgoing/fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/crypto/pki.h"

static struct arena arena;
static struct pki_pair ca, other_ca, server_cert, client_cert;

/* ---- The peer ---- */

enum { MAX_CONNS = 64 };

struct peer {
    int listener;
    unsigned port;
    SSL_CTX *tls; /* NULL: cleartext */
    pthread_t thread;
    pthread_t conns[MAX_CONNS];
    _Atomic unsigned n_conns, n_requests;
    atomic_bool stop;
};

struct peer_conn {
    struct peer *peer;
    int fd;
    SSL *ssl;
};

static ssize_t peer_read(struct peer_conn *c, void *p, size_t n)
{
    return c->ssl ? SSL_read(c->ssl, p, (int)n) : recv(c->fd, p, n, 0);
}

static bool peer_write(struct peer_conn *c, struct str s)
{
    while (s.n) {
        ssize_t n = c->ssl ? SSL_write(c->ssl, s.p, (int)s.n) : send(c->fd, s.p, s.n, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        s = str_skip(s, (size_t)n);
    }
    return true;
}

/* One request: its head, and its body after it, go into `in`. */
static bool peer_request(struct peer_conn *c, struct buf *in, size_t *ret_head)
{
    size_t head = 0, body = 0;
    buf_reset(in);
    for (;;) {
        if (!head && in->n >= 4) {
            const char *end = memmem(in->p, in->n, "\r\n\r\n", 4);
            if (end) {
                head = (size_t)(end - in->p) + 4;
                const char *length = memmem(in->p, head, "Content-Length: ", 16);
                body = length ? strtoul(length + 16, NULL, 10) : 0;
            }
        }
        if (head && in->n - head >= body)
            break;
        buf_reserve(in, 65536);
        ssize_t n = peer_read(c, in->p + in->n, 65536);
        if (n <= 0)
            return false;
        in->n += (size_t)n;
    }
    *ret_head = head;
    return true;
}

static bool answer_endless(struct peer_conn *c, bool chunked)
{
    static const char zeros[1 << 16];
    bool on = peer_write(c, chunked ? STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                                    : STR("HTTP/1.1 200 OK\r\n\r\n"));
    for (int i = 0; on && i < 1600; i++) {
        if (chunked)
            on = peer_write(c, STR("10000\r\n"));
        on = on && peer_write(c, (struct str){ zeros, sizeof(zeros) });
        if (on && chunked)
            on = peer_write(c, STR("\r\n"));
    }
    return false;
}

static bool answer_many_headers(struct peer_conn *c)
{
    bool on = peer_write(c, STR("HTTP/1.1 200 OK\r\n"));
    for (int i = 0; on && i < 100000; i++)
        on = peer_write(c, STR("X-Again: and again\r\n"));
    return false;
}

static void sleep_until_stopped(struct peer *p)
{
    while (!atomic_load(&p->stop))
        (void)usleep(10000);
}

static bool answer(struct peer_conn *c, struct str in, size_t head)
{
    struct str target = in;
    (void)str_cut(&target, ' ');
    target = str_cut(&target, ' ');
    if (str_eq(target, STR("/redirect")))
        return peer_write(c, STR("HTTP/1.1 302 Found\r\nLocation: /second\r\n"
                                 "Content-Length: 5\r\n\r\nmoved"));
    if (str_eq(target, STR("/announced")))
        return peer_write(c, STR("HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n"));
    if (str_eq(target, STR("/endless")))
        return answer_endless(c, false);
    if (str_eq(target, STR("/chunks")))
        return answer_endless(c, true);
    if (str_eq(target, STR("/headers")))
        return answer_many_headers(c);
    if (str_eq(target, STR("/silence"))) {
        sleep_until_stopped(c->peer);
        return false;
    }
    if (str_eq(target, STR("/cut"))) {
        (void)peer_write(c, STR("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"));
        return false;
    }
    autobuf out = { 0 }; /* anything else: the request itself, and how long its body was */
    autobuf text = { 0 };
    buf_printf(&text, STR_FMT "%zu", (int)head, in.p, in.n - head);
    buf_printf(&out,
               "HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n"
               "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nX-Upper-CASE:  Some Value \r\n\r\n",
               text.n);
    buf_str_add(&out, buf_str(&text));
    return peer_write(c, buf_str(&out));
}

static void *peer_conn_run(void *arg)
{
    struct peer_conn *c = arg;
    autobuf in = { 0 };
    size_t head;
    bool on = true;
    if (c->peer->tls) {
        c->ssl = SSL_new(c->peer->tls);
        SSL_set_fd(c->ssl, c->fd);
        on = SSL_accept(c->ssl) == 1;
    }
    while (on && peer_request(c, &in, &head)) {
        atomic_fetch_add(&c->peer->n_requests, 1);
        on = answer(c, buf_str(&in), head);
    }
    SSL_free(c->ssl);
    (void)close(c->fd);
    free(c);
    return NULL;
}

static void *peer_run(void *arg)
{
    struct peer *p = arg;
    for (;;) {
        int fd = accept(p->listener, NULL, NULL);
        if (fd < 0 || atomic_load(&p->stop)) {
            if (fd >= 0)
                (void)close(fd);
            return NULL;
        }
        struct peer_conn *c = mem_new(struct peer_conn);
        *c = (struct peer_conn){ .peer = p, .fd = fd };
        unsigned i = atomic_load(&p->n_conns);
        assert_true(i < MAX_CONNS);
        atomic_store(&p->n_conns, i + 1); /* before it answers anything */
        assert_int_equal(pthread_create(&p->conns[i], NULL, peer_conn_run, c), 0);
    }
}

static SSL_CTX *peer_tls(bool want_client)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    BIO *cert = BIO_new_mem_buf(server_cert.cert_pem.p, (int)server_cert.cert_pem.n);
    BIO *key = BIO_new_mem_buf(server_cert.key_pem.p, (int)server_cert.key_pem.n);
    BIO *ca_in = BIO_new_mem_buf(ca.cert_pem.p, (int)ca.cert_pem.n);
    X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    X509 *root = PEM_read_bio_X509(ca_in, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    SSL_CTX_use_certificate(tls, x);
    SSL_CTX_use_PrivateKey(tls, k);
    if (want_client) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), root);
        SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    X509_free(x);
    X509_free(root);
    EVP_PKEY_free(k);
    BIO_free(cert);
    BIO_free(key);
    BIO_free(ca_in);
    return tls;
}

static void peer_listen(struct peer *p, const char *unix_path, SSL_CTX *tls)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    struct sockaddr *addr = unix_path ? (struct sockaddr *)&un : (struct sockaddr *)&in;
    socklen_t len = unix_path ? sizeof(un) : sizeof(in);
    *p = (struct peer){ .tls = tls };
    if (unix_path)
        (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", unix_path);
    p->listener = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, addr, len), 0);
    assert_int_equal(listen(p->listener, 64), 0);
    if (!unix_path) {
        assert_int_equal(getsockname(p->listener, addr, &len), 0);
        p->port = ntohs(in.sin_port);
    }
    assert_int_equal(pthread_create(&p->thread, NULL, peer_run, p), 0);
}

/* After the clients are gone, so that every connection has come to its end. */
static void peer_stop(struct peer *p)
{
    atomic_store(&p->stop, true);
    (void)shutdown(p->listener, SHUT_RDWR);
    (void)pthread_join(p->thread, NULL);
    for (unsigned i = 0; i < atomic_load(&p->n_conns); i++)
        (void)pthread_join(p->conns[i], NULL);
    (void)close(p->listener);
    SSL_CTX_free(p->tls);
}

static struct str url_at(const char *scheme, const struct peer *p, const char *path)
{
    return arena_printf(&arena, "%s://127.0.0.1:%u%s", scheme, p->port, path);
}

static int get(struct fetcher *f, struct str url, struct fetch_reply *ret, struct err *err)
{
    struct fetch_request req = { .method = STR("GET"), .url = url, .timeout_ms = 20000 };
    return fetch(f, &req, &arena, ret, err);
}

static bool holds(struct str s, struct str part)
{
    return memmem(s.p, s.n, part.p, part.n) != NULL;
}

static struct fetcher *plain_fetcher(void)
{
    const struct fetcher_options none = { .insecure = false };
    return fetcher_new(&none);
}

/* ---- The tests ---- */

static void replies_and_reuse(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(get(f, url_at("http", &p, "/a/../b?c=%2f"), &reply, NULL), 0);
        assert_int_equal(reply.status, 200);
        assert_true(str_starts(reply.body, STR("GET /a/../b?c=%2f HTTP/1.1\r\n")));
        assert_int_equal(reply.n_headers, 2); /* the interim reply's is not among them */
        assert_true(str_eq(reply.headers[1].name, STR("x-upper-case")));
        assert_true(str_eq(reply.headers[1].value, STR("Some Value")));
    }
    assert_int_equal(p.n_requests, 5);
    assert_int_equal(p.n_conns, 1);
    fetcher_free(f);
    peer_stop(&p);
}

static void methods_headers_and_bodies(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    autofree char *megabyte = mem_zalloc(1 << 20);
    const struct http_header headers[] = { { STR("x-test"), STR("yes") },
                                           { STR("x-empty"), STR("") },
                                           { STR("accept"), STR("application/json") } };
    struct fetch_request req = { .method = STR("POST"),
                                 .url = url_at("http", &p, "/post"),
                                 .headers = headers,
                                 .n_headers = 3,
                                 .body = { megabyte, 1 << 20 } };
    assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
    assert_true(str_starts(reply.body, STR("POST /post ")));
    assert_true(str_ends(reply.body, STR("\r\n1048576")));
    assert_true(holds(reply.body, STR("x-test: yes\r\n")));
    assert_true(holds(reply.body, STR("x-empty:\r\n")));
    assert_true(holds(reply.body, STR("accept: application/json\r\n")));
    assert_false(holds(reply.body, STR("form-urlencoded")));
    assert_false(holds(reply.body, STR("Expect")));

    static const char *const methods[] = { "PUT", "PATCH", "DELETE", "GET" };
    for (size_t i = 0; i < 4; i++) {
        req = (struct fetch_request){ .method = str_of(methods[i]),
                                      .url = url_at("http", &p, "/m"),
                                      .body = i < 3 ? STR("{}") : STR("") };
        assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
        assert_true(str_starts(reply.body, str_of(methods[i])));
        assert_true(str_ends(reply.body, i < 3 ? STR("\r\n2") : STR("\r\n0")));
    }
    req = (struct fetch_request){ .method = STR("POST"), .url = url_at("http", &p, "/m") };
    assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
    assert_true(holds(reply.body, STR("Content-Length: 0\r\n")));
    fetcher_free(f);
    peer_stop(&p);
}

/* CVE-2020-8561: a redirect is the answer, and nobody goes there. */
static void redirects_are_not_followed(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    assert_int_equal(get(f, url_at("http", &p, "/redirect"), &reply, NULL), 0);
    assert_int_equal(reply.status, 302);
    assert_true(str_eq(reply.body, STR("moved")));
    fetcher_free(f);
    peer_stop(&p);
    assert_int_equal(p.n_requests, 1);
}

static void environment_proxies_are_ignored(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    (void)setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    assert_int_equal(get(f, url_at("http", &p, "/x"), &reply, NULL), 0);
    (void)unsetenv("http_proxy");
    (void)unsetenv("ALL_PROXY");
    fetcher_free(f);
    peer_stop(&p);
}

/* CVE-2022-24726 and its like: a reply without end costs no more than the bound. */
static void large_replies_stop_at_the_bound(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    struct err err = ERR_INIT(&arena);
    static const char *const paths[] = { "/announced", "/endless", "/chunks", "/headers" };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(get(f, url_at("http", &p, paths[i]), &reply, &err), -ERR_TOO_LARGE);
    struct fetch_request req = { .method = STR("GET"),
                                 .url = url_at("http", &p, "/x"),
                                 .max_reply = 10 };
    assert_int_equal(fetch(f, &req, &arena, &reply, &err), -ERR_TOO_LARGE);
    assert_true(arena.held < 8 * LIMIT_BODY_BYTES);
    fetcher_free(f);
    peer_stop(&p);
}

struct pieces {
    size_t bytes, most;
};

static bool count_piece(void *arg, int status, struct str piece)
{
    struct pieces *got = arg;
    assert_int_equal(status, 200);
    got->bytes += piece.n;
    return got->bytes < got->most;
}

static void streams_are_not_bounded(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    struct pieces all = { .most = SIZE_MAX }, some = { .most = 1 << 20 };
    struct fetch_request req = { .method = STR("GET"),
                                 .url = url_at("http", &p, "/endless"),
                                 .on_piece = count_piece,
                                 .arg = &all };
    assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
    assert_int_equal(all.bytes, 1600 << 16); /* 100 MiB */
    assert_int_equal(reply.body.n, 0);
    req.arg = &some;
    assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
    assert_in_range(some.bytes, 1 << 20, 2 << 20);
    fetcher_free(f);
    peer_stop(&p);
}

static void failures_have_codes(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    struct err err = ERR_INIT(&arena);
    struct fetch_request req = { .method = STR("GET"),
                                 .url = url_at("http", &p, "/silence"),
                                 .timeout_ms = 200 };
    assert_int_equal(fetch(f, &req, &arena, &reply, &err), -ERR_TIMEOUT);
    assert_int_equal(get(f, url_at("http", &p, "/cut"), &reply, &err), -ERR_UNAVAILABLE);
    assert_int_equal(get(f, STR("http://127.0.0.1:1/"), &reply, &err), -ERR_UNAVAILABLE);
    assert_int_equal(get(f, STR("http://name.invalid/"), &reply, &err), -ERR_UNAVAILABLE);
    const struct str bad[] = { STR("file:///etc/passwd"),
                               STR("ftp://127.0.0.1/"),
                               STR(""),
                               STR("http://"),
                               STR("http://u:p@127.0.0.1/"),
                               STR("http://a/\r\nX: y"),
                               STR("http://a/\0b") };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(get(f, bad[i], &reply, &err), -ERR_BAD_REQUEST);
    const struct http_header split[] = { { STR("x"), STR("a\r\nevil: 1") },
                                         { STR("x y"), STR("a") },
                                         { STR(""), STR("a") } };
    for (size_t i = 0; i < 3; i++) {
        req = (struct fetch_request){ .method = STR("GET"),
                                      .url = url_at("http", &p, "/"),
                                      .headers = &split[i],
                                      .n_headers = 1 };
        assert_int_equal(fetch(f, &req, &arena, &reply, &err), -ERR_BAD_REQUEST);
    }
    req = (struct fetch_request){ .method = STR("GET /x"), .url = url_at("http", &p, "/") };
    assert_int_equal(fetch(f, &req, &arena, &reply, &err), -ERR_BAD_REQUEST);
    fetcher_free(f);
    peer_stop(&p);
    assert_int_equal(p.n_requests, 2);
}

static void *end_soon(void *arg)
{
    (void)usleep(50 * 1000);
    allowance_finish(arg, ALLOWANCE_GONE);
    return NULL;
}

/* Nobody waits for the answer any more: long before its time is over. */
static void a_fetch_for_nobody_ends(void **state)
{
    (void)state;
    struct peer p;
    struct arena a;
    struct allowance allowance = { 0 };
    pthread_t thread;
    peer_listen(&p, NULL, NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    arena_init(&a);
    arena_allow(&a, &allowance);
    struct err err = ERR_INIT(&a);
    const struct fetch_request req = { .method = STR("GET"),
                                       .url = url_at("http", &p, "/silence"),
                                       .timeout_ms = 600 * 1000 };
    assert_int_equal(pthread_create(&thread, NULL, end_soon, &allowance), 0);
    assert_int_equal(fetch(f, &req, &a, &reply, &err), -ERR_TIMEOUT);
    pthread_join(thread, NULL);
    arena_done(&a);
    fetcher_free(f);
    peer_stop(&p);
}

static void other_ways_to_the_same_name(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    struct str pattern = arena_printf(&arena, "%s/fetch_test.XXXXXX", tmp ? tmp : "/tmp");
    const char *folder = mkdtemp((char *)str_cstr(&arena, pattern));
    struct str path = arena_printf(&arena, "%s/s", folder);
    struct peer tcp, un;
    peer_listen(&tcp, NULL, NULL);
    peer_listen(&un, str_cstr(&arena, path), NULL);
    struct fetcher *f = plain_fetcher();
    struct fetch_reply reply;
    struct fetch_request req = { .method = STR("GET"),
                                 .url = STR("http://svc.ns.svc:8443/x"),
                                 .connect_to = arena_printf(&arena, "127.0.0.1:%u", tcp.port) };
    assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
    assert_true(holds(reply.body, STR("Host: svc.ns.svc:8443\r\n")));
    req = (struct fetch_request){ .method = STR("GET"),
                                  .url = STR("http://localhost/x"),
                                  .unix_socket = path };
    assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
    assert_true(holds(reply.body, STR("Host: localhost\r\n")));
    fetcher_free(f);
    peer_stop(&tcp);
    peer_stop(&un);
    assert_int_equal(tcp.n_requests + un.n_requests, 2);
    (void)unlink(str_cstr(&arena, path));
    (void)rmdir(folder);
}

static void certificates_are_checked(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, peer_tls(false));
    struct fetcher *trusting = fetcher_new(&(struct fetcher_options){ .ca_pem = ca.cert_pem });
    struct fetcher *wrong = fetcher_new(&(struct fetcher_options){ .ca_pem = other_ca.cert_pem });
    struct fetcher *system_list = plain_fetcher();
    struct fetcher *insecure = fetcher_new(&(struct fetcher_options){ .insecure = true });
    struct fetch_reply reply;
    struct err err = ERR_INIT(&arena);
    struct str at = arena_printf(&arena, "127.0.0.1:%u", p.port);
    assert_int_equal(get(trusting, url_at("https", &p, "/x"), &reply, &err), -ERR_UNAVAILABLE);
    assert_int_equal(get(insecure, url_at("https", &p, "/x"), &reply, &err), 0);
    struct fetch_request req = { .method = STR("GET"),
                                 .url = STR("https://good.example/x"),
                                 .connect_to = at };
    assert_int_equal(fetch(trusting, &req, &arena, &reply, &err), 0);
    assert_int_equal(fetch(wrong, &req, &arena, &reply, &err), -ERR_UNAVAILABLE);
    assert_int_equal(fetch(system_list, &req, &arena, &reply, &err), -ERR_UNAVAILABLE);
    req.url = STR("https://evil.example/x");
    assert_int_equal(fetch(trusting, &req, &arena, &reply, &err), -ERR_UNAVAILABLE);
    req.server_name = STR("good.example"); /* now with the name that is to be checked */
    assert_int_equal(fetch(trusting, &req, &arena, &reply, &err), 0);
    assert_true(holds(reply.body, STR("Host: evil.example\r\n")));
    req = (struct fetch_request){ .method = STR("GET"),
                                  .url = url_at("https", &p, "/x"),
                                  .server_name = STR("good.example") };
    assert_int_equal(fetch(trusting, &req, &arena, &reply, &err), 0);
    fetcher_free(trusting);
    fetcher_free(wrong);
    fetcher_free(system_list);
    fetcher_free(insecure);
    peer_stop(&p);
}

static void own_certificate_is_shown(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, peer_tls(true));
    struct fetcher *known = fetcher_new(&(struct fetcher_options){
        .ca_pem = ca.cert_pem, .cert_pem = client_cert.cert_pem, .key_pem = client_cert.key_pem });
    struct fetcher *unknown = fetcher_new(&(struct fetcher_options){ .ca_pem = ca.cert_pem });
    struct fetch_reply reply;
    struct err err = ERR_INIT(&arena);
    struct fetch_request req = { .method = STR("GET"),
                                 .url = STR("https://good.example/x"),
                                 .connect_to = arena_printf(&arena, "127.0.0.1:%u", p.port) };
    assert_int_equal(fetch(known, &req, &arena, &reply, &err), 0);
    assert_int_equal(fetch(unknown, &req, &arena, &reply, &err), -ERR_UNAVAILABLE);
    fetcher_free(known);
    fetcher_free(unknown);
    peer_stop(&p);
}

enum { THREADS = 4, CALLS = 100 };

struct caller {
    struct fetcher *fetcher;
    struct str url;
};

static void *call_often(void *arg)
{
    struct caller *c = arg;
    uintptr_t good = 0;
    for (int i = 0; i < CALLS; i++) {
        struct arena a;
        arena_init(&a);
        struct fetch_reply reply = { 0 };
        struct fetch_request req = { .method = STR("GET"), .url = c->url };
        good += fetch(c->fetcher, &req, &a, &reply, NULL) == 0 && reply.status == 200;
        arena_done(&a);
    }
    return (void *)good;
}

static void any_thread_may_fetch(void **state)
{
    (void)state;
    struct peer p;
    peer_listen(&p, NULL, NULL);
    struct caller c = { plain_fetcher(), url_at("http", &p, "/x") };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &c), 0);
    for (int i = 0; i < THREADS; i++) {
        void *good;
        (void)pthread_join(threads[i], &good);
        assert_int_equal((uintptr_t)good, CALLS);
    }
    fetcher_free(c.fetcher);
    peer_stop(&p);
    assert_true(p.n_conns <= THREADS);
    assert_int_equal(p.n_requests, THREADS * CALLS);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    int64_t now = time(NULL);
    const struct str name = STR("good.example");
    struct pki_leaf server = { .common_name = STR("server"),
                               .dns_names = &name,
                               .n_dns_names = 1,
                               .server = true,
                               .now_sec = now,
                               .days = 2 };
    struct pki_leaf client = {
        .common_name = STR("client"), .client = true, .now_sec = now, .days = 2
    };
    int r = pki_make_ca(&arena, STR("ca"), now, 3, &ca, NULL);
    r |= pki_make_ca(&arena, STR("ca"), now, 3, &other_ca, NULL);
    r |= pki_issue(&arena, &ca, &server, &server_cert, NULL);
    r |= pki_issue(&arena, &ca, &client, &client_cert, NULL);
    return r;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_and_reuse),
        cmocka_unit_test(methods_headers_and_bodies),
        cmocka_unit_test(redirects_are_not_followed),
        cmocka_unit_test(environment_proxies_are_ignored),
        cmocka_unit_test(large_replies_stop_at_the_bound),
        cmocka_unit_test(streams_are_not_bounded),
        cmocka_unit_test(failures_have_codes),
        cmocka_unit_test(a_fetch_for_nobody_ends),
        cmocka_unit_test(other_ways_to_the_same_name),
        cmocka_unit_test(certificates_are_checked),
        cmocka_unit_test(own_certificate_is_shown),
        cmocka_unit_test(any_thread_may_fetch),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* the peer writes to clients that have hung up */
    return cmocka_run_group_tests(tests, setup, teardown);
}
