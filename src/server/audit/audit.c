#include "server/audit/audit.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/workers.h"
#include "server/audit/audit_log.h"
#include "server/audit/audit_queue.h"
#include "server/audit/audit_truncate.h"
#include "server/audit/audit_webhook.h"
#include "base/banned.h"

enum {
    POLICY_MAX = 1 << 20,
    SAY_AGAIN_SEC = 10,
    BYTES_PER_MB = 1 << 20,
    LATE_MAX = 1000,
    AT_ONCE = 64
};

/* Who has lost events, as upstream names it. */
enum plugin { PLUGIN_BUFFERED, PLUGIN_LOG, PLUGIN_TRUNCATE, PLUGIN_WEBHOOK, PLUGINS };
static const char *const plugin_names[] = { "buffered", "log", "truncate", "webhook" };

struct audit {
    struct audit_policy *policy;
    const struct clock *clock;
    struct audit_log *log;
    bool log_is_legacy, log_is_strict, webhook_is_strict;
    atomic_bool log_fails; /* what was last written was lost */
    struct audit_truncation log_truncation, webhook_truncation;
    struct audit_queue *log_queue;
    struct audit_webhook *webhook;
    struct audit_queue *webhook_queue;
    struct workers *workers; /* one thread, for large answers */
    _Atomic size_t late_bytes;
    atomic_bool cancel;
    _Atomic uint64_t events, rejected, levels[AUDIT_LEVELS], lost[PLUGINS];
    _Atomic int64_t said_ns; /* when it was last said that something was lost */
};

struct audit_options audit_options_default(void)
{
    return (struct audit_options){
        .log_mode = AUDIT_BLOCKING,
        .log_max_mb = 100,
        .log_max_backups = 100,
        .log_max_days = 366,
        .log_batching = { .buffer = 10000, .most = 1, .per_second = 10, .burst = 15 },
        .log_truncation = { .most_of_event = 100 << 10, .most_of_batch = 10 << 20 },
        .webhook_mode = AUDIT_BATCH,
        .webhook_batching = { .buffer = 10000,
                              .most = 400,
                              .wait_ns = 30 * NS_PER_SEC,
                              .throttles = true,
                              .per_second = 10,
                              .burst = 15 },
        .webhook_truncation = { .most_of_event = 100 << 10, .most_of_batch = 10 << 20 },
        .webhook_backoff_ns = 10 * NS_PER_SEC,
    };
}

/* ---- What is lost ---- */

static void count_lost(struct audit *au, enum plugin plugin, size_t n, struct str why)
{
    uint64_t all = atomic_fetch_add(&au->lost[plugin], n) + n;
    int64_t now = clock_mono_ns(&clock_system), said = atomic_load(&au->said_ns);
    if (said && now - said < SAY_AGAIN_SEC * NS_PER_SEC)
        return;
    if (atomic_compare_exchange_strong(&au->said_ns, &said, now))
        log_warn("audit events were lost", LOG_CSTR("plugin", plugin_names[plugin]),
                 LOG_INT("in_all", all), LOG_STR("err", why));
}

/* ---- Back ends ---- */

typedef void send_fn(struct audit *au, struct arena *a, const struct str *events, size_t n);

static void send_log(struct audit *au, struct arena *a, const struct str *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct err err = ERR_INIT(a);
        bool fails = audit_log_write(au->log, events[i], &err) < 0;
        if (fails)
            count_lost(au, PLUGIN_LOG, 1, err.msg);
        atomic_store(&au->log_fails, fails);
    }
}

static void send_webhook(struct audit *au, struct arena *a, const struct str *events, size_t n)
{
    struct err err = ERR_INIT(a);
    if (audit_webhook_send(au->webhook, events, n, &err) < 0)
        count_lost(au, PLUGIN_WEBHOOK, n, err.msg);
}

/* In parts that are not too large, of events that are not. */
static void send_truncated(struct audit *au, struct arena *a, const struct audit_truncation *t,
                           send_fn *send, const struct str *events, size_t n)
{
    struct str *part = arena_array(a, struct str, n);
    size_t n_part = 0, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (!audit_truncate(a, events[i], t->most_of_event, &part[n_part])) {
            count_lost(au, PLUGIN_TRUNCATE, 1, STR("event is too large even after truncating"));
            continue;
        }
        struct str last = part[n_part];
        if (n_part && bytes + last.n > t->most_of_batch) {
            send(au, a, part, n_part);
            n_part = bytes = 0;
            part[0] = last;
        }
        bytes += last.n;
        n_part++;
    }
    if (n_part)
        send(au, a, part, n_part);
}

