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
    UP_AUDIT_WEBHOOK_CONFIG,
    UP_AUDIT_WEBHOOK_MODE,
    UP_AUDIT_WEBHOOK_BUFFER,
    UP_AUDIT_WEBHOOK_BATCH,
    UP_AUDIT_WEBHOOK_WAIT,
    UP_AUDIT_WEBHOOK_BACKOFF,
    UP_AUDIT_END,
};

#define UP_AUDIT_OPTIONS                                                                         \
    { "audit-policy-file", required_argument, NULL, UP_AUDIT_POLICY },                           \
        { "audit-log-path", required_argument, NULL, UP_AUDIT_LOG_PATH },                        \
        { "audit-log-format", required_argument, NULL, UP_AUDIT_LOG_FORMAT },                    \
        { "audit-log-mode", required_argument, NULL, UP_AUDIT_LOG_MODE },                        \
        { "audit-log-maxsize", required_argument, NULL, UP_AUDIT_LOG_MAX_SIZE },                 \
        { "audit-log-maxbackup", required_argument, NULL, UP_AUDIT_LOG_MAX_BACKUP },             \
        { "audit-log-maxage", required_argument, NULL, UP_AUDIT_LOG_MAX_AGE },                   \
        { "audit-log-batch-buffer-size", required_argument, NULL, UP_AUDIT_LOG_BUFFER },         \
        { "audit-log-batch-max-size", required_argument, NULL, UP_AUDIT_LOG_BATCH },             \
        { "audit-log-batch-max-wait", required_argument, NULL, UP_AUDIT_LOG_WAIT },              \
        { "audit-webhook-config-file", required_argument, NULL, UP_AUDIT_WEBHOOK_CONFIG },       \
        { "audit-webhook-mode", required_argument, NULL, UP_AUDIT_WEBHOOK_MODE },                \
        { "audit-webhook-batch-buffer-size", required_argument, NULL, UP_AUDIT_WEBHOOK_BUFFER }, \
        { "audit-webhook-batch-max-size", required_argument, NULL, UP_AUDIT_WEBHOOK_BATCH },     \
        { "audit-webhook-batch-max-wait", required_argument, NULL, UP_AUDIT_WEBHOOK_WAIT },      \
    {                                                                                            \
        "audit-webhook-initial-backoff", required_argument, NULL, UP_AUDIT_WEBHOOK_BACKOFF       \
    }

extern const char up_audit_usage[];

/* False, after a message, if `given` is nothing for that flag. */
bool up_audit_take(enum up_audit_flag flag, const char *given, struct audit_options *ret);
