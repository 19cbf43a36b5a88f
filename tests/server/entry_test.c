/* Who gets in, as whom, and what it may hold before anybody knows who it is: the whole server over
 * TLS, with raw clients. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../net/harness.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "server/server.h"

static struct arena arena;
static struct server *server;
static struct pki_pair ca, admin, nobody; /* the last has nothing */

/* ---- The server ---- */

static struct pki_pair issue(const char *name, bool is_server)
{
    static const struct str masters[] = { STR("system:masters") }, ips[] = { STR("127.0.0.1") };
    const struct pki_leaf leaf = {
        .common_name = str_of(name),
        .organizations = masters,
        .n_organizations = is_server ? 0 : 1,
        .ips = ips,
        .n_ips = is_server ? 1 : 0,
        .server = is_server,
        .client = !is_server,
        .now_sec = clock_wall_ns(&clock_system) / NS_PER_SEC,
        .days = 2,
    };
    struct pki_pair pair;
    assert_int_equal(pki_issue(&arena, &ca, &leaf, &pair, NULL), 0);
    return pair;
}

static int setup(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct tls_context *tls;
    arena_init(&arena);
    (void)signal(SIGPIPE, SIG_IGN);
    int64_t now = clock_wall_ns(&clock_system) / NS_PER_SEC;
    assert_int_equal(pki_make_ca(&arena, STR("test CA"), now, 2, &ca, NULL), 0);
    const struct pki_pair own = issue("server", true);
    admin = issue("admin", false);
    const struct tls_config config = {
        .cert_pem = own.cert_pem, .key_pem = own.key_pem, .ca_pem = ca.cert_pem, .server = true
    };
    assert_int_equal(tls_context_new(&config, &tls, &err), 0);
    const struct server_options options = {
        .store = { .engine = STORE_MEMORY },
        .listen = STR("127.0.0.1:0"),
        .tls = tls,
        .n_loops = 1,
    };
    if (server_start(&options, &server, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    tls_context_unref(tls);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_null(server_stop(server));
    arena_done(&arena);
    return 0;
}

/* ---- Clients ---- */

struct client {
    int fd;
    SSL *ssl;
};

static void use_pair(SSL_CTX *ctx, struct pki_pair pair)
{
    BIO *cert_text = BIO_new_mem_buf(pair.cert_pem.p, (int)pair.cert_pem.n),
        *key_text = BIO_new_mem_buf(pair.key_pem.p, (int)pair.key_pem.n);
    X509 *cert = PEM_read_bio_X509(cert_text, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL);
    assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_text);
    BIO_free(key_text);
}

static struct client client_open(struct pki_pair pair, bool h2)
{
    static const unsigned char protocols[] = "\x02h2";
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    if (pair.cert_pem.n)
        use_pair(ctx, pair);
    struct client c = { .fd = peer_connect(server_address(server)), .ssl = SSL_new(ctx) };
    SSL_set_fd(c.ssl, c.fd);
    if (h2)
        (void)SSL_set_alpn_protos(c.ssl, protocols, sizeof(protocols) - 1);
    assert_int_equal(SSL_connect(c.ssl), 1);
    SSL_CTX_free(ctx);
    return c;
}

static void client_close(struct client *c)
{
    SSL_free(c->ssl);
    close(c->fd);
    ERR_clear_error();
}

static bool client_send(struct client *c, struct str bytes)
{
    return SSL_write(c->ssl, bytes.p, (int)bytes.n) > 0;
}

/* Adds what comes; false at the end. */
static bool client_read(struct client *c, struct buf *to)
{
    char bytes[16 << 10];
    int n = SSL_read(c->ssl, bytes, sizeof(bytes));
    if (n > 0)
        buf_add(to, bytes, (size_t)n);
    return n > 0;
}

/* The head and body of one whole reply, or what has come of it; as text. */
static struct str client_reply(struct client *c)
{
    autobuf got = { 0 };
    uint64_t length = 0;
    struct str body = { NULL, 0 };
    do {
        body = h1_body(buf_str(&got));
        buf_byte(&got, '\0');
        const char *said = strstr(got.p, "content-length: ");
        got.n--;
        if (body.p && said)
            length = strtoull(said + 16, NULL, 10);
        if (body.p && body.n >= length)
            break;
    } while (client_read(c, &got));
    buf_byte(&got, '\0');
    return arena_str(&arena, buf_str(&got));
}

static void ask(struct client *c, const char *method, const char *path, const char *headers,
                struct str body)
{
    autobuf b = { 0 };
    buf_printf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s", method, path, headers);
    if (body.n)
        buf_printf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.n);
    buf_str_add(&b, STR("\r\n"));
    buf_str_add(&b, body);
    assert_true(client_send(c, buf_str(&b)));
}

static void has(struct str text, const char *words)
{
    if (!strstr(text.p, words))
        fail_msg("no \"%s\" in %s", words, text.p);
}

/* ---- Bodies ---- */

