/* audit_token.h - tokens that their owners should give up, stale ones and those that stand in
 * Secrets: what the audit log and their owner are told of them. Pure. */
#pragma once

#include "auth/account_token.h"
#include "server/audit/audit_text.h"

/* Perhaps none. `use` may be NULL. */
struct audit_annotation *audit_token_notes(struct arena *a, const struct account_use *use);

/* Empty: none. */
struct str audit_token_warning(const struct account_use *use);
