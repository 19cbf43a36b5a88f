#include "net/tls_conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "net/crypto/pki.h"
#include "base/idiom.h"

struct ends {
    struct arena arena;
    struct pki_pair ca, leaf;
    struct tls_context *server, *client;
};

/* An authority of the same name each time, and a certificate of it. */
static void make_pair(struct arena *a, struct str name, struct pki_pair *ret_ca,
                      struct pki_pair *ret)
{
    struct err err = ERR_INIT(a);
    const struct str names[] = { name }, ips[] = { STR("127.0.0.1") };
    int64_t now = time(NULL);
    assert_int_equal(pki_make_ca(a, STR("ca"), now, 1, ret_ca, &err), 0);
    const struct pki_leaf wish = { .common_name = STR("x"),
                                   .dns_names = names,
                                   .n_dns_names = 1,
                                   .ips = ips,
                                   .n_ips = 1,
                                   .server = true,
                                   .now_sec = now,
                                   .days = 1 };
    assert_int_equal(pki_issue(a, ret_ca, &wish, ret, &err), 0);
}

static int setup(void **state)
{
    static struct ends e;
    arena_init(&e.arena);
    struct err err = ERR_INIT(&e.arena);
    make_pair(&e.arena, STR("sampan.test"), &e.ca, &e.leaf);
    const struct tls_config server = { .server = true,
                                       .cert_pem = e.leaf.cert_pem,
                                       .key_pem = e.leaf.key_pem };
    const struct tls_config client = { .ca_pem = e.ca.cert_pem };
    assert_int_equal(tls_context_new(&server, &e.server, &err), 0);
    assert_int_equal(tls_context_new(&client, &e.client, &err), 0);
    *state = &e;
    return 0;
}

static int teardown(void **state)
{
    struct ends *e = *state;
    tls_context_unref(e->server);
    tls_context_unref(e->client);
    arena_done(&e->arena);
    return 0;
}

/* Lets both ends talk until the client knows: 1, or TLS_FAILED. */
static int shake_hands(struct ends *e, struct str host, struct err *err)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    struct tls_conn *server = tls_conn_new(e->server, fds[0], (struct str){ NULL, 0 });
    struct tls_conn *client = tls_conn_new(e->client, fds[1], host);
    int r = TLS_AGAIN;
    for (int step = 0; step < 20 && r == TLS_AGAIN; step++) {
        r = tls_conn_handshake(client, err);
        (void)tls_conn_handshake(server, NULL);
    }
    tls_conn_free(client);
    tls_conn_free(server);
    close(fds[0]);
    close(fds[1]);
    return r;
}

static void the_name_is_checked(void **state)
{
    struct ends *e = *state;
    char endless[300];
    memset(endless, 'a', sizeof(endless));
    const struct {
        struct str host;
        int result;
    } rows[] = {
        { STR("sampan.test"), 1 },
        { STR("127.0.0.1"), 1 },
        { STR("other.test"), TLS_FAILED },
        { STR("127.0.0.2"), TLS_FAILED },
        { STR("sampan.test\0.evil"), TLS_FAILED }, /* CVE-2026-47778, seen from the client */
        { { endless, sizeof(endless) }, TLS_FAILED },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&e->arena);
        assert_int_equal(shake_hands(e, rows[i].host, &err), rows[i].result);
        assert_int_equal(err.code, rows[i].result == 1 ? ERR_OK : ERR_UNAVAILABLE);
    }
}

/* ---- One inside of another ---- */

static void shake(struct tls_conn *client, struct tls_conn *server)
{
    int at_client = TLS_AGAIN, at_server = TLS_AGAIN;
    for (int step = 0; step < 20 && (at_client != 1 || at_server != 1); step++) {
        at_client = tls_conn_handshake(client, NULL);
        at_server = tls_conn_handshake(server, NULL);
    }
    assert_int_equal(at_client, 1);
    assert_int_equal(at_server, 1);
}

