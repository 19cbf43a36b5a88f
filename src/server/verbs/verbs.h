/* verbs.h - what can be done to objects, one file each. Each function answers its call. */
#pragma once

#include "base/value.h"
#include "server/http/call.h"

/* On the loop. */
void verb_get(struct call *c);
void verb_list(struct call *c);
void verb_component_status(struct call *c);
void verb_component_statuses(struct call *c);

/* On a worker. */
void verb_create(struct call *c);
void verb_update(struct call *c);
void verb_delete(struct call *c);
void verb_delete_collection(struct call *c);
void verb_scale_get(struct call *c);
void verb_scale_update(struct call *c);
void verb_scale_patch(struct call *c);
void verb_patch(struct call *c);
void verb_binding(struct call *c);
void verb_eviction(struct call *c);
void verb_rollback(struct call *c);
void verb_token(struct call *c);
void verb_access_review(struct call *c);
void verb_rules_review(struct call *c);
void verb_self_review(struct call *c);
void verb_token_review(struct call *c);
void verb_log(struct call *c);
void verb_connect(struct call *c);

/* Answers with the list that the call selects, as of a revision; 0: as its parameters say. On the
 * loop. */
void verb_list_at(struct call *c, uint64_t rev);

/* Name and namespace in the body of a PUT must be those of its path. */
int verb_update_check_name(struct call *c, const struct value *obj, struct err *err);