#define CONFIGMAPS "/api/v1/namespaces/default/configmaps"

/* More bytes than all bodies together may have are announced, and begun, by nobody in particular.
 * Each is told so at once, and whoever may write still can. */
static void bodies_of_strangers_are_not_read(void **state)
{
    (void)state;
    enum { MANY = 68, PART = 1 << 20 };
    struct client strangers[MANY];
    char *part = mem_zalloc(PART);
    for (size_t i = 0; i < MANY; i++) {
        strangers[i] = client_open(nobody, false);
        autobuf b = { 0 };
        buf_printf(&b,
                   "POST " CONFIGMAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Length: %u\r\n\r\n",
                   LIMIT_BODY_BYTES);
        buf_add(&b, part, PART);
        (void)client_send(&strangers[i], buf_str(&b)); /* it may be cut short */
    }
    struct client known = client_open(admin, false);
    autobuf body = { 0 };
    buf_str_add(&body, STR("{\"metadata\":{\"name\":\"big\"},\"data\":{\"a\":\""));
    memset(part, 'a', PART);
    buf_add(&body, part, PART / 2);
    buf_str_add(&body, STR("\"}}"));
    ask(&known, "POST", CONFIGMAPS, "", buf_str(&body));
    assert_int_equal(h1_status(client_reply(&known)), 201);
    client_close(&known);
    for (size_t i = 0; i < MANY; i++)
        client_close(&strangers[i]);
    free(part);
}

/* Of the body not a byte has come. */
static void strangers_are_refused_at_the_head(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        int status;
    } rows[] = {
        { "POST", CONFIGMAPS, 403 }, { "PUT", "/metrics", 403 },  { "POST", "/nothing", 403 },
        { "GET", "/version", 200 },  { "POST", "/version", 403 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct client c = client_open(nobody, false);
        ask(&c, rows[i].method, rows[i].path, "Content-Length: 3000\r\n", STR(""));
        assert_int_equal(h1_status(client_reply(&c)), rows[i].status);
        client_close(&c);
    }
}

/* ---- Time ---- */

#define BAD_TIME "invalid timeout specified in the request URL - time: "

/* `timeout=` of any request that does not last: a duration, which may make its time shorter. */
static void a_request_may_name_its_time(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path, *words;
        int status;
    } rows[] = {
        { "GET", CONFIGMAPS "?timeout=x",
          BAD_TIME "invalid duration \\\"x\\\"\",\"reason\":\"BadReq", 400 },
        { "GET", CONFIGMAPS "/a?timeout=5", BAD_TIME "missing unit in duration \\\"5\\\"", 400 },
        { "DELETE", CONFIGMAPS "/a?timeout=5q",
          BAD_TIME "unknown unit \\\"q\\\" in duration \\\"5q\\\"", 400 },
        { "GET", CONFIGMAPS "?timeout=0", "\"items\"", 200 },
        { "GET", CONFIGMAPS "?timeout=-1s", "\"items\"", 200 },
        { "GET", CONFIGMAPS "?timeout=2h", "\"items\"", 200 },
        { "GET", CONFIGMAPS "?watch=1&timeout=x&timeoutSeconds=-1", "chunked", 200 },
        /* On a worker, it would wait for three seconds. */
        { "GET", CONFIGMAPS "/a?resourceVersion=999999999&timeout=1ms",
          "Timeout: request did not complete within the allotted timeout", 504 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct client c = client_open(admin, false);
        ask(&c, rows[i].method, rows[i].path, "", STR(""));
        struct str reply = client_reply(&c);
        has(reply, rows[i].words);
        assert_int_equal(h1_status(reply), rows[i].status);
        client_close(&c);
    }
}

/* ---- Names ---- */

/* A stranger may see how the server is, and its version; the same paths are no secret to others. */
static void what_is_public(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int status;        /* for strangers */
        const char *shown; /* the path in words, if it is another */
    } rows[] = {
        { "/healthz", 200, NULL },  { "/livez", 200, NULL },
        { "/readyz", 200, NULL },   { "/readyz/ping", 403, NULL },
        { "/version", 200, NULL },  { "/version/", 200, NULL },
        { "/healthzz", 403, NULL }, { "/version/more", 403, NULL },
        { "/", 403, NULL },         { "/api", 403, NULL },
        { "/apis", 403, NULL },     { "/openapi/v2", 403, NULL },
        { "/metrics", 403, NULL },  { "/nothing", 403, NULL },
        { "/api/v1", 403, NULL },   { "/%68ealthz/..", 403, "/healthz/.." },
        { "/Healthz", 403, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct client c = client_open(nobody, false);
        ask(&c, "GET", rows[i].path, "", STR(""));
        struct str reply = client_reply(&c);
        if (h1_status(reply) != rows[i].status)
            fail_msg("%s: %s", rows[i].path, reply.p);
        client_close(&c);
        if (rows[i].status == 403)
            has(reply,
                arena_printf(&arena,
                             "\"message\":\"forbidden: User \\\"system:anonymous\\\" cannot get "
                             "path \\\"%s\\\"\",\"reason\":\"Forbidden\"",
                             rows[i].shown ? rows[i].shown : rows[i].path)
                    .p);
    }
    struct client c = client_open(admin, false);
    ask(&c, "GET", "/metrics", "", STR(""));
    struct str reply = client_reply(&c); /* refusals are counted too */
    has(reply, "apiserver_request_total{code=\"403\"");
    client_close(&c);
}

