/* harness.h - a server in this process, with its loops on threads of their own, and raw clients.
 *
 * Each test starts its own server on port 0. Clients use blocking sockets with a timeout long
 * enough to mean that something hangs. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <nghttp2/nghttp2.h>
#include <pthread.h>

#include "base/buf.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/crypto/pki.h"
#include "net/workers.h"

enum { HARNESS_LOOPS = 2, HANG_SECONDS = 20, HARNESS_STUBBORN = 256 };

struct harness_options {
    struct http_limits limits; /* from http_limits_default(), some changed */
    size_t n_loops;            /* 0: one */
    bool tls, require_client;
    struct str crl_pem;
    struct str more_ca_pem;
};

struct harness {
    struct arena arena;
    struct loop *loops[HARNESS_LOOPS];
    pthread_t threads[HARNESS_LOOPS];
    size_t n_loops;
    struct workers *workers;
    struct http_server *server;
    struct str plain, tls; /* addresses: "127.0.0.1:1234" */
    struct pki_pair ca, server_pair, client_pair;
    struct tls_context *context;
    bool stopped;

    _Atomic size_t requests; /* that reached the handler */
    _Atomic size_t running;  /* of /hold */
    _Atomic size_t gone;     /* on_gone calls */
    _Atomic size_t uploaded; /* bytes that streamed in */
    _Atomic size_t started;  /* of /toil and /deaf, by a worker */
    _Atomic size_t spent;    /* of /toil, that gave up */
    atomic_bool let_go;      /* /deaf ends */
    struct http_exchange *stubborn[HARNESS_STUBBORN];
    _Atomic size_t n_stubborn;

    struct http_exchange *later; /* the one that waits; of the first loop */
    _Atomic size_t n_later;      /* that began to wait */
    _Atomic int over_order;      /* 12 or 21: in which order two were told that it is over */
    struct loop_msg go_on;
    int later_status; /* what it is answered with; 0: it goes on */
    atomic_bool later_done;
};

struct harness_options harness_defaults(void);
/* Paths the handler knows:
 *   /             200, "hello"
 *   /echo         the body
 *   /headers      the headers, a line each
 *   /big?N        N bytes at once
 *   /stream?N     N bytes piece by piece, as there is room
 *   /endless      pieces until the client is gone
 *   /trailers     "body" and a trailer
 *   /worker       from a worker
 *   /worker?N     N bytes in pieces from a worker
 *   /toil         on a worker, until its allowance ends
 *   /deaf?N       on a worker, with N bytes of memory, until `let_go`, whoever says what
 *   /take?N       on a worker, takes N bytes of memory
 *   /hold         answers when the client is gone, or at the end
 *   /stubborn     answers when harness_release() says so, gone or not
 *   /upload       streams the body in, answers with its length
 *   /stuck        streams the body in and consumes nothing
 *   /early        streams the body in, answers 404 before it is read
 *   /head         403 at its head
 *   /later        waits at its head for harness_go_on(), then as /echo, with the header x-own
 *   /close        asks for the connection to be closed
 *   /whoami       the peer's certificate
 *   /tunnel       upgrades and echoes
 *   /abort        ends without an end */
void harness_start(struct harness *h, const struct harness_options *opt);
void harness_stop(struct harness *h); /* drains, joins, frees */
void harness_release(struct harness *h);
/* Lets /later go on, or answers it with that status. Returns when that is done. */
void harness_go_on(struct harness *h, int status);
/* Starts the drain; harness_stop() waits for it. */
void harness_drain(struct harness *h);
struct http_stats harness_stats(struct harness *h);
/* Waits until the condition holds; fails the test if it never does. */
#define harness_wait(cond)                             \
    do {                                               \
        for (int tries__ = 0; !(cond); tries__++) {    \
            assert_true(tries__ < HANG_SECONDS * 200); \
            harness_sleep_ms(5);                       \
        }                                              \
    } while (0)
void harness_sleep_ms(int ms);
int64_t harness_now_ms(void);
size_t harness_rss_bytes(void);
/* Fails the test if this process has grown by more since `before`. Sanitizers keep freed memory,
 * so there is nothing to see under them. */
