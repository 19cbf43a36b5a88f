#include "admission/webhook/hook.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "api/go/quote.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/outgoing/fetch.h"
#include "net/crypto/pki.h"
#include "base/banned.h"

enum {
    LATER_MS = 5000,  /* than the end of a request that has a time of its own */
    RETRIES_MAX = 10, /* after the first call, as upstream */
    LOOK_MS = 50,     /* so often a call that pauses looks whether it is still wanted */
};

struct hook {
    struct hook *next; /* of all */
    size_t refs;       /* with the lock of those */
    struct arena arena;
    struct str config;                   /* what it was made of, as JSON */
    struct str url;                      /* with a path, without a query */
    struct str fault;                    /* hook_fault() */
    struct str service_ns, service_name; /* empty: none */
    int64_t service_port;
    struct fetcher *fetcher;
    const atomic_bool *cancel;
    atomic_size_t n_calls; /* under way */
};

static bool contains(struct str text, const char *part)
{
    return text.p && text.n && memmem(text.p, text.n, part, strlen(part));
}

/* ---- What is configured ---- */

/* White space alone counts as nothing. */
static struct str read_ca(struct arena *a, const struct value *bundle)
{
    autobuf pem = { 0 };
    if (!base64_decode(&pem, value_str(bundle)) || !str_trim(buf_str(&pem)).n)
        return STR("");
    return arena_str(a, buf_str(&pem));
}

/* Where nothing is given the system's list counts. */
static struct str check_ca(struct arena *a, struct str pem)
{
    struct err err = ERR_INIT(a);
    int64_t ignored;
    if (!pem.n || pki_not_after(pem, &ignored, &err) == 0)
        return STR("");
    if (!contains(pem, "-----BEGIN "))
        return STR("unable to load root certificates: unable to parse bytes as PEM block");
    if (contains(pem, "-----BEGIN CERTIFICATE-----"))
        return STR("unable to load root certificates: failed to parse certificate: x509: malformed "
                   "certificate");
    return STR("unable to load root certificates: no valid certificate authority data seen");
}

struct str hook_fault(const struct hook *h)
{
    return h->fault;
}

/* With a path that has no empty parts, no "." and no "..", and no slash at its end, as upstream
 * asks for it: envtest's URLs have two slashes, which Go's servers do not take. */
static struct str clean_url(struct arena *a, struct str url)
{
    autobuf out = { 0 };
    struct str rest = str_skip(url, STR("https://").n);
    size_t host_n = STR("https://").n + str_cut(&rest, '/').n;
    buf_str_add(&out, str_take(url, host_n));
    while (rest.n) {
        struct str part = str_cut(&rest, '/');
        if (!part.n || str_eq(part, STR(".")))
            continue;
        if (!str_eq(part, STR(".."))) {
            buf_byte(&out, '/');
            buf_str_add(&out, part);
        } else {
            while (out.n > host_n && out.p[--out.n] != '/')
                continue;
        }
    }
    if (out.n == host_n)
        buf_byte(&out, '/');
    return arena_str(a, buf_str(&out));
}

static void read_service(struct hook *h, const struct value *service)
{
    struct arena *a = &h->arena;
    struct str path = value_text(service, "path");
    h->service_ns = arena_str(a, value_text(service, "namespace"));
    h->service_name = arena_str(a, value_text(service, "name"));
    if (!value_to_int(value_get(service, STR("port")), &h->service_port))
        h->service_port = 443;
    struct str url = arena_printf(a, "https://" STR_FMT "." STR_FMT ".svc:%lld/" STR_FMT,
                                  STR_ARG(h->service_name), STR_ARG(h->service_ns),
                                  (long long)h->service_port, STR_ARG(path));
    h->url = clean_url(a, url);
}

static struct hook *make(const struct value *client_config, struct str config,
                         const atomic_bool *cancel)
{
    struct hook *h = mem_new(struct hook);
    const struct value *service = value_get(client_config, STR("service"));
    arena_init(&h->arena);
    h->config = arena_str(&h->arena, config);
    h->cancel = cancel;
    if (value_is(service, VALUE_OBJECT))
        read_service(h, service);
    else
        h->url = clean_url(&h->arena, value_text(client_config, "url"));
    struct str ca = read_ca(&h->arena, value_get(client_config, STR("caBundle")));
    h->fault = check_ca(&h->arena, ca);
    h->fetcher = fetcher_new(&(struct fetcher_options){
        .ca_pem = ca,
        .max_idle = HOOK_CALLS_MAX,
        .cancel = cancel,
    });
    return h;
}

