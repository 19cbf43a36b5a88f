/* up_audit.h - the flags of `sampan up` about auditing, named and read as kube-apiserver's. */
#pragma once

#include <getopt.h>

#include "server/audit/audit.h"

/* What getopt_long() returns for them; the letters of other flags are smaller. */
enum up_audit_flag {
    UP_AUDIT_POLICY = 256,
    UP_AUDIT_LOG_PATH,
    UP_AUDIT_LOG_FORMAT,
    UP_AUDIT_LOG_MODE,
    UP_AUDIT_LOG_MAX_SIZE,
    UP_AUDIT_LOG_MAX_BACKUP,
    UP_AUDIT_LOG_MAX_AGE,
    UP_AUDIT_LOG_BUFFER,
    UP_AUDIT_LOG_BATCH,
    UP_AUDIT_LOG_WAIT,
    UP_AUDIT_LOG_THROTTLE,
    UP_AUDIT_LOG_QPS,
    UP_AUDIT_LOG_BURST,
    UP_AUDIT_LOG_TRUNCATE,
    UP_AUDIT_LOG_MOST_OF_EVENT,
    UP_AUDIT_LOG_MOST_OF_BATCH,
    UP_AUDIT_WEBHOOK_CONFIG,
    UP_AUDIT_WEBHOOK_MODE,
    UP_AUDIT_WEBHOOK_BUFFER,
    UP_AUDIT_WEBHOOK_BATCH,
    UP_AUDIT_WEBHOOK_WAIT,
    UP_AUDIT_WEBHOOK_THROTTLE,
    UP_AUDIT_WEBHOOK_QPS,
    UP_AUDIT_WEBHOOK_BURST,
    UP_AUDIT_WEBHOOK_TRUNCATE,
    UP_AUDIT_WEBHOOK_MOST_OF_EVENT,
    UP_AUDIT_WEBHOOK_MOST_OF_BATCH,
    UP_AUDIT_WEBHOOK_BACKOFF,
    UP_AUDIT_END,
};

#define UP_AUDIT_OPTIONS                                                                           \
    { "audit-policy-file", required_argument, NULL, UP_AUDIT_POLICY },                             \
        { "audit-log-path", required_argument, NULL, UP_AUDIT_LOG_PATH },                          \
        { "audit-log-format", required_argument, NULL, UP_AUDIT_LOG_FORMAT },                      \
        { "audit-log-mode", required_argument, NULL, UP_AUDIT_LOG_MODE },                          \
        { "audit-log-maxsize", required_argument, NULL, UP_AUDIT_LOG_MAX_SIZE },                   \
        { "audit-log-maxbackup", required_argument, NULL, UP_AUDIT_LOG_MAX_BACKUP },               \
        { "audit-log-maxage", required_argument, NULL, UP_AUDIT_LOG_MAX_AGE },                     \
        { "audit-log-batch-buffer-size", required_argument, NULL, UP_AUDIT_LOG_BUFFER },           \
        { "audit-log-batch-max-size", required_argument, NULL, UP_AUDIT_LOG_BATCH },               \
        { "audit-log-batch-max-wait", required_argument, NULL, UP_AUDIT_LOG_WAIT },                \
        { "audit-webhook-config-file", required_argument, NULL, UP_AUDIT_WEBHOOK_CONFIG },         \
        { "audit-webhook-mode", required_argument, NULL, UP_AUDIT_WEBHOOK_MODE },                  \
        { "audit-webhook-batch-buffer-size", required_argument, NULL, UP_AUDIT_WEBHOOK_BUFFER },   \
        { "audit-webhook-batch-max-size", required_argument, NULL, UP_AUDIT_WEBHOOK_BATCH },       \
        { "audit-log-batch-throttle-enable", optional_argument, NULL, UP_AUDIT_LOG_THROTTLE },     \
        { "audit-log-batch-throttle-qps", required_argument, NULL, UP_AUDIT_LOG_QPS },             \
        { "audit-log-batch-throttle-burst", required_argument, NULL, UP_AUDIT_LOG_BURST },         \
        { "audit-log-truncate-enabled", optional_argument, NULL, UP_AUDIT_LOG_TRUNCATE },          \
        { "audit-log-truncate-max-event-size", required_argument, NULL,                            \
          UP_AUDIT_LOG_MOST_OF_EVENT },                                                            \
        { "audit-log-truncate-max-batch-size", required_argument, NULL,                            \
          UP_AUDIT_LOG_MOST_OF_BATCH },                                                            \
        { "audit-webhook-batch-throttle-enable", optional_argument, NULL,                          \
          UP_AUDIT_WEBHOOK_THROTTLE },                                                             \
        { "audit-webhook-batch-throttle-qps", required_argument, NULL, UP_AUDIT_WEBHOOK_QPS },     \
        { "audit-webhook-batch-throttle-burst", required_argument, NULL, UP_AUDIT_WEBHOOK_BURST }, \
        { "audit-webhook-truncate-enabled", optional_argument, NULL, UP_AUDIT_WEBHOOK_TRUNCATE },  \
        { "audit-webhook-truncate-max-event-size", required_argument, NULL,                        \
          UP_AUDIT_WEBHOOK_MOST_OF_EVENT },                                                        \
        { "audit-webhook-truncate-max-batch-size", required_argument, NULL,                        \
          UP_AUDIT_WEBHOOK_MOST_OF_BATCH },                                                        \
        { "audit-webhook-batch-max-wait", required_argument, NULL, UP_AUDIT_WEBHOOK_WAIT },        \
    {                                                                                              \
        "audit-webhook-initial-backoff", required_argument, NULL, UP_AUDIT_WEBHOOK_BACKOFF         \
    }

extern const char up_audit_usage[];

/* False, after a message, if `given` is nothing for that flag. */
bool up_audit_take(enum up_audit_flag flag, const char *given, struct audit_options *ret);
