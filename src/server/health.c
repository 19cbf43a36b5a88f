#include "server/health.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "net/workers.h"
#include "server/http/reply.h"
#include "base/banned.h"

#define STUCK_NS (5 * NS_PER_SEC)

static bool check_ping(const struct health *h)
{
    (void)h;
    return true;
}

static bool check_store(const struct health *h)
{
    struct store_stats stats;
    store_stats(h->store, &stats);
    return stats.failing == 0;
}

static bool check_damage(const struct health *h)
{
    struct store_stats stats;
    store_stats(h->store, &stats);
    return stats.damaged == 0;
}

/* Writes wait, and have done so for a while. */
static bool check_workers(const struct health *h)
{
    return !workers_stuck(h->workers, STUCK_NS);
}

static bool check_space(const struct health *h)
{
    struct store_stats stats;
    store_stats(h->store, &stats);
    return !stats.is_tight;
}

static bool check_shutdown(const struct health *h)
{
    return __atomic_load_n(h->ready, __ATOMIC_ACQUIRE);
}

static bool check_kms(const struct health *h)
{
    return secrecy_is_well(h->secrecy);
}

static bool has_kms(const struct health *h)
{
    return secrecy_is_checked(h->secrecy);
}

/* The names are those of kube-apiserver where the meaning is the same. */
static const struct check {
    struct str name;
    bool (*passes)(const struct health *h);
    bool only_ready; /* not asked by /livez: being busy is no reason to be killed */
    /* Fails only under its own path: other objects can still be served and a full disk emptied,
     * which needs a server that gets requests. */
    bool is_only_told;
    bool (*is_there)(const struct health *h); /* NULL: always */
} checks[] = {
    { { "ping", 4 }, check_ping, false, false, NULL },
    { { "etcd", 4 }, check_store, false, false, NULL },
    { { "damaged-objects", 15 }, check_damage, true, true, NULL },
    { { "disk-space", 10 }, check_space, true, true, NULL },
    { { "kms-providers", 13 }, check_kms, false, false, has_kms },
    { { "shutdown", 8 }, check_shutdown, true, false, NULL },
    { { "workers", 7 }, check_workers, true, false, NULL },
};
enum { N_CHECKS = ARRAY_LEN(checks) };

static bool asked(const struct health *h, const struct check *c)
{
    return (!c->is_there || c->is_there(h)) &&
           (!c->only_ready || strcmp(h->endpoint, "readyz") == 0);
}

static bool query_has(struct str query, struct str name, struct str value)
{
    while (query.n) {
        struct str pair = str_cut(&query, '&');
        struct str key = str_cut(&pair, '=');
        if (str_eq(key, name) && (value.n == 0 || str_eq(pair, value)))
            return true;
    }
    return false;
}

static void serve_one(const struct health *h, struct http_exchange *x, struct str name)
{
    for (size_t i = 0; i < N_CHECKS; i++) {
        if (!asked(h, &checks[i]) || !str_eq(checks[i].name, name))
            continue;
        if (checks[i].passes(h))
            reply_text(x, 200, STR("ok"));
        else
            reply_text(x, 500, STR("internal server error: check failed\n"));
        return;
    }
    reply_text(x, 404, STR("404 page not found\n"));
}

static void serve_all(const struct health *h, struct http_exchange *x)
{
    struct str query = http_request_of(x)->query;
    autobuf lines = { 0 };
    bool good = true;
    for (size_t i = 0; i < N_CHECKS; i++) {
        if (!asked(h, &checks[i]))
            continue;
        struct str name = checks[i].name;
        if (query_has(query, STR("exclude"), name)) {
            buf_printf(&lines, "[+]" STR_FMT " excluded: ok\n", STR_ARG(name));
        } else if (checks[i].passes(h)) {
            buf_printf(&lines, "[+]" STR_FMT " ok\n", STR_ARG(name));
        } else {
            buf_printf(&lines, "[-]" STR_FMT " failed: reason withheld%s\n", STR_ARG(name),
                       checks[i].is_only_told ? " (does not count)" : "");
            good &= checks[i].is_only_told;
        }
    }
    buf_printf(&lines, "%s check %s\n", h->endpoint, good ? "passed" : "failed");

    bool verbose = !good || query_has(query, STR("verbose"), STR(""));
    reply_text(x, good ? 200 : 500,
               verbose ? arena_str(http_arena(x), buf_str(&lines)) : STR("ok"));
}

void health_serve(const struct health *h, struct http_exchange *x, struct str rest)
{
    if (rest.n == 0 || str_eq(rest, STR("/")))
        serve_all(h, x);
    else
        serve_one(h, x, str_skip(rest, 1));
}