/* All that somebody has, of all servers in the process; there are few. */
static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hook *hooks;

struct hook *hook_for(const struct value *client_config, const atomic_bool *cancel)
{
    autobuf config = { 0 };
    json_write(&config, client_config);
    pthread_mutex_lock(&hooks_lock);
    struct hook *h = hooks;
    while (h && (h->cancel != cancel || !str_eq(h->config, buf_str(&config))))
        h = h->next;
    if (!h) {
        h = make(client_config, buf_str(&config), cancel);
        h->next = hooks;
        hooks = h;
    }
    h->refs++;
    pthread_mutex_unlock(&hooks_lock);
    return h;
}

/* Whether that was the last one; it is then no more among them. */
static bool let_go(struct hook *h)
{
    pthread_mutex_lock(&hooks_lock);
    bool is_last = --h->refs == 0;
    struct hook **at = &hooks;
    while (is_last && *at != h)
        at = &(*at)->next;
    if (is_last)
        *at = h->next;
    pthread_mutex_unlock(&hooks_lock);
    return is_last;
}

struct hook *hook_unref(struct hook *h)
{
    if (!h || !let_go(h))
        return NULL;
    fetcher_free(h->fetcher);
    arena_done(&h->arena);
    free(h);
    return NULL;
}

/* ---- What went wrong, in Go's words ---- */

/* What stands behind `part`. */
static struct str after(struct str text, const char *part)
{
    const char *at = text.n ? memmem(text.p, text.n, part, strlen(part)) : NULL;
    return at ? str_skip(text, (size_t)(at - text.p) + strlen(part)) : STR("");
}

static struct str host_of(struct str address)
{
    if (str_starts(address, STR("["))) {
        address = str_skip(address, 1);
        return str_cut(&address, ']');
    }
    return str_cut(&address, ':');
}

static bool is_ip(struct str host)
{
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] != '.' && host.p[i] != ':' && !(host.p[i] >= '0' && host.p[i] <= '9'))
            return str_find(host, ':') >= 0;
    return host.n > 0;
}

/* The names of a certificate, "DNS:a, IP Address:1.2.3.4", of the kind that was asked for. */
static struct str wrong_name(struct arena *a, struct str host, struct str names)
{
    autobuf found = { 0 };
    struct str prefix = is_ip(host) ? STR("IP Address:") : STR("DNS:");
    while (names.n) {
        struct str name = str_trim(str_cut(&names, ','));
        if (str_starts(name, prefix))
            buf_printf(&found, "%s" STR_FMT, found.n ? ", " : "",
                       STR_ARG(str_skip(name, prefix.n)));
    }
    if (!found.n && is_ip(host))
        return arena_printf(a,
                            "tls: failed to verify certificate: x509: cannot validate certificate "
                            "for " STR_FMT " because it doesn't contain any IP SANs",
                            STR_ARG(host));
    if (!found.n)
        return arena_printf(a,
                            "tls: failed to verify certificate: x509: certificate is not valid for "
                            "any names, but wanted to match " STR_FMT,
                            STR_ARG(host));
    return arena_printf(a,
                        "tls: failed to verify certificate: x509: certificate is valid for " STR_FMT
                        ", not " STR_FMT,
                        STR_ARG(buf_str(&found)), STR_ARG(host));
}

struct str hook_failure(struct arena *a, struct str to, struct str host, bool is_client_timeout,
                        const struct err *why)
{
    struct str names = after(why->msg, FETCH_NAMES);
    if (why->code == ERR_TIMEOUT)
        return is_client_timeout ? STR("context deadline exceeded (Client.Timeout exceeded while "
                                       "awaiting headers)")
                                 : STR("context deadline exceeded");
    if (contains(why->msg, "connect to"))
        return arena_printf(a, "dial tcp " STR_FMT ": connect: connection refused", STR_ARG(to));
    if (contains(why->msg, "resolve host"))
        return arena_printf(a, "dial tcp: lookup " STR_FMT ": no such host", STR_ARG(host_of(to)));
    if (names.n)
        return wrong_name(a, host, names);
    if (contains(why->msg, "issuer certificate") || contains(why->msg, "self-signed") ||
        contains(why->msg, "self signed"))
        return STR("tls: failed to verify certificate: x509: certificate signed by unknown "
                   "authority");
    if (contains(why->msg, "certificate has expired"))
        return STR("tls: failed to verify certificate: x509: certificate has expired or is not "
                   "yet valid");
    if (contains(why->msg, "Empty reply"))
        return STR("EOF");
    if (contains(why->msg, "aborted"))
        return STR("context canceled");
    return why->msg;
}

