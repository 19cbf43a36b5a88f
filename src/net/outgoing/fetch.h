/* fetch.h - outgoing HTTP by libcurl, in linear code for workers.
 *
 * Redirects are never followed, replies are bounded in size and time, proxies from the environment
 * are ignored. Connections are kept for reuse inside one fetcher, which any thread may use. A fetch
 * ends within a second after the allowance of its arena has. */
#pragma once

#include <stdatomic.h>

#include "net/http/http.h"

struct fetcher;

struct fetcher_options {
    struct str ca_pem;            /* whom to believe; empty: the system's list */
    struct str cert_pem, key_pem; /* own certificate, if any */
    bool insecure;                /* no verification; for kubeconfigs that say so */
    struct str proxy;             /* a URL (net/outgoing/proxy.h); empty: none */
    size_t max_idle;              /* connections that are kept for the next; 0: 32 */
    const atomic_bool *cancel;    /* once true, running fetches end within a second; or NULL */
};

struct fetcher *fetcher_new(const struct fetcher_options *opt);
struct fetcher *fetcher_free(struct fetcher *f);

struct fetch_request {
    struct str method, url; /* http:// or https:// */
    struct str unix_socket; /* a path: connect there instead */
    struct str connect_to;  /* "host:port": connect there instead, names are still checked */
    struct str server_name; /* empty: the URL's host */
    const struct http_header *headers;
    size_t n_headers;
    struct str body;
    int64_t timeout_ms; /* 0: 30000 */
    bool takes_gzip;    /* the answer may come compressed; its size is bounded as it comes out */
    bool tells_names;   /* a certificate for another name: the message tells those it is for */
    size_t max_reply;   /* 0: LIMIT_BODY_BYTES */
    /* Streaming: called on the caller's thread with each piece instead of collecting; false stops.
     * There is then no size limit. */
    bool (*on_piece)(void *arg, int status, struct str piece);
    void *arg;
};

/* Stands in that message before "DNS:a.test, IP Address:127.0.0.1". */
#define FETCH_NAMES "; the certificate is for "

struct fetch_reply {
    int status;
    const struct http_header *headers;
    size_t n_headers;
    struct str body;
};

/* Waits. The reply lies in the arena. ERR_UNAVAILABLE (refused, TLS, name), ERR_TIMEOUT,
 * ERR_TOO_LARGE; an HTTP status of any kind is not an error. */
int fetch(struct fetcher *f, const struct fetch_request *req, struct arena *a,
          struct fetch_reply *ret, struct err *err);
