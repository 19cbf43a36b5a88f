/* fetch.c - one libcurl easy handle per running request, kept with its connections for the next.
 *
 * libcurl cannot share connections between threads, so each handle has its own few and the most
 * recently used handle is taken first. A redirect is an answer like any other (CVE-2020-8561).
 * Nothing about a reply but libcurl's own words gets into an error: bodies are never logged. */
#include "net/fetch.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/banned.h"

enum {
    IDLE_HANDLES = 32,
    CONNECTIONS_PER_HANDLE = 4,
    TIMEOUT_MS = 30000,
    CONNECT_TIMEOUT_MS = 10000,
};

struct handle {
    struct handle *next;
    CURL *easy;
};

struct fetcher {
    struct buf ca_pem, cert_pem, key_pem;
    bool insecure;
    const atomic_bool *cancel;
    pthread_mutex_t idle_lock; /* of idle and n_idle */
    struct handle *idle;
    size_t n_idle;
};

/* One call of fetch(). */
struct transfer {
    const struct fetch_request *req;
    struct fetcher *fetcher;
    CURL *easy;
    struct arena *arena;
    struct curl_slist *headers, *connect_to;
    CURLU *url;
    char message[CURL_ERROR_SIZE];
    size_t max_reply;

    struct http_header *ret_headers;
    size_t n_ret_headers, cap_ret_headers, header_bytes;
    struct buf body;
    bool too_large, stopped;
};

static void start_curl(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        mem_exhausted(0);
}

struct fetcher *fetcher_new(const struct fetcher_options *opt)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, start_curl);
    struct fetcher *f = mem_new(struct fetcher);
    buf_str_add(&f->ca_pem, opt->ca_pem);
    buf_str_add(&f->cert_pem, opt->cert_pem);
    buf_str_add(&f->key_pem, opt->key_pem);
    f->insecure = opt->insecure;
    f->cancel = opt->cancel;
    (void)pthread_mutex_init(&f->idle_lock, NULL);
    return f;
}

static void handle_free(struct handle *h)
{
    curl_easy_cleanup(h->easy);
    free(h);
}

struct fetcher *fetcher_free(struct fetcher *f)
{
    if (!f)
        return NULL;
    while (f->idle) {
        struct handle *h = f->idle;
        f->idle = h->next;
        handle_free(h);
    }
    (void)pthread_mutex_destroy(&f->idle_lock);
    buf_done(&f->ca_pem);
    buf_done(&f->cert_pem);
    if (f->key_pem.n)
        explicit_bzero(f->key_pem.p, f->key_pem.n);
    buf_done(&f->key_pem);
    free(f);
    return NULL;
}

static struct handle *handle_take(struct fetcher *f)
{
    (void)pthread_mutex_lock(&f->idle_lock);
    struct handle *h = f->idle;
    if (h) {
        f->idle = h->next;
        f->n_idle--;
    }
    (void)pthread_mutex_unlock(&f->idle_lock);
    if (h)
        return h;
    h = mem_new(struct handle);
    h->easy = curl_easy_init();
    if (!h->easy)
        mem_exhausted(sizeof(*h));
    return h;
}

static void handle_give(struct fetcher *f, struct handle *h)
{
    curl_easy_reset(h->easy); /* keeps the connections */
    (void)pthread_mutex_lock(&f->idle_lock);
    bool keep = f->n_idle < IDLE_HANDLES;
    if (keep) {
        h->next = f->idle;
        f->idle = h;
        f->n_idle++;
    }
    (void)pthread_mutex_unlock(&f->idle_lock);
    if (!keep)
        handle_free(h);
}

/* ---- The request ---- */

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return true;
    return false;
}

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= 0x20 || (unsigned char)s.p[i] >= 0x7f || s.p[i] == ':')
            return false;
    return s.n > 0;
}

static struct curl_slist *list_add(struct curl_slist *list, const char *text)
{
    struct curl_slist *more = curl_slist_append(list, text);
    if (!more)
        mem_exhausted(strlen(text));
    return more;
}

static void add_header_line(struct transfer *t, const char *line)
{
    t->headers = list_add(t->headers, line);
}

static int add_headers(struct transfer *t, struct err *err)
{
    bool has_type = false;
    for (size_t i = 0; i < t->req->n_headers; i++) {
        const struct http_header *h = &t->req->headers[i];
        if (!is_token(h->name) || has_control(h->value))
            return err_set(err, ERR_BAD_REQUEST, "header that cannot be sent");
        /* "name;" is how libcurl is asked for a header without a value. */
        struct str line = h->value.n ? arena_printf(t->arena, STR_FMT ": " STR_FMT,
                                                    STR_ARG(h->name), STR_ARG(h->value))
                                     : arena_printf(t->arena, STR_FMT ";", STR_ARG(h->name));
        add_header_line(t, str_cstr(t->arena, line));
        has_type = has_type || str_eq_nocase(h->name, STR("content-type"));
    }
    add_header_line(t, "Expect:"); /* no 100-continue: it costs a second when it is ignored */
    if (!has_type)
        add_header_line(t, "Content-Type:"); /* instead of that of a form */
    return 0;
}

