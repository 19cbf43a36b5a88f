/* match.h - which requests a webhook, a policy or a binding is for: by rules and selectors.
 *
 * A rule names resources in certain versions. With matchPolicy Equivalent a request for the same
 * resource in another version or group matches too, and is then shown in the version that the rule
 * names. Nobody is asked about the configuration of webhooks and policies itself, nor about reviews
 * of access and tokens: who breaks those could not be undone. But policies are asked about
 * webhooks. */
#pragma once

#include "admission/admission.h"

struct match; /* sealed; lies in the arena it was read into */

/* Parts of a configuration object that is valid; each may be NULL. */
struct match_spec {
    const struct value *rules;    /* of a webhook; resourceRules of a policy, with resourceNames */
    const struct value *excluded; /* excludeResourceRules */
    const struct value *namespace_selector, *object_selector;
    bool is_exact;    /* matchPolicy: Exact */
    bool needs_rules; /* it is of a webhook: no rule is for nothing, not for everything */
};

/* Copies what it needs. */
const struct match *match_read(struct arena *a, const struct match_spec *spec);

/* Whether none is ever asked about the resource: then nobody needs to look which there are, and
 * what is broken can be repaired. */
bool match_exempts(const struct kind_resource *stored, bool by_webhooks);

/* Which resources it may be about: see memory.h. */
uint64_t match_interest(const struct match *m);

/* By its rules alone: whether a call may match. On a loop. */
bool match_may(const struct match *m, const struct admission_call *call);

/* 1, and `*ret_as` is the resource in the version in which it is shown; 0: it is not for this
 * request; or an error in upstream's words. */
int match_request(const struct match *m, struct admission_request *req, const struct value *obj,
                  const struct kind_resource **ret_as, struct err *err);
