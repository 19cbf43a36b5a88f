/* fetch_transfer.c - requests as libcurl wants them, and the heads of its replies.
 *
 * A redirect is an answer like any other (CVE-2020-8561). Nothing about a reply but libcurl's own
 * words gets into an error: bodies are never logged. */
#include "net/outgoing/fetch_internal.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/banned.h"

enum { TIMEOUT_MS = 30000, CONNECT_TIMEOUT_MS = 10000 };

static void start_curl(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        mem_exhausted(0);
}

CURL *fetch_easy_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, start_curl);
    CURL *easy = curl_easy_init();
    if (!easy)
        mem_exhausted(0);
    return easy;
}

static const char *cstr_or_null(struct arena *a, struct str s)
{
    return s.p ? str_cstr(a, s) : NULL;
}

/* A URL that cannot be read goes to libcurl as it is, which refuses it: the way is not to be direct
 * by mistake. */
static void set_proxy(struct fetch_trust *trust, struct str url)
{
    struct arena *a = &trust->arena;
    struct proxy p;
    bool is_good = proxy_read(a, url, &p, NULL) == 0;
    trust->proxy_url = str_cstr(a, is_good ? proxy_for_curl(a, &p) : url);
    trust->proxy_user = is_good ? cstr_or_null(a, p.user) : NULL;
    trust->proxy_password = is_good ? cstr_or_null(a, p.password) : NULL;
}

void fetch_trust_init(struct fetch_trust *trust, const struct fetcher_options *opt)
{
    *trust = (struct fetch_trust){ .insecure = opt->insecure };
    buf_str_add(&trust->ca_pem, opt->ca_pem);
    buf_str_add(&trust->cert_pem, opt->cert_pem);
    buf_str_add(&trust->key_pem, opt->key_pem);
    arena_init(&trust->arena);
    set_proxy(trust, opt->proxy);
}

void fetch_trust_done(struct fetch_trust *trust)
{
    buf_done(&trust->ca_pem);
    buf_done(&trust->cert_pem);
    if (trust->key_pem.n)
        explicit_bzero(trust->key_pem.p, trust->key_pem.n);
    buf_done(&trust->key_pem);
    arena_done(&trust->arena);
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

static void add_header_line(struct fetch_transfer *t, const char *line)
{
    t->headers = list_add(t->headers, line);
}

static int add_headers(struct fetch_transfer *t, struct err *err)
{
    bool has_type = false, has_accept = false;
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
        has_accept = has_accept || str_eq_nocase(h->name, STR("accept"));
    }
    add_header_line(t, "Expect:"); /* no 100-continue: it costs a second when it is ignored */
    if (!has_type)
        add_header_line(t, "Content-Type:"); /* instead of that of a form */
    if (!has_accept)
        add_header_line(t, "Accept:"); /* who wants anything need not say so */
    return 0;
}

static const char *url_part(struct fetch_transfer *t, CURLUPart part, unsigned flags)
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
static void use_server_name(struct fetch_transfer *t, struct str *to)
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

static int set_target(struct fetch_transfer *t, struct err *err)
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

static int set_method(struct fetch_transfer *t, struct err *err)
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

static void set_trust(struct fetch_transfer *t)
{
    const struct fetch_trust *f = t->trust;
    curl_easy_setopt(t->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, f->insecure ? 0L : 1L);
    curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, f->insecure ? 0L : 2L);
    if (f->ca_pem.n) /* else the system's folder would be believed as well */
        curl_easy_setopt(t->easy, CURLOPT_CAPATH, NULL);
    set_blob(t->easy, CURLOPT_CAINFO_BLOB, &f->ca_pem);
    set_blob(t->easy, CURLOPT_SSLCERT_BLOB, &f->cert_pem);
    set_blob(t->easy, CURLOPT_SSLKEY_BLOB, &f->key_pem);
}

