/* escalation.h - nobody may grant rights that he does not have, by a role or by a binding, unless
 * he has the verbs `escalate` or `bind`, or is in system:masters. */
#pragma once

#include "server/http/call.h"

/* After admission, before validation. `old_obj` is NULL if it is new. Kinds that grant nothing are
 * passed over. ERR_FORBIDDEN in upstream's words. */
int escalation_check(struct call *c, const struct value *obj, const struct value *old_obj,
                     struct err *err);
