#include "main/up_audit.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/go/goduration.h"
#include "api/words.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/banned.h"

const char up_audit_usage[] =
    "  --audit-policy-file FILE\n"
    "                      which requests are audited: an audit.k8s.io/v1 Policy\n"
    "  --audit-log-path FILE\n"
    "                      where audit events are written; - is standard output\n"
    "  --audit-log-format json|legacy\n"
    "  --audit-log-maxsize MB, --audit-log-maxbackup N, --audit-log-maxage DAYS\n"
    "                      when the log is put aside, and how many and how long such files are\n"
    "                      kept (default 100, 100 and 366; 0: no limit)\n"
    "  --audit-log-mode MODE, --audit-webhook-mode MODE\n"
    "                      blocking (the default of the log), batch (that of the webhook), or\n"
    "                      blocking-strict: while events are lost, requests are refused\n"
    "  --audit-webhook-config-file FILE\n"
    "                      a kubeconfig that says to whom audit events are sent\n"
    "  --audit-webhook-initial-backoff TIME\n"
    "                      until what failed is sent again (default 10s)\n"
    "  --audit-webhook-batch-buffer-size N, --audit-webhook-batch-max-size N,\n"
    "  --audit-webhook-batch-max-wait TIME\n"
    "                      how many events may wait (default 10000), are sent at once (400), and\n"
    "                      how long they wait for each other (30s); also --audit-log-batch-...\n"
    "  --audit-webhook-batch-throttle-enable BOOL, --audit-webhook-batch-throttle-qps N,\n"
    "  --audit-webhook-batch-throttle-burst N\n"
    "                      how many deliveries a second (default true, 10), and how many at once\n"
    "                      after a pause (15); also --audit-log-batch-... (default false)\n"
    "  --audit-webhook-truncate-enabled BOOL, --audit-webhook-truncate-max-event-size BYTES,\n"
    "  --audit-webhook-truncate-max-batch-size BYTES\n"
    "                      whether larger events lose their objects (default false, 102400), and\n"
    "                      how much is sent at once (10485760); also --audit-log-truncate-...\n";

static bool take_mode(const char *back_end, const char *given, enum audit_mode *ret)
{
    static const struct str modes[] = { [AUDIT_BATCH] = STR("batch"),
                                        [AUDIT_BLOCKING] = STR("blocking"),
                                        [AUDIT_BLOCKING_STRICT] = STR("blocking-strict") };
    size_t i = words_find(str_of(given), WORDS(modes));
    if (i < ARRAY_LEN(modes)) {
        *ret = (enum audit_mode)i;
        return true;
    }
    fprintf(stderr,
            "sampan up: invalid audit %s mode %s, allowed modes are "
            "\"batch,blocking,blocking-strict\"\n",
            back_end, given);
    return false;
}

static bool take_format(const char *given, bool *ret_legacy)
{
    *ret_legacy = strcmp(given, "legacy") == 0;
    if (*ret_legacy || strcmp(given, "json") == 0)
        return true;
    fprintf(stderr, "sampan up: invalid audit log format %s, allowed formats are \"legacy,json\"\n",
            given);
    return false;
}

static bool take_number(const char *flag, const char *given, uint64_t least, uint64_t *ret)
{
    enum { MOST = 1000000 };
    if (str_to_u64(str_of(given), ret) && *ret >= least && *ret <= MOST)
        return true;
    fprintf(stderr, "sampan up: --audit-%s must be a number from %llu to %d, not '%s'\n", flag,
            (unsigned long long)least, MOST, given);
    return false;
}

static bool take_count(const char *flag, const char *given, size_t *ret)
{
    uint64_t n;
    if (!take_number(flag, given, 1, &n))
        return false;
    *ret = n;
    return true;
}

static bool take_time(const char *flag, const char *given, int64_t *ret_ns)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    bool good = goduration_parse(str_of(given), ret_ns, &err) == 0 && *ret_ns >= 0;
    arena_done(&a);
    if (!good)
        fprintf(stderr, "sampan up: --audit-%s must be a time like 10s, not '%s'\n", flag, given);
    return good;
}

/* As Go's flags: without a value it is true. */
static bool take_switch(const char *flag, const char *given, bool *ret)
{
    static const struct str words[] = { STR("false"), STR("0"), STR("true"), STR("1") };
    size_t i = given ? words_find(str_of(given), WORDS(words)) : 2;
    *ret = i >= 2;
    if (i < ARRAY_LEN(words))
        return true;
    fprintf(stderr, "sampan up: --audit-%s must be true or false, not '%s'\n", flag, given);
    return false;
}

static bool take_rate(const char *flag, const char *given, double *ret)
{
    char *end;
    *ret = strtod(given, &end);
    if (end != given && !*end && *ret > 0 && *ret < 1e6)
        return true;
    fprintf(stderr, "sampan up: --audit-%s must be a positive number, not '%s'\n", flag, given);
    return false;
}