/* HOST:PORT of a URL. */
static struct str address_of(struct arena *a, struct str url)
{
    struct str rest = str_skip(url, STR("https://").n), host = str_cut(&rest, '/');
    bool has_port = str_find(host, ']') < 0 ? str_find(host, ':') >= 0 : !str_ends(host, STR("]"));
    return has_port ? host : arena_printf(a, STR_FMT ":443", STR_ARG(host));
}

static int post_failed(struct arena *a, struct str url, enum err_code code, struct str words,
                       struct err *err)
{
    struct str text = arena_str(a, words); /* it may be err's own */
    return err_set(err, code == ERR_TIMEOUT ? ERR_TIMEOUT : ERR_UNKNOWN,
                   "Post \"" STR_FMT "\": " STR_FMT, STR_ARG(url), STR_ARG(text));
}

/* ---- Answers other than 200 ---- */

static struct str reply_header(const struct fetch_reply *reply, struct str name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (str_eq(reply->headers[i].name, name))
            return reply->headers[i].value;
    return STR("");
}

static const char *status_words(int status)
{
    static const struct {
        int status;
        const char *words;
    } known[] = {
        { 400, "the server rejected our request for an unknown reason" },
        { 401, "the server has asked for the client to provide credentials" },
        { 404, "the server could not find the requested resource" },
        { 405, "the server does not allow this method on the requested resource" },
        { 409, "the server reported a conflict" },
        { 422, "the server rejected our request due to an error in our request" },
        { 429, "the server has received too many requests and has asked us to try again later" },
        { 503, "the server is currently unable to handle the request" },
        { 504, "the server was unable to return a response in the time allotted, but may still be "
               "processing the request" },
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].status == status)
            return known[i].words;
    return NULL;
}

/* A Status that says no says why. */
static bool is_failure(struct arena *a, struct str body, struct str *ret)
{
    struct value status;
    if (json_read(a, body, NULL, &status, NULL) < 0 ||
        !str_eq(value_text(&status, "kind"), STR("Status")) ||
        str_eq(value_text(&status, "status"), STR("Success")))
        return false;
    *ret = value_text(&status, "message");
    return true;
}

static struct str told(struct arena *a, const struct fetch_reply *reply)
{
    enum { TOLD_MAX = 2048 };
    bool is_text = str_starts(reply_header(reply, STR("content-type")), STR("text/"));
    return is_text ? arena_str(a, str_trim(str_take(reply->body, TOLD_MAX))) : STR("unknown");
}

static int reply_failed(struct arena *a, const struct fetch_reply *reply, struct err *err)
{
    struct str message;
    const char *words = status_words(reply->status);
    if (is_failure(a, reply->body, &message))
        return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(message));
    if (words)
        return err_set(err, ERR_UNKNOWN, "%s", words);
    message = told(a, reply);
    if (reply->status == 406 && (!message.n || str_eq(message, STR("unknown"))))
        return err_set(err, ERR_UNKNOWN,
                       "the server was unable to respond with a content type that the client "
                       "supports");
    if (reply->status == 403 || reply->status == 406 || reply->status == 415)
        return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(message));
    if (reply->status < 500)
        return err_set(err, ERR_UNKNOWN,
                       "the server responded with the status code %d but did not return more "
                       "information",
                       reply->status);
    autobuf quoted = { 0 };
    quote_go(&quoted, message);
    return err_set(err, ERR_UNKNOWN,
                   "an error on the server (" STR_FMT ") has prevented the request from succeeding",
                   STR_ARG(buf_str(&quoted)));
}

static int check_reply(struct arena *a, const struct fetch_reply *reply, struct err *err)
{
    struct str type = reply_header(reply, STR("content-type"));
    if (reply->status < 200 || reply->status > 206)
        return reply_failed(a, reply, err);
    if (!reply->body.n)
        return err_set(err, ERR_UNKNOWN,
                       "0-length response with status code: %d and content type: " STR_FMT,
                       reply->status, STR_ARG(type.n ? type : STR("application/json")));
    return 0;
}

/* ---- The call ---- */

static struct str url_of(const struct hook *h, struct arena *a, const struct hook_request *req)
{
    return arena_printf(a, STR_FMT "?timeout=%llds", STR_ARG(h->url),
                        (long long)((req->timeout_ms + 999) / 1000));
}