static const char *url_part(struct transfer *t, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    if (curl_url_get(t->url, part, &text, flags) != CURLUE_OK)
        return "";
    struct str copy = str_of(text);
    const char *ret = str_cstr(t->arena, copy);
    curl_free(text);
    return ret;
}

/* libcurl takes the name to check, and SNI, from the URL. So the URL gets the wanted name, and what
 * it named before becomes where to connect and what the Host header says. */
static void use_server_name(struct transfer *t, struct str *to)
{
    const char *host = url_part(t, CURLUPART_HOST, 0);
    const char *port = url_part(t, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    const char *own_port = url_part(t, CURLUPART_PORT, 0);
    if (!to->n)
        *to = arena_printf(t->arena, "%s:%s", host, port);
    bool has_host = false;
    for (size_t i = 0; i < t->req->n_headers; i++)
        has_host = has_host || str_eq_nocase(t->req->headers[i].name, STR("host"));
    if (!has_host) {
        struct str line =
            arena_printf(t->arena, "Host: %s%s%s", host, *own_port ? ":" : "", own_port);
        add_header_line(t, str_cstr(t->arena, line));
    }
    (void)curl_url_set(t->url, CURLUPART_HOST, str_cstr(t->arena, t->req->server_name), 0);
}

static int set_target(struct transfer *t, struct err *err)
{
    const struct fetch_request *req = t->req;
    if (has_control(req->url) || has_control(req->connect_to) || has_control(req->unix_socket) ||
        has_control(req->server_name))
        return err_set(err, ERR_BAD_REQUEST, "control byte in a URL or address");
    if (!str_starts(req->url, STR("http://")) && !str_starts(req->url, STR("https://")))
        return err_set(err, ERR_BAD_REQUEST, "URL is neither http:// nor https://");
    t->url = curl_url();
    if (!t->url)
        mem_exhausted(req->url.n);
    if (curl_url_set(t->url, CURLUPART_URL, str_cstr(t->arena, req->url),
                     CURLU_DISALLOW_USER | CURLU_PATH_AS_IS) != CURLUE_OK)
        return err_set(err, ERR_BAD_REQUEST, "malformed URL");
    struct str to = req->connect_to;
    if (req->server_name.n)
        use_server_name(t, &to);
    if (to.n) {
        struct str row = arena_printf(t->arena, "::" STR_FMT, STR_ARG(to));
        t->connect_to = list_add(NULL, str_cstr(t->arena, row));
        curl_easy_setopt(t->easy, CURLOPT_CONNECT_TO, t->connect_to);
    }
    if (req->unix_socket.n)
        curl_easy_setopt(t->easy, CURLOPT_UNIX_SOCKET_PATH, str_cstr(t->arena, req->unix_socket));
    curl_easy_setopt(t->easy, CURLOPT_CURLU, t->url);
    curl_easy_setopt(t->easy, CURLOPT_PATH_AS_IS, 1L);
    return 0;
}

static bool usually_has_body(struct str method)
{
    return str_eq(method, STR("POST")) || str_eq(method, STR("PUT")) ||
           str_eq(method, STR("PATCH"));
}

static int set_method(struct transfer *t, struct err *err)
{
    struct str method = t->req->method, body = t->req->body;
    if (!is_token(method))
        return err_set(err, ERR_BAD_REQUEST, "method that cannot be sent");
    if (body.n || usually_has_body(method)) {
        curl_easy_setopt(t->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, body.n ? body.p : "");
        curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
    } else if (str_eq(method, STR("HEAD"))) {
        curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
    } else {
        curl_easy_setopt(t->easy, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, str_cstr(t->arena, method));
    return 0;
}

static void set_blob(CURL *easy, CURLoption option, const struct buf *pem)
{
    struct curl_blob blob = { .data = pem->p, .len = pem->n, .flags = CURL_BLOB_NOCOPY };
    if (pem->n)
        curl_easy_setopt(easy, option, &blob);
}

static void set_trust(struct transfer *t)
{
    const struct fetcher *f = t->fetcher;
    curl_easy_setopt(t->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, f->insecure ? 0L : 1L);
    curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, f->insecure ? 0L : 2L);
    if (f->ca_pem.n) /* else the system's folder would be believed as well */
        curl_easy_setopt(t->easy, CURLOPT_CAPATH, NULL);
    set_blob(t->easy, CURLOPT_CAINFO_BLOB, &f->ca_pem);
    set_blob(t->easy, CURLOPT_SSLCERT_BLOB, &f->cert_pem);
    set_blob(t->easy, CURLOPT_SSLKEY_BLOB, &f->key_pem);
}

/* ---- The reply ---- */

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    n *= size;
    if (t->req->on_piece) {
        long status = 0;
        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
        t->stopped = !t->req->on_piece(t->req->arg, (int)status, (struct str){ p, n });
        return t->stopped ? 0 : n;
    }
    t->too_large = n > t->max_reply - t->body.n;
    if (t->too_large)
        return 0;
    buf_add(&t->body, p, n);
    return n;
}