static bool take_bytes(const char *flag, const char *given, size_t *ret)
{
    uint64_t n;
    if (str_to_u64(str_of(given), &n) && n > 0 && n <= LIMIT_AUDIT_QUEUE_BYTES) {
        *ret = n;
        return true;
    }
    fprintf(stderr, "sampan up: --audit-%s must be a number of bytes from 1 to %u, not '%s'\n",
            flag, LIMIT_AUDIT_QUEUE_BYTES, given);
    return false;
}

/* The flags that the log and the webhook share; `at` counts from UP_AUDIT_LOG_THROTTLE or
 * UP_AUDIT_WEBHOOK_THROTTLE. */
static bool take_bounds(const char *const names[], size_t at, const char *given,
                        struct audit_batching *b, struct audit_truncation *t)
{
    switch (at) {
    case 0:
        return take_switch(names[at], given, &b->throttles);
    case 1:
        return take_rate(names[at], given, &b->per_second);
    case 2:
        return take_count(names[at], given, &b->burst);
    case 3:
        return take_switch(names[at], given, &t->is_on);
    case 4:
        return take_bytes(names[at], given, &t->most_of_event);
    default:
        return take_bytes(names[at], given, &t->most_of_batch);
    }
}

static bool take_log_bounds(enum up_audit_flag flag, const char *given, struct audit_options *ret)
{
    static const char *const names[] = {
        "log-batch-throttle-enable", "log-batch-throttle-qps",      "log-batch-throttle-burst",
        "log-truncate-enabled",      "log-truncate-max-event-size", "log-truncate-max-batch-size"
    };
    return take_bounds(names, flag - UP_AUDIT_LOG_THROTTLE, given, &ret->log_batching,
                       &ret->log_truncation);
}

static bool take_webhook_bounds(enum up_audit_flag flag, const char *given,
                                struct audit_options *ret)
{
    static const char *const names[] = {
        "webhook-batch-throttle-enable",   "webhook-batch-throttle-qps",
        "webhook-batch-throttle-burst",    "webhook-truncate-enabled",
        "webhook-truncate-max-event-size", "webhook-truncate-max-batch-size"
    };
    return take_bounds(names, flag - UP_AUDIT_WEBHOOK_THROTTLE, given, &ret->webhook_batching,
                       &ret->webhook_truncation);
}

static bool take_log(enum up_audit_flag flag, const char *given, struct audit_options *ret)
{
    switch (flag) {
    case UP_AUDIT_LOG_PATH:
        ret->log_path = given;
        return true;
    case UP_AUDIT_LOG_FORMAT:
        return take_format(given, &ret->log_is_legacy);
    case UP_AUDIT_LOG_MODE:
        return take_mode("log", given, &ret->log_mode);
    case UP_AUDIT_LOG_MAX_SIZE:
        return take_number("log-maxsize", given, 0, &ret->log_max_mb);
    case UP_AUDIT_LOG_MAX_BACKUP:
        return take_number("log-maxbackup", given, 0, &ret->log_max_backups);
    case UP_AUDIT_LOG_MAX_AGE:
        return take_number("log-maxage", given, 0, &ret->log_max_days);
    case UP_AUDIT_LOG_BUFFER:
        return take_count("log-batch-buffer-size", given, &ret->log_batching.buffer);
    case UP_AUDIT_LOG_BATCH:
        return take_count("log-batch-max-size", given, &ret->log_batching.most);
    case UP_AUDIT_LOG_WAIT:
        return take_time("log-batch-max-wait", given, &ret->log_batching.wait_ns);
    default:
        return take_log_bounds(flag, given, ret);
    }
}

static bool take_webhook(enum up_audit_flag flag, const char *given, struct audit_options *ret)
{
    switch (flag) {
    case UP_AUDIT_WEBHOOK_CONFIG:
        ret->webhook_config = given;
        return true;
    case UP_AUDIT_WEBHOOK_MODE:
        return take_mode("webhook", given, &ret->webhook_mode);
    case UP_AUDIT_WEBHOOK_BUFFER:
        return take_count("webhook-batch-buffer-size", given, &ret->webhook_batching.buffer);
    case UP_AUDIT_WEBHOOK_BATCH:
        return take_count("webhook-batch-max-size", given, &ret->webhook_batching.most);
    case UP_AUDIT_WEBHOOK_WAIT:
        return take_time("webhook-batch-max-wait", given, &ret->webhook_batching.wait_ns);
    case UP_AUDIT_WEBHOOK_BACKOFF:
        return take_time("webhook-initial-backoff", given, &ret->webhook_backoff_ns);
    default:
        return take_webhook_bounds(flag, given, ret);
    }
}

bool up_audit_take(enum up_audit_flag flag, const char *given, struct audit_options *ret)
{
    if (flag == UP_AUDIT_POLICY) {
        ret->policy_file = given;
        return true;
    }
    return flag < UP_AUDIT_WEBHOOK_CONFIG ? take_log(flag, given, ret)
                                          : take_webhook(flag, given, ret);
}
