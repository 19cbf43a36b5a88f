/* audit.h - who did what and when: a server's audit policy, and where its events go.
 *
 * A request that the policy wants gets an event for each of its stages (audit_event.h). An event is
 * made as one line of JSON and handed to every back end: a log file (audit_log.h), a webhook
 * (audit_webhook.h), or both. Nobody who serves requests waits for a back end: each has a thread of
 * its own behind a bounded queue (audit_queue.h). What finds it full is dropped, counted and logged
 * from time to time. */
#pragma once

#include "auth/audit_policy.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"

struct audit;
struct workers;

enum audit_mode {
    AUDIT_BATCH,           /* events are written later, several at once */
    AUDIT_BLOCKING,        /* they are written at once */
    AUDIT_BLOCKING_STRICT, /* the same; while events are lost, requests are refused */
};

/* A back end's queue. */
struct audit_batching {
    size_t buffer; /* events that may wait */
    size_t most;   /* of one delivery */
    int64_t wait_ns;
    bool throttles; /* no more deliveries than these */
    double per_second;
    size_t burst;
};

/* What is too large for a back end is shortened; in bytes. */
struct audit_truncation {
    bool is_on;
    size_t most_of_event, most_of_batch;
};

struct audit_options {
    const char *policy_file; /* NULL: nothing is audited */
    const char *log_path;    /* "-": standard output; NULL: no log */
    enum audit_mode log_mode;
    bool log_is_legacy;                                 /* a line of words instead of JSON */
    uint64_t log_max_mb, log_max_backups, log_max_days; /* 0: no limit */
    struct audit_batching log_batching;
    struct audit_truncation log_truncation;
    const char *webhook_config; /* a kubeconfig; NULL: no webhook */
    enum audit_mode webhook_mode;
    struct audit_batching webhook_batching;
    struct audit_truncation webhook_truncation;
    int64_t webhook_backoff_ns; /* before the first retry */
};

/* Upstream's defaults. */
struct audit_options audit_options_default(void);

/* NULL in `*ret` where nothing would be recorded: without a policy or without a back end. */
int audit_new(const struct audit_options *opt, const struct clock *clock, struct audit **ret,
              struct err *err);
/* Nobody records any more. Waits for what is queued, but not long. */
struct audit *audit_free(struct audit *au);

const struct audit_policy *audit_policy_of(const struct audit *au);
const struct clock *audit_clock(const struct audit *au);
bool audit_is_legacy(const struct audit *au);

/* Counts one request of that level. Any thread. */
void audit_count_level(struct audit *au, enum audit_level level);
/* Hands one event to all back ends: JSON, and the line of words where the log wants that (else
 * empty). False if one that is strict did not take it. Any thread. */
bool audit_record(struct audit *au, struct str event, struct str words);
/* A request was refused because of that. */
void audit_count_rejected(struct audit *au);

/* For audit_late.h: its thread, and the bytes that wait for it. False if they are too many. */
struct workers *audit_workers(const struct audit *au);
bool audit_late_begin(struct audit *au, size_t bytes);
void audit_late_done(struct audit *au, size_t bytes);

/* As Prometheus text, under upstream's names; `au` may be NULL. Any thread. */
void audit_write_metrics(struct buf *out, struct audit *au);