static void deliver_fitting(struct audit *au, const struct audit_truncation *t, send_fn *send,
                            const struct str *events, size_t n)
{
    struct arena a;
    arena_init(&a);
    if (t->is_on)
        send_truncated(au, &a, t, send, events, n);
    else
        send(au, &a, events, n);
    arena_done(&a);
}

static void deliver_log(void *arg, const struct str *events, size_t n)
{
    struct audit *au = arg;
    deliver_fitting(au, &au->log_truncation, send_log, events, n);
}

static void deliver_webhook(void *arg, const struct str *events, size_t n)
{
    struct audit *au = arg;
    deliver_fitting(au, &au->webhook_truncation, send_webhook, events, n);
}

static bool queue(struct audit *au, struct audit_queue *q, struct str event)
{
    if (audit_queue_add(q, event))
        return true;
    count_lost(au, PLUGIN_BUFFERED, 1, STR("audit buffer queue blocked"));
    return false;
}

static int start_queue(struct audit *au, const struct audit_batching *b, audit_deliver *deliver,
                       struct audit_queue **ret, struct err *err)
{
    *ret = audit_queue_new(
        &(struct audit_queue_options){ .buffer = b->buffer,
                                       .most = b->most,
                                       .wait_ns = b->wait_ns,
                                       .per_second = b->throttles ? b->per_second : 0,
                                       .burst = b->burst,
                                       .deliver = deliver,
                                       .arg = au });
    return *ret ? 0 : err_set(err, ERR_INTERNAL, "no thread for audit events");
}

static int start_log(struct audit *au, const struct audit_options *opt, struct err *err)
{
    const struct audit_log_options log = { .path = opt->log_path,
                                           .max_bytes = opt->log_max_mb * BYTES_PER_MB,
                                           .max_backups = opt->log_max_backups,
                                           .max_days = opt->log_max_days };
    if (!opt->log_path)
        return 0;
    int r = audit_log_new(&log, au->clock, &au->log, err);
    if (r < 0)
        return err_wrap(err, "audit log");
    au->log_is_legacy = opt->log_is_legacy;
    au->log_is_strict = opt->log_mode == AUDIT_BLOCKING_STRICT;
    au->log_truncation = opt->log_truncation;
    au->log_truncation.is_on &= !opt->log_is_legacy; /* words show no objects */
    const struct audit_batching at_once = { .buffer = opt->log_batching.buffer, .most = AT_ONCE };
    return start_queue(au, opt->log_mode == AUDIT_BATCH ? &opt->log_batching : &at_once,
                       deliver_log, &au->log_queue, err);
}

/* Even one that blocks has a queue, because a loop cannot wait for anybody: it then gets each event
 * at once and by itself. */
static int start_webhook(struct audit *au, const struct audit_options *opt, struct err *err)
{
    struct audit_batching batching = opt->webhook_batching;
    au->webhook_truncation = opt->webhook_truncation;
    if (!opt->webhook_config)
        return 0;
    int r = audit_webhook_new(opt->webhook_config, opt->webhook_backoff_ns, &au->cancel,
                              &au->webhook, err);
    if (r < 0)
        return err_wrap(err, "initializing audit webhook");
    au->webhook_is_strict = opt->webhook_mode == AUDIT_BLOCKING_STRICT;
    if (opt->webhook_mode != AUDIT_BATCH)
        batching = (struct audit_batching){ .buffer = batching.buffer, .most = 1 };
    return start_queue(au, &batching, deliver_webhook, &au->webhook_queue, err);
}

/* ---- Life ---- */

static int load_policy(const char *path, struct audit_policy **ret, struct err *err)
{
    autobuf text = { 0 };
    int r = file_read(path, POLICY_MAX, &text, err);
    if (r < 0)
        return err_wrap(err, "loading audit policy file: failed to read file path \"%s\"", path);
    r = audit_policy_read(buf_str(&text), ret, err);
    if (r < 0)
        return err_set(err, err->code, "loading audit policy file: " STR_FMT ": from file %s",
                       STR_ARG(err->msg), path);
    return 0;
}

static int start(struct audit *au, const struct audit_options *opt, struct err *err)
{
    int r = load_policy(opt->policy_file, &au->policy, err);
    if (r < 0)
        return r;
    r = start_log(au, opt, err);
    return r < 0 ? r : start_webhook(au, opt, err);
}

