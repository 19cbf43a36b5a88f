/* review.h - what the reviews share: objects that are sent to get an answer, and not stored. */
#pragma once

#include "server/http/call.h"

/* The body with its defaults; with `has_managers` the sender owns its fields, as if it were stored.
 * Plugins of admission see it, as upstream's do: a namespace may come of it. */
int review_decode(struct call *c, bool has_managers, struct value *ret, struct err *err);
/* Once the review was found right, plugins may refuse it. */
int review_check(struct call *c, const struct value *obj, struct err *err);

/* A UserInfo. */
struct value review_user(struct arena *a, const struct user *user);