void harness_check_rss(size_t before, size_t most);

/* ---- Raw sockets ---- */

int peer_connect(struct str address);
int peer_connect_from(const char *host, struct str address); /* as somebody else */
bool peer_send(int fd, struct str bytes); /* false if the other side has closed */
/* Adds what comes until the end, or until `max` bytes. False if the connection was reset. */
bool peer_read_all(int fd, struct buf *to, size_t max);
/* At least `n` more bytes; false at the end. */
bool peer_read(int fd, struct buf *to, size_t n);
bool peer_wait_closed(int fd); /* drops what comes; true when the end has come */

/* ---- HTTP/1.1 ---- */

/* Sends, reads to the end, closes. Returns the status of the first reply, or 0 if none came. */
int h1_ask(struct harness *h, struct str request, struct buf *ret);
int h1_status(struct str reply);
struct str h1_body(struct str reply); /* what follows the empty line */

/* ---- HTTP/2 ---- */

struct h2_frame {
    uint8_t type, flags;
    uint32_t stream;
    struct str payload; /* good until the next read */
    int status;         /* of HEADERS; -1 for trailers */
};

struct h2_peer {
    int fd;
    struct buf in;
    size_t at;
    nghttp2_hd_inflater *inflater;
};

enum {
    H2_DATA,
    H2_HEADERS,
    H2_PRIORITY,
    H2_RST_STREAM,
    H2_SETTINGS,
    H2_PUSH_PROMISE,
    H2_PING,
    H2_GOAWAY,
    H2_WINDOW_UPDATE,
    H2_CONTINUATION,
    H2_ALTSVC,
};
enum { H2_END_STREAM = 1, H2_ACK = 1, H2_END_HEADERS = 4, H2_PADDED = 8, H2_WITH_PRIORITY = 32 };
enum {
    H2_NO_ERROR,
    H2_PROTOCOL_ERROR,
    H2_INTERNAL_ERROR,
    H2_FLOW_CONTROL_ERROR,
    H2_SETTINGS_TIMEOUT,
    H2_STREAM_CLOSED,
    H2_FRAME_SIZE_ERROR,
    H2_REFUSED_STREAM,
    H2_CANCEL,
    H2_COMPRESSION_ERROR,
    H2_CONNECT_ERROR,
    H2_ENHANCE_YOUR_CALM,
};

extern const struct str H2_PREFACE;

void h2_add(struct buf *b, uint8_t type, uint8_t flags, uint32_t stream, struct str payload);
void h2_add_u32(struct buf *b, uint8_t type, uint32_t stream, uint32_t value);
void h2_add_setting(struct buf *b, uint16_t id, uint32_t value); /* a whole SETTINGS frame */
/* A header block: GET `path` of localhost; literal without indexing, no Huffman. */
void h2_block(struct buf *b, const char *method, const char *path);
void h2_block_header(struct buf *b, struct str name, struct str value);
/* HEADERS with that block. */
void h2_add_request(struct buf *b, uint32_t stream, const char *method, const char *path,
                    bool end_stream);
/* On stream 1, with one more header. */
void h2_add_request_with(struct buf *b, const char *method, const char *path, struct str name,
                         struct str value, bool ends);

/* Connects and exchanges prefaces and SETTINGS. */
void h2_connect(struct h2_peer *p, struct harness *h);
bool h2_send(struct h2_peer *p, struct buf *b);         /* and empties it; false if closed */
bool h2_next(struct h2_peer *p, struct h2_frame *ret);  /* false at the end */
bool h2_parse(struct h2_peer *p, struct h2_frame *ret); /* of what `in` has; false: not all of it */
/* Skips other frames; false at the end. `stream` 0 means any. */
bool h2_expect(struct h2_peer *p, uint8_t type, uint32_t stream, struct h2_frame *ret);
uint32_t h2_u32(struct str s, size_t at);
/* The error code of the GOAWAY that must come, or -1. */
int64_t h2_goaway_code(struct h2_peer *p);
/* The status of the next HEADERS frame on the stream, or -1. */
int h2_status(struct h2_peer *p, uint32_t stream);
void h2_close(struct h2_peer *p);
