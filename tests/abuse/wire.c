#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

enum { PATIENCE_SEC = 10 };

struct wire {
    int fd;
    SSL_CTX *context;
    SSL *ssl;
};

static int dial(struct str address)
{
    char host[64];
    size_t colon = address.n;
    while (colon > 0 && address.p[colon - 1] != ':')
        colon--;
    uint64_t port;
    if (!colon || colon > sizeof(host) || !str_to_u64(str_skip(address, colon), &port))
        return -1;
    memcpy(host, address.p, colon - 1);
    host[colon - 1] = '\0';
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = { .tv_sec = PATIENCE_SEC };
    if (fd >= 0 && inet_pton(AF_INET, host, &to.sin_addr) == 1 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)) == 0 &&
        connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool use_certificate(SSL_CTX *context, const struct target *t)
{
    BIO *cert = BIO_new_mem_buf(t->cert_pem.p, (int)t->cert_pem.n);
    BIO *key = BIO_new_mem_buf(t->key_pem.p, (int)t->key_pem.n);
    X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    bool good = SSL_CTX_use_certificate(context, x) == 1 && SSL_CTX_use_PrivateKey(context, k) == 1;
    X509_free(x);
    EVP_PKEY_free(k);
    BIO_free(cert);
    BIO_free(key);
    return good;
}

struct wire *wire_open(const struct target *t, const char *alpn, bool with_certificate)
{
    struct wire *w = mem_new(struct wire);
    unsigned char protocols[16] = { (unsigned char)strlen(alpn) };
    memcpy(protocols + 1, alpn, strlen(alpn));
    w->fd = dial(t->address);
    w->context = SSL_CTX_new(TLS_client_method());
    w->ssl = w->fd >= 0 && (!with_certificate || use_certificate(w->context, t))
                 ? SSL_new(w->context)
                 : NULL;
    if (w->ssl && SSL_set_alpn_protos(w->ssl, protocols, protocols[0] + 1u) == 0 &&
        SSL_set_fd(w->ssl, w->fd) == 1 && SSL_connect(w->ssl) == 1)
        return w;
    return wire_close(w);
}

struct wire *wire_close(struct wire *w)
{
    if (!w)
        return NULL;
    SSL_free(w->ssl);
    SSL_CTX_free(w->context);
    if (w->fd >= 0)
        close(w->fd);
    free(w);
    return NULL;
}

bool wire_send(struct wire *w, struct str bytes)
{
    while (bytes.n) {
        int n = SSL_write(w->ssl, bytes.p, bytes.n > INT32_MAX ? INT32_MAX : (int)bytes.n);
        if (n <= 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

bool wire_drain(struct wire *w)
{
    char room[16384];
    struct pollfd p = { .fd = w->fd, .events = POLLIN };
    while (SSL_pending(w->ssl) > 0 || poll(&p, 1, 0) > 0)
        if (SSL_read(w->ssl, room, sizeof(room)) <= 0)
            return false;
    return true;
}
