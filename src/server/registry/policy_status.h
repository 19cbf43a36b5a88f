/* policy_status.h - the status of validating policies: what upstream's
 * validatingadmissionpolicy-status-controller does, done before the write that caused it is
 * answered. */
#pragma once

#include "server/http/call.h"

/* After a ValidatingAdmissionPolicy was written: says in its status which of its expressions do not
 * fit the kinds that it is for. Others are passed over. What goes wrong is logged. */
void policy_status_follow(struct call *c, struct str name);
