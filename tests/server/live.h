/* live.h - the API of a store in this process, over cleartext HTTP on loopback, and raw clients.
 *
 * Objects are put into the store directly, so that a test has each revision in its hand and can
 * leave things there that no server would write. Requests are HTTP/1.0: an answer ends with its
 * connection, and a stream is a socket to read lines from. */
#pragma once

#include <pthread.h>

#include "../net/harness.h"
#include "base/value.h"
#include "server/core/api.h"

enum { LIVE_LOOPS = 2 };

struct live {
    struct arena arena;
    struct api api;
    struct http_server *http;
    pthread_t threads[LIVE_LOOPS];
    struct str address;
    bool is_draining;
    _Atomic bool is_drained;
};

void live_start(struct live *l);
void live_populate(struct live *l); /* with what every control plane has from the first moment */
void live_drain(struct live *l);    /* begins; live_stop() waits for it */
void live_stop(struct live *l); /* as a server does: watches end, what runs ends, all is freed */

/* The server of a test program that has one at a time, and cmocka's set-up and tear-down of it. */
extern struct live live;
int live_setup(void **state);
int live_teardown(void **state);
/* Text in its arena: a path, an expectation. */
__attribute__((format(printf, 1, 2))) const char *live_path(const char *fmt, ...);

/* A ConfigMap with a label `x` (unless it is NULL) and `size` bytes of data. Returns the
 * revision. */
uint64_t live_put(struct live *l, const char *ns, const char *name, const char *x, size_t size);
uint64_t live_put_bytes(struct live *l, struct str key, struct str bytes);
uint64_t live_delete(struct live *l, const char *ns, const char *name);
struct str live_key(struct live *l, const char *ns, const char *name);

struct answer {
    int status;
    struct str head, body; /* in the live arena */
};
/* GET of `target`; `headers` are whole lines, or empty. */
struct answer live_get(struct live *l, const char *target, const char *headers);
/* The same, of which the answer must be JSON with that status. */
struct value live_get_json(struct live *l, const char *target, int status);
struct value live_json(struct live *l, struct str text);
const char *live_text(struct live *l, const struct value *v);

/* A request whose answer is read piece by piece. */
int live_open(struct live *l, const char *target, const char *headers);

struct stream {
    int fd;
    struct buf in;
    size_t at;
};
/* A watch; its head has been read and had the status 200. */
void stream_open(struct stream *s, struct live *l, const char *target);
void stream_close(struct stream *s);
bool stream_line(struct stream *s, struct str *ret); /* false at the end */
/* The next event as "TYPE NAME REVISION", in the arena; "END" when there is none. */
const char *stream_event(struct stream *s, struct live *l);
