/* regexp.h - regular expressions in Go's syntax (RE2), matched in time linear in the text.
 *
 * Patterns come from users, in schemas and in CEL, and so does the text: there is no backtracking,
 * and a pattern that would become too large is refused. Matches are leftmost-first, as in Perl and
 * Go. Text must be valid UTF-8. Captured groups are not reported. A compiled expression is
 * immutable; any thread may match with it. */
#pragma once

#include "base/err.h"

struct regexp;

/* ERR_INVALID with Go's words: "error parsing regexp: missing closing ): `(a`". The expression lies
 * in the arena and needs neither `pattern` nor anything else afterwards. */
int regexp_compile(struct arena *a, struct str pattern, struct regexp **ret, struct err *err);

/* Whether it matches anywhere in the text. This takes at most LIMIT_REGEXP_INSTS steps for each
 * character. It returns false early when the allowance `w` ends, so a caller that passes one checks
 * it before it believes a false. `w` may be NULL. */
bool regexp_match(const struct regexp *re, struct str text, const struct allowance *w);

/* The first match that starts at or after `from`, which is a boundary of characters. */
bool regexp_find(const struct regexp *re, struct str text, size_t from, const struct allowance *w,
                 size_t *ret_start, size_t *ret_end);