/* A proxy with TLS is believed as the server is, as Go does. */
static void set_proxy_options(struct fetch_transfer *t)
{
    const struct fetch_trust *f = t->trust;
    curl_easy_setopt(t->easy, CURLOPT_PROXY, f->proxy_url);
    curl_easy_setopt(t->easy, CURLOPT_PROXYUSERNAME, f->proxy_user);
    curl_easy_setopt(t->easy, CURLOPT_PROXYPASSWORD, f->proxy_password);
    curl_easy_setopt(t->easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(t->easy, CURLOPT_PROXY_SSL_VERIFYPEER, f->insecure ? 0L : 1L);
    curl_easy_setopt(t->easy, CURLOPT_PROXY_SSL_VERIFYHOST, f->insecure ? 0L : 2L);
    if (f->ca_pem.n)
        curl_easy_setopt(t->easy, CURLOPT_PROXY_CAPATH, NULL);
    set_blob(t->easy, CURLOPT_PROXY_CAINFO_BLOB, &f->ca_pem);
    set_blob(t->easy, CURLOPT_PROXY_SSLCERT_BLOB, &f->cert_pem);
    set_blob(t->easy, CURLOPT_PROXY_SSLKEY_BLOB, &f->key_pem);
}

/* ---- The head of the reply ---- */

static struct str lower_copy(struct arena *a, struct str s)
{
    char *p = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
    return (struct str){ p, s.n };
}

static void keep_header(struct fetch_transfer *t, struct str name, struct str value)
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
size_t fetch_transfer_on_header(char *p, size_t size, size_t n, void *arg)
{
    struct fetch_transfer *t = arg;
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

/* ---- Both ---- */

static void set_options(struct fetch_transfer *t)
{
    CURL *easy = t->easy;
    long timeout = t->req->timeout_ms > 0 ? (long)t->req->timeout_ms : TIMEOUT_MS;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, t->is_endless ? 0L : timeout);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     timeout < CONNECT_TIMEOUT_MS ? timeout : CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->message);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, fetch_transfer_on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, t->req->takes_gzip ? "gzip" : NULL);
    curl_easy_setopt(easy, CURLOPT_CERTINFO, t->req->tells_names ? 1L : 0L);
}

int fetch_transfer_prepare(struct fetch_transfer *t, struct err *err)
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
    set_proxy_options(t);
    set_options(t);
    return 0;
}

/* Of the server's own certificate; empty: none was seen. */
static struct str certificate_names(const struct fetch_transfer *t)
{
    static const struct str prefix = STR("X509v3 Subject Alternative Name:");
    struct curl_certinfo *chain = NULL;
    if (curl_easy_getinfo(t->easy, CURLINFO_CERTINFO, &chain) != CURLE_OK || !chain ||
        chain->num_of_certs < 1)
        return STR("");
    for (struct curl_slist *row = chain->certinfo[0]; row; row = row->next)
        if (str_starts(str_of(row->data), prefix))
            return str_skip(str_of(row->data), prefix.n);
    return STR("");
}

static int refuse_certificate(const struct fetch_transfer *t, const char *words, struct err *err)
{
    struct str names =
        t->req->tells_names && strstr(words, "subject name") ? certificate_names(t) : STR("");
    return err_set(err, ERR_UNAVAILABLE, "%s%s" STR_FMT, words, names.n ? FETCH_NAMES : "",
                   STR_ARG(names));
}

int fetch_transfer_error(struct fetch_transfer *t, CURLcode code, struct err *err)
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
    case CURLE_PEER_FAILED_VERIFICATION:
        return refuse_certificate(t, words, err);
    default:
        return err_set(err, ERR_UNAVAILABLE, "%s", words);
    }
}

int fetch_transfer_status(const struct fetch_transfer *t)
{
    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

void fetch_transfer_done(struct fetch_transfer *t)
{
    curl_slist_free_all(t->headers);
    curl_slist_free_all(t->connect_to);
    curl_url_cleanup(t->url);
}