int audit_new(const struct audit_options *opt, const struct clock *clock, struct audit **ret,
              struct err *err)
{
    *ret = NULL;
    if (!opt->policy_file) {
        if (opt->log_path || opt->webhook_config)
            log_warn("without --audit-policy-file nothing is audited");
        return 0;
    }
    struct audit *au = mem_new(struct audit);
    au->clock = clock;
    au->workers = workers_new(1, LATE_MAX);
    int r = start(au, opt, err);
    if (r < 0 || (!au->log && !au->webhook)) {
        audit_free(au);
        return r;
    }
    *ret = au;
    return 0;
}

struct audit *audit_free(struct audit *au)
{
    if (!au)
        return NULL;
    int64_t until = clock_mono_ns(&clock_system) + LIMIT_AUDIT_STOP_MS * NS_PER_MS;
    atomic_bool ignored = false;
    workers_free(au->workers);
    audit_queue_free(au->log_queue, until, &ignored);
    audit_queue_free(au->webhook_queue, until, &au->cancel);
    audit_log_free(au->log);
    audit_webhook_free(au->webhook);
    audit_policy_free(au->policy);
    free(au);
    return NULL;
}

const struct audit_policy *audit_policy_of(const struct audit *au)
{
    return au->policy;
}

const struct clock *audit_clock(const struct audit *au)
{
    return au->clock;
}

bool audit_is_legacy(const struct audit *au)
{
    return au->log_is_legacy;
}

struct workers *audit_workers(const struct audit *au)
{
    return au->workers;
}

bool audit_late_begin(struct audit *au, size_t bytes)
{
    if (atomic_fetch_add(&au->late_bytes, bytes) + bytes <= LIMIT_AUDIT_QUEUE_BYTES)
        return true;
    audit_late_done(au, bytes);
    return false;
}

void audit_late_done(struct audit *au, size_t bytes)
{
    atomic_fetch_sub(&au->late_bytes, bytes);
}

/* ---- Recording ---- */

/* One that is strict still gets the event while it loses them, to see whether it is well again. */
static bool record_log(struct audit *au, struct str line)
{
    if (!au->log)
        return true;
    bool good = queue(au, au->log_queue, line) && !atomic_load(&au->log_fails);
    return good || !au->log_is_strict;
}

static bool record_webhook(struct audit *au, struct str event)
{
    return !au->webhook || queue(au, au->webhook_queue, event) || !au->webhook_is_strict;
}

bool audit_record(struct audit *au, struct str event, struct str words)
{
    atomic_fetch_add(&au->events, 1);
    bool logged = record_log(au, words.n ? words : event);
    return record_webhook(au, event) && logged;
}

void audit_count_level(struct audit *au, enum audit_level level)
{
    atomic_fetch_add(&au->levels[level], 1);
}

void audit_count_rejected(struct audit *au)
{
    atomic_fetch_add(&au->rejected, 1);
}

/* ---- Numbers ---- */

static unsigned long long now_at(_Atomic uint64_t *n)
{
    return n ? (unsigned long long)atomic_load(n) : 0;
}

static void head(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP apiserver_audit_%s %s\n# TYPE apiserver_audit_%s counter\n", name, help,
               name);
}

void audit_write_metrics(struct buf *out, struct audit *au)
{
    head(out, "event_total", "Audit events that were made.");
    buf_printf(out, "apiserver_audit_event_total %llu\n", now_at(au ? &au->events : NULL));
    head(out, "error_total", "Audit events that were lost, by who lost them.");
    for (size_t i = 0; au && i < PLUGINS; i++)
        buf_printf(out, "apiserver_audit_error_total{plugin=\"%s\"} %llu\n", plugin_names[i],
                   now_at(&au->lost[i]));
    head(out, "level_total", "Requests by the level that the audit policy gave them.");
    for (size_t i = 0; au && i < AUDIT_LEVELS; i++)
        buf_printf(out, "apiserver_audit_level_total{level=\"" STR_FMT "\"} %llu\n",
                   STR_ARG(audit_level_word((enum audit_level)i)), now_at(&au->levels[i]));
    head(out, "requests_rejected_total", "Requests refused because they could not be audited.");
    buf_printf(out, "apiserver_audit_requests_rejected_total %llu\n",
               now_at(au ? &au->rejected : NULL));
}