static struct str lower_copy(struct arena *a, struct str s)
{
    char *p = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
    return (struct str){ p, s.n };
}

static void keep_header(struct transfer *t, struct str name, struct str value)
{
    if (t->n_ret_headers == t->cap_ret_headers) {
        size_t cap = t->cap_ret_headers ? 2 * t->cap_ret_headers : 16;
        t->ret_headers =
            arena_grow(t->arena, t->ret_headers, t->cap_ret_headers * sizeof(*t->ret_headers),
                       cap * sizeof(*t->ret_headers), alignof(struct http_header));
        t->cap_ret_headers = cap;
    }
    t->ret_headers[t->n_ret_headers++] =
        (struct http_header){ lower_copy(t->arena, name), arena_str(t->arena, value) };
}

/* A line of the head, also of an interim reply: each status line starts over. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    n *= size;
    struct str value = { p, n };
    t->header_bytes += n;
    t->too_large = t->header_bytes > LIMIT_HEADER_BYTES || t->n_ret_headers >= LIMIT_HEADER_COUNT;
    if (t->too_large)
        return 0;
    if (str_starts(value, STR("HTTP/"))) {
        t->n_ret_headers = 0;
        return n;
    }
    bool has_colon = str_find(value, ':') > 0;
    struct str name = str_trim(str_cut(&value, ':'));
    if (has_colon)
        keep_header(t, name, str_trim(value));
    return n;
}

/* Called every second at least. Not 0 ends the transfer. */
static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    const struct transfer *t = arg;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return (t->fetcher->cancel && atomic_load(t->fetcher->cancel)) || arena_spent(t->arena);
}

static void set_options(struct transfer *t)
{
    const struct fetch_request *req = t->req;
    CURL *easy = t->easy;
    long timeout = req->timeout_ms > 0 ? (long)req->timeout_ms : TIMEOUT_MS;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, t->fetcher->cancel || t->arena->allowance ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, (long)CONNECTIONS_PER_HANDLE);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     timeout < CONNECT_TIMEOUT_MS ? timeout : CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->message);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    if (!req->on_piece && !str_eq(req->method, STR("HEAD")))
        curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->max_reply);
}

static int transfer_error(struct transfer *t, CURLcode code, struct err *err)
{
    const char *words = t->message[0] ? t->message : curl_easy_strerror(code);
    if (arena_spent(t->arena))
        return allowance_error(t->arena->allowance, err);
    if (t->too_large || code == CURLE_FILESIZE_EXCEEDED)
        return err_set(err, ERR_TOO_LARGE, "reply is larger than %zu bytes", t->max_reply);
    switch (code) {
    case CURLE_OUT_OF_MEMORY:
        mem_exhausted(0);
        return err_set(err, ERR_INTERNAL, "%s", words);
    case CURLE_OPERATION_TIMEDOUT:
        return err_set(err, ERR_TIMEOUT, "%s", words);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return err_set(err, ERR_BAD_REQUEST, "%s", words);
    default:
        return err_set(err, ERR_UNAVAILABLE, "%s", words);
    }
}

static int transfer_run(struct transfer *t, struct fetch_reply *ret, struct err *err)
{
    int r = set_method(t, err);
    if (r < 0)
        return r;
    r = add_headers(t, err);
    if (r < 0)
        return r;
    r = set_target(t, err);
    if (r < 0)
        return r;
    set_trust(t);
    set_options(t);
    CURLcode code = curl_easy_perform(t->easy);
    if (code != CURLE_OK && !(t->stopped && code == CURLE_WRITE_ERROR))
        return transfer_error(t, code, err);

    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    *ret = (struct fetch_reply){ .status = (int)status,
                                 .headers = t->ret_headers,
                                 .n_headers = t->n_ret_headers,
                                 .body = arena_str(t->arena, buf_str(&t->body)) };
    return 0;
}

int fetch(struct fetcher *f, const struct fetch_request *req, struct arena *a,
          struct fetch_reply *ret, struct err *err)
{
    struct handle *h = handle_take(f);
    struct transfer t = { .req = req,
                          .fetcher = f,
                          .easy = h->easy,
                          .arena = a,
                          .max_reply = req->max_reply ? req->max_reply : LIMIT_BODY_BYTES };
    int r = transfer_run(&t, ret, err);
    handle_give(f, h);
    curl_slist_free_all(t.headers);
    curl_slist_free_all(t.connect_to);
    curl_url_cleanup(t.url);
    buf_done(&t.body);
    return r;
}