/* Who somebody is, says the certificate alone. */
static void headers_name_nobody(void **state)
{
    (void)state;
    static const char headers[] = "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n"
                                  "X-Remote-Uid: 1\r\nX-Remote-Extra-A: b\r\n";
    struct client c = client_open(nobody, false);
    ask(&c, "GET", CONFIGMAPS, headers, STR(""));
    struct str reply = client_reply(&c);
    assert_int_equal(h1_status(reply), 403);
    has(reply, "User \\\"system:anonymous\\\"");
    client_close(&c);

    c = client_open(admin, false);
    ask(&c, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        "X-Remote-User: mallory\r\nX-Remote-Group: other\r\n",
        STR("{\"kind\":\"SelfSubjectReview\",\"apiVersion\":\"authentication.k8s.io/v1\"}"));
    reply = client_reply(&c);
    assert_null(strstr(reply.p, "mallory"));
    client_close(&c);
}

/* ---- Health ---- */

static void how_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *path, *words;
        int status;
    } rows[] = {
        { "/readyz", "\r\n\r\nok", 200 },
        { "/livez/ping", "\r\n\r\nok", 200 },
        { "/readyz/etcd", "\r\n\r\nok", 200 },
        { "/readyz/nothing", "404 page not found", 404 },
        { "/livez/shutdown", "404 page not found", 404 }, /* no reason to be killed */
        { "/readyz?verbose", "[+]ping ok\n[+]etcd ok\n", 200 },
        { "/readyz?verbose", "[+]shutdown ok\n[+]workers ok\nreadyz check passed\n", 200 },
        { "/livez?verbose=1", "[+]ping ok\n[+]etcd ok\nlivez check passed\n", 200 },
        { "/readyz?verbose&exclude=etcd", "[+]etcd excluded: ok\n", 200 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct client c = client_open(admin, false);
        ask(&c, "GET", rows[i].path, "", STR(""));
        struct str reply = client_reply(&c);
        has(reply, rows[i].words);
        assert_int_equal(h1_status(reply), rows[i].status);
        client_close(&c);
    }
}

/* ---- HTTP/2 ---- */

/* The next frame, read through TLS; false at the end. */
static bool next_frame(struct client *c, struct h2_peer *p, struct h2_frame *ret)
{
    while (!h2_parse(p, ret))
        if (!client_read(c, &p->in))
            return false;
    return true;
}

/* One request; true if its answer is followed by a GOAWAY without error, and not by the answer to a
 * later PING. */
static bool says_goaway(struct pki_pair pair, const char *path, int status)
{
    struct client c = client_open(pair, true);
    struct h2_peer p = { .fd = -1 };
    struct h2_frame f = { 0 };
    autobuf b = { 0 };
    nghttp2_hd_inflate_new(&p.inflater);
    buf_str_add(&b, H2_PREFACE);
    h2_add(&b, H2_SETTINGS, 0, 0, STR(""));
    h2_add_request(&b, 1, "GET", path, true);
    assert_true(client_send(&c, buf_str(&b)));
    while (f.type != H2_DATA || !(f.flags & H2_END_STREAM)) {
        assert_true(next_frame(&c, &p, &f));
        if (f.type == H2_HEADERS)
            assert_int_equal(f.status, status);
    }
    buf_reset(&b);
    h2_add(&b, H2_PING, 0, 0, STR("01234567"));
    (void)client_send(&c, buf_str(&b));
    while (next_frame(&c, &p, &f) && f.type != H2_GOAWAY && f.type != H2_PING)
        ;
    bool goaway = f.type == H2_GOAWAY && h2_u32(f.payload, 4) == H2_NO_ERROR;
    nghttp2_hd_inflate_del(p.inflater);
    buf_done(&p.in);
    client_close(&c);
    return goaway;
}

/* As upstream since CVE-2023-44487. */
static void strangers_get_one_request_per_connection(void **state)
{
    (void)state;
    assert_true(says_goaway(nobody, "/version", 200));
    assert_true(says_goaway(nobody, CONFIGMAPS, 403));
    assert_false(says_goaway(admin, "/version", 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_of_strangers_are_not_read),
        cmocka_unit_test(strangers_are_refused_at_the_head),
        cmocka_unit_test(a_request_may_name_its_time),
        cmocka_unit_test(how_it_is),
        cmocka_unit_test(what_is_public),
        cmocka_unit_test(headers_name_nobody),
        cmocka_unit_test(strangers_get_one_request_per_connection),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
