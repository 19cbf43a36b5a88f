/* audit_text.h - an audit event as text: upstream's JSON (audit.k8s.io/v1), or its old line of
 * words. Pure. */
#pragma once

#include "auth/audit_policy.h"
#include "base/buf.h"
#include "base/value.h"

struct audit_annotation {
    struct audit_annotation *next;
    struct str key, value;
};

enum { AUDIT_SOURCES_MAX = 32 }; /* addresses that a request may claim to come from */

struct audit_facts {
    enum audit_level level;
    enum audit_stage stage;
    struct str id, uri, verb, user_agent;
    const struct user *user, *impersonated; /* NULL: none */
    struct str constraint;                  /* of the impersonation */
    struct str sources[AUDIT_SOURCES_MAX];  /* IPs */
    size_t n_sources;
    bool has_object; /* what follows is about one */
    struct str group, version, resource, sub, ns, name, uid, revision;
    int code;                      /* 0: not answered yet */
    const struct value *status;    /* that was the answer; NULL: another one */
    struct str request, answer;    /* objects as JSON; empty: none */
    int64_t received_ns, stage_ns; /* wall time */
    const struct audit_annotation *annotations;
};

/* Returns where in `out` the answer stands, or would stand if there were one. */
size_t audit_text_json(struct buf *out, const struct audit_facts *f);
void audit_text_words(struct buf *out, const struct audit_facts *f);
