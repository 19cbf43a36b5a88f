#include "server/metrics.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/kind.h"
#include "base/file.h"
#include "server/audit/audit.h"
#include "server/flow/flow.h"
#include "server/guard/authorization.h"
#include "server/http/reply.h"
#include "server/object/stored.h"
#include "server/guard/openid_users.h"
#include "server/secrecy/secrecy.h"
#include "server/http/tally.h"
#include "base/banned.h"

static void add(struct buf *out, const char *type, const char *name, const char *help,
                double number)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name, number);
}

static void counter(struct buf *out, const char *name, const char *help, uint64_t number)
{
    add(out, "counter", name, help, (double)number);
}

static void gauge(struct buf *out, const char *name, const char *help, uint64_t number)
{
    add(out, "gauge", name, help, (double)number);
}

static uint64_t resident_bytes(void)
{
    autobuf text = { 0 };
    if (file_read("/proc/self/statm", 4096, &text, NULL) < 0)
        return 0;
    struct str rest = buf_str(&text);
    uint64_t pages = 0;
    (void)str_cut(&rest, ' ');
    (void)str_to_u64(str_cut(&rest, ' '), &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void process_metrics(struct buf *out)
{
    struct rusage use;
    (void)getrusage(RUSAGE_SELF, &use);
    double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                 (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
    add(out, "counter", "process_cpu_seconds_total", "User and system CPU time in seconds.", cpu);
    gauge(out, "process_resident_memory_bytes", "Resident memory in bytes.", resident_bytes());
}

static void http_metrics(struct buf *out, const struct http_stats *s)
{
    gauge(out, "sampan_http_connections", "Open connections.", s->connections_open);
    counter(out, "sampan_http_connections_total", "Connections taken.", s->connections_total);
    counter(out, "sampan_http_connections_refused_total", "Connections over the limit.",
            s->connections_refused);
    gauge(out, "sampan_http_handshakes", "Connections that have not finished TLS.",
          s->handshakes_open);
    counter(out, "sampan_http_handshakes_failed_total", "TLS handshakes that failed.",
            s->handshakes_failed);
    gauge(out, "sampan_http_exchanges", "Requests that are being answered.", s->exchanges_open);
    counter(out, "sampan_http_exchanges_total", "Requests taken.", s->exchanges_total);
    counter(out, "sampan_http_received_bytes_total", "Bytes received.", s->bytes_in);
    counter(out, "sampan_http_sent_bytes_total", "Bytes sent.", s->bytes_out);
    counter(out, "sampan_http_abuse_total", "Connections closed because they passed a limit.",
            s->closed_for_abuse);
}

static void store_metrics(struct buf *out, const struct store_stats *s)
{
    gauge(out, "sampan_store_revision", "Newest durable revision.", s->rev);
    gauge(out, "sampan_store_floor", "Oldest revision that can be read.", s->floor);
    gauge(out, "sampan_store_keys", "Live keys.", s->keys);
    counter(out, "sampan_store_commits_total", "Transactions committed.", s->commits);
    counter(out, "sampan_store_groups_total", "Groups they were made durable in.", s->groups);
    counter(out, "sampan_store_checkpoints_total", "Checkpoints of the view.", s->checkpoints);
    gauge(out, "sampan_store_log_bytes", "Size of the log on disk.", s->log_bytes);
    gauge(out, "sampan_store_view_bytes", "Size of the view on disk.", s->view_bytes);
    gauge(out, "sampan_store_memory_bytes", "Changes in memory that the view does not have yet.",
          s->memory_bytes);
    gauge(out, "sampan_store_damaged_objects", "Objects that were found damaged.", s->damaged);
    gauge(out, "sampan_store_tight", "1 while the disk is nearly full and only deletes are taken.",
          s->is_tight);
    gauge(out, "sampan_store_failing", "1 while writes cannot be made durable.", s->failing != 0);
}

/* How many there are of each resource, counted now. Keys only. */
static void object_metrics(struct buf *out, struct store *store)
{
    struct store_snap *snap;
    if (store_snap_begin(store, 0, &snap, NULL) < 0)
        return;
    struct arena a;
    arena_init(&a);
    buf_str_add(out, STR("# HELP apiserver_storage_objects Stored objects, by resource.\n"
                         "# TYPE apiserver_storage_objects gauge\n"));
    for (size_t v = 0; v < n_kind_versions; v++) {
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            uint64_t n;
            if (!r->etcd_prefix.n || kind_stored(r) != r ||
                store_count(snap, stored_key(&a, r, STR(""), STR("")), STR(""), &n, NULL) < 0)
                continue;
            buf_printf(out,
                       "apiserver_storage_objects{resource=\"" STR_FMT "%s" STR_FMT "\"} %llu\n",
                       STR_ARG(r->plural), r->group.n ? "." : "", STR_ARG(r->group),
                       (unsigned long long)n);
        }
    }
    arena_done(&a);
    store_snap_end(snap);
}

struct scrape {
    struct api *api;
    const struct http_server *http;
};

static void scrape(struct http_exchange *x, void *arg)
{
    const struct scrape *s = arg;
    struct http_stats http;
    struct store_stats store;
    http_server_stats(s->http, &http);
    store_stats(s->api->store, &store);
    autobuf text = { 0 };
    process_metrics(&text);
    http_metrics(&text, &http);
    store_metrics(&text, &store);
    tally_write(&text, s->api->tally);
    audit_write_metrics(&text, s->api->audit);
    if (s->api->flow)
        flow_write_metrics(s->api->flow, &text);
    object_metrics(&text, s->api->store);
    secrecy_metrics(s->api->secrecy, &text);
    openid_users_metrics(s->api->openid_users, &text);
    guard_write_metrics(s->api->guard, &text);
    authorization_write_metrics(s->api->authorization, &text);

    const struct http_header headers[] = {
        { STR("content-type"), STR("text/plain; version=0.0.4; charset=utf-8") },
        { STR("x-content-type-options"), STR("nosniff") },
    };
    reply_bytes(x, 200, headers, 2, arena_str(http_arena(x), buf_str(&text)));
}

void metrics_serve(struct api *api, const struct http_server *http, struct http_exchange *x)
{
    struct scrape *s = arena_new(http_arena(x), struct scrape);
    *s = (struct scrape){ .api = api, .http = http };
    (void)http_to_worker(x, api->read_workers, scrape, s);
}
