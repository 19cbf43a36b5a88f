/* label_syntax.h - what a label's key and value may look like, and upstream's words when they do
 * not, as one text. The rules are those of names.h; the lengths are Kubernetes' own. */
#pragma once

#include "base/buf.h"

enum { LABEL_NAME_MAX = 63, LABEL_VALUE_MAX = 63, LABEL_PREFIX_MAX = 253 };

/* A key is [DNS subdomain "/"] name. False if it is not one; the reasons, joined by "; ", are then
 * added to `why` (which may be NULL). */
bool label_key_check(struct str key, struct buf *why);
/* The same for a value; the empty one is good. */
bool label_value_check(struct str value, struct buf *why);
