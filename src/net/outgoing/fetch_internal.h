/* fetch_internal.h - what the two ways of outgoing HTTP share: fetch.h, which waits, and courier.h,
 * which has many requests under way. Private to this folder. */
#pragma once

#include <curl/curl.h>

#include "base/buf.h"
#include "net/outgoing/fetch.h"
#include "net/outgoing/proxy.h"

/* The options, copied. */
struct fetch_trust {
    struct buf ca_pem, cert_pem, key_pem;
    struct arena arena;                      /* of what follows */
    const char *proxy_url;                   /* in libcurl's words; "": none */
    const char *proxy_user, *proxy_password; /* NULL: none */
    bool insecure;
};
void fetch_trust_init(struct fetch_trust *trust, const struct fetcher_options *opt);
void fetch_trust_done(struct fetch_trust *trust);

CURL *fetch_easy_new(void);

/* One request on one handle. The caller fills in the first part and sees to the body. */
struct fetch_transfer {
    const struct fetch_request *req;
    const struct fetch_trust *trust;
    CURL *easy;
    struct arena *arena;
    size_t max_reply;
    bool is_endless; /* no time limit once it is connected */

    struct curl_slist *headers, *connect_to;
    CURLU *url;
    char message[CURL_ERROR_SIZE];
    struct http_header *ret_headers;
    size_t n_ret_headers, cap_ret_headers, header_bytes;
    bool too_large;
};

int fetch_transfer_prepare(struct fetch_transfer *t, struct err *err);
/* What libcurl calls with each line of the head; `arg` is the transfer. */
size_t fetch_transfer_on_header(char *p, size_t size, size_t n, void *arg);
int fetch_transfer_error(struct fetch_transfer *t, CURLcode code, struct err *err);
int fetch_transfer_status(const struct fetch_transfer *t);
void fetch_transfer_done(struct fetch_transfer *t); /* not the handle */
