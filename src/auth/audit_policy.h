/* audit_policy.h - which requests are audited, and how much of each: upstream's audit.k8s.io/v1
 * Policy. The first rule that fits a request decides; without one it is not audited. Pure; sealed
 * once read, so any thread may ask. */
#pragma once

#include "auth/access.h"
#include "base/err.h"

enum audit_level { AUDIT_NONE, AUDIT_METADATA, AUDIT_REQUEST, AUDIT_REQUEST_RESPONSE };
enum { AUDIT_LEVELS = AUDIT_REQUEST_RESPONSE + 1 };

enum audit_stage {
    AUDIT_REQUEST_RECEIVED,
    AUDIT_RESPONSE_STARTED,
    AUDIT_RESPONSE_COMPLETE,
    AUDIT_PANIC, /* can be named, but never comes */
};

/* As policies and events spell them. */
struct str audit_level_word(enum audit_level level);
struct str audit_stage_word(enum audit_stage stage);

struct audit_policy;

/* YAML or JSON. ERR_INVALID in upstream's words. Fields that nobody knows are logged. */
int audit_policy_read(struct str text, struct audit_policy **ret, struct err *err);
struct audit_policy *audit_policy_free(struct audit_policy *p);

struct audit_decision {
    enum audit_level level;
    unsigned omitted;    /* stages, as bits 1 << enum audit_stage */
    bool omits_managers; /* objects are shown without metadata.managedFields */
};

/* The request's user may be NULL: nobody that is known. */
struct audit_decision audit_policy_decide(const struct audit_policy *p, const struct access *q);
