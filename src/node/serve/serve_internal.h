/* serve_internal.h - what the files of this room share. */
#pragma once

#include <stdatomic.h>

#include "net/http/solo.h"
#include "net/outgoing/relay.h"
#include "net/workers.h"
#include "node/serve/serve.h"
#include "node/serve/serve_auth.h"
#include "node/stats/stats.h"

struct serve {
    struct serve_options opt;
    struct arena arena;
    struct solo solo;
    struct workers *workers;
    struct workers *patient; /* for what may take for ever: logs that are followed, commands */
    struct serve_auth *auth;
    struct stats *stats;
    struct relay_set relays; /* the loop's */
    struct loop_msg stop;
    unsigned port;
    atomic_bool is_stopping;
};

/* A request on its worker. */
struct served {
    struct serve *s;
    struct http_exchange *x;
    const struct http_request *req;
    struct arena *a;
};

/* ---- serve.c ---- */

void serve__say(struct served *v, int status, struct str text);
void serve__json(struct served *v, const struct value *body);
/* The value of a parameter, decoded; empty: there is none. */
struct str serve__param(struct served *v, const char *name);
/* All values of a parameter, an array of texts. */
struct value serve__params(struct served *v, const char *name);
bool serve__flag(struct served *v, const char *name); /* "1" or "true" */

/* ---- serve_log.c ---- */

/* NS/POD/CONTAINER */
void serve__container_log(struct served *v, struct str rest);
/* The id of the container whose log is wanted, from the status of its pod; ERR_BAD_REQUEST in
 * upstream's words: there is none yet. Pure. */
int serve__log_id(const struct value *pod, struct str container, bool previous, struct str *ret,
                  struct err *err);

/* ---- serve_stream.c ---- */

enum serve_stream { SERVE_EXEC, SERVE_ATTACH, SERVE_PORTS };
void serve__stream(struct served *v, enum serve_stream what, struct str rest);
void serve__run(struct served *v, struct str rest);

/* ---- serve_status.c ---- */

void serve__pods(struct served *v);
void serve__running_pods(struct served *v);
void serve__health(struct served *v, struct str which);
void serve__config(struct served *v);
void serve__summary(struct served *v);
void serve__metrics(struct served *v, struct str which);