/* Moves bytes until all of them have come, and checks them. True: the writer had to wait. */
static bool carry(struct tls_conn *from, struct tls_conn *to, size_t total)
{
    static unsigned char out[5000], in[3000];
    size_t sent = 0, got = 0;
    bool has_waited = false;
    while (got < total) {
        size_t n = total - sent < sizeof(out) ? total - sent : sizeof(out);
        for (size_t i = 0; i < n; i++)
            out[i] = (unsigned char)((sent + i) * 7 % 251);
        ssize_t w = n ? tls_conn_write(from, out, n) : TLS_AGAIN;
        assert_true(w > 0 || w == TLS_AGAIN);
        has_waited |= n && w == TLS_AGAIN && tls_conn_wants_write(from);
        sent += w > 0 ? (size_t)w : 0;
        if (w > 0 && sent < total)
            continue; /* until the socket is full */
        ssize_t r;
        while ((r = tls_conn_read(to, in, sizeof(in))) > 0)
            for (ssize_t i = 0; i < r; i++, got++)
                assert_int_equal(in[i], got * 7 % 251);
        assert_int_equal(r, TLS_AGAIN);
        assert_false(tls_conn_has_more(to));
    }
    return has_waited;
}

static void one_inside_of_another(void **state)
{
    struct ends *e = *state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    struct tls_conn *outer_server = tls_conn_new(e->server, fds[0], STR(""));
    struct tls_conn *outer_client = tls_conn_new(e->client, fds[1], STR("127.0.0.1"));
    shake(outer_client, outer_server);
    struct tls_conn *server = tls_conn_new_inside(e->server, outer_server, STR(""));
    struct tls_conn *client = tls_conn_new_inside(e->client, outer_client, STR("sampan.test"));
    shake(client, server);
    assert_true(carry(client, server, 1 << 20));
    assert_true(carry(server, client, 1 << 20));
    char byte;
    tls_conn_shutdown(server);
    assert_int_equal(tls_conn_read(client, &byte, 1), 0);
    tls_conn_free(client);
    tls_conn_free(server);
    tls_conn_shutdown(outer_server);
    assert_int_equal(tls_conn_read(outer_client, &byte, 1), 0);
    tls_conn_free(outer_client);
    tls_conn_free(outer_server);
    close(fds[0]);
    close(fds[1]);
}

static void use_client(struct ends *e, struct str ca_pem)
{
    struct err err = ERR_INIT(&e->arena);
    tls_context_unref(e->client);
    assert_int_equal(tls_context_new(&(struct tls_config){ .ca_pem = ca_pem }, &e->client, &err),
                     0);
}

/* As in Go: a bundle may have the server's certificate in place of its authority's. */
static void a_certificate_is_believed_for_itself(void **state)
{
    struct ends *e = *state;
    struct pki_pair other_ca, other;
    make_pair(&e->arena, STR("sampan.test"), &other_ca, &other);
    use_client(e, e->leaf.cert_pem);
    assert_int_equal(shake_hands(e, STR("sampan.test"), NULL), 1);
    assert_int_equal(shake_hands(e, STR("other.test"), NULL), TLS_FAILED);
    use_client(e, other.cert_pem);
    assert_int_equal(shake_hands(e, STR("sampan.test"), NULL), TLS_FAILED);
}

static void its_own_get_another_certificate(void **state)
{
    struct ends *e = *state;
    struct pki_pair own_ca, own;
    struct err err = ERR_INIT(&e->arena);
    make_pair(&e->arena, STR(TLS_LOOPBACK_NAME), &own_ca, &own);
    const struct tls_config server = { .server = true,
                                       .cert_pem = e->leaf.cert_pem,
                                       .key_pem = e->leaf.key_pem,
                                       .loopback_cert_pem = own.cert_pem,
                                       .loopback_key_pem = own.key_pem };
    tls_context_unref(e->server);
    assert_int_equal(tls_context_new(&server, &e->server, &err), 0);
    assert_int_equal(shake_hands(e, STR("sampan.test"), &err), 1);
    assert_int_equal(shake_hands(e, STR(TLS_LOOPBACK_NAME), NULL), TLS_FAILED);
    use_client(e, own_ca.cert_pem);
    assert_int_equal(shake_hands(e, STR(TLS_LOOPBACK_NAME), &err), 1);
    assert_int_equal(shake_hands(e, STR("127.0.0.1"), NULL), TLS_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_name_is_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(one_inside_of_another, setup, teardown),
        cmocka_unit_test_setup_teardown(a_certificate_is_believed_for_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(its_own_get_another_certificate, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