int hook_locate(struct hook *h, struct arena *a, const struct hook_services *services,
                const struct hook_request *req, struct str *ret, struct err *err)
{
    struct err why = ERR_INIT(a);
    *ret = STR("");
    if (!h->service_name.n)
        return 0;
    int r =
        hook_find_service(a, services, h->service_ns, h->service_name, h->service_port, ret, &why);
    return r < 0 ? post_failed(a, url_of(h, a, req), ERR_UNKNOWN, why.msg, err) : 0;
}

static int64_t now_ms(void)
{
    return clock_mono_ns(&clock_system) / NS_PER_MS;
}

static bool is_canceled(const struct hook *h)
{
    return h->cancel && atomic_load(h->cancel);
}

/* Whether the webhook wants to be asked again, and when: 429 or 5xx with whole seconds. */
static bool asks_again(const struct fetch_reply *reply, int64_t *ret_ms)
{
    int64_t seconds;
    if ((reply->status != 429 && reply->status < 500) ||
        !str_to_i64(reply_header(reply, STR("retry-after")), &seconds))
        return false;
    seconds = seconds < 0 ? 0 : seconds;
    *ret_ms = seconds < INT64_MAX / 1000 ? seconds * 1000 : INT64_MAX;
    return true;
}

/* ERR_TIMEOUT: there is no time for it. Who is not wanted any more learns it from the next call. */
static int pause_call(const struct hook *h, struct arena *a, int64_t ms, int64_t end_ms,
                      struct err *err)
{
    const struct timespec a_while = { .tv_nsec = LOOK_MS * NS_PER_MS };
    int64_t now = now_ms();
    if (ms >= end_ms - now)
        return err_set(err, ERR_TIMEOUT, "the webhook wants to be asked again too late");
    for (int64_t until = now + ms; now_ms() < until && !is_canceled(h) && !arena_spent(a);)
        (void)nanosleep(&a_while, NULL);
    return 0;
}

/* All tries together have the time of one. */
static int fetch_patiently(struct hook *h, struct arena *a, struct fetch_request req,
                           struct fetch_reply *ret, struct err *err)
{
    int64_t end_ms = now_ms() + req.timeout_ms, pause_ms;
    for (int n = 0;; n++) {
        int r = fetch(h->fetcher, &req, a, ret, err);
        if (r < 0 || n == RETRIES_MAX || !asks_again(ret, &pause_ms))
            return r;
        r = pause_call(h, a, pause_ms, end_ms, err);
        if (r < 0)
            return r;
        req.timeout_ms = end_ms - now_ms();
        if (req.timeout_ms <= 0)
            return err_set(err, ERR_TIMEOUT, "no time is left to ask the webhook again");
    }
}

static int post(struct hook *h, struct arena *a, struct str to, const struct hook_request *req,
                struct str *ret, struct err *err)
{
    static const struct http_header headers[] = {
        { STR("content-type"), STR("application/json") },
        { STR("accept"), STR("application/json, */*") },
        { STR("user-agent"), STR("kube-apiserver/sampan") },
    };
    struct err why = ERR_INIT(a);
    struct str own = address_of(a, h->url);
    struct fetch_reply reply;
    const struct fetch_request fetched = {
        .method = STR("POST"),
        .url = url_of(h, a, req),
        .connect_to = to,
        .headers = headers,
        .n_headers = ARRAY_LEN(headers),
        .body = req->body,
        .timeout_ms = req->timeout_ms + (req->is_last_moment ? LATER_MS : 0),
        .max_reply = req->max_reply,
        .takes_gzip = true,
        .tells_names = true,
    };
    int r = fetch_patiently(h, a, fetched, &reply, &why);
    if (r < 0 && arena_spent(a))
        return allowance_error(a->allowance, err);
    if (r < 0 && is_canceled(h))
        return err_set(err, ERR_UNAVAILABLE, "the server is stopping");
    if (r < 0)
        return post_failed(
            a, fetched.url, why.code,
            hook_failure(a, to.n ? to : own, host_of(own), req->is_client_timeout, &why), err);
    r = check_reply(a, &reply, err);
    if (r == 0)
        *ret = reply.body;
    return r;
}

int hook_post(struct hook *h, struct arena *a, struct str to, const struct hook_request *req,
              struct str *ret, struct err *err)
{
    int r;
    if (atomic_fetch_add(&h->n_calls, 1) < HOOK_CALLS_MAX)
        r = post(h, a, to, req, ret, err);
    else
        r = err_set(err, ERR_TOO_MANY_REQUESTS,
                    "too many calls of the webhook " STR_FMT
                    " are under way, please try again later",
                    STR_ARG(h->url));
    atomic_fetch_sub(&h->n_calls, 1);
    return r;
}
