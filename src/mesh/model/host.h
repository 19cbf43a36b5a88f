/* host.h - host names with a leading wildcard, as Istio compares them. Rules only. */
#pragma once

#include "base/arena.h"

bool host_is_wild(struct str h); /* "*", "*.example.org" */
/* Whether some name is meant by both. */
bool host_matches(struct str a, struct str b);
/* Whether every name that `a` means is meant by `b`. */
bool host_is_within(struct str a, struct str b);
/* Which of two is looked at first: exact before wild, longer before shorter, then by the alphabet.
 */
int host_order(struct str a, struct str b);
/* Lower case, in the arena. */
struct str host_lower(struct arena *a, struct str h);
/* A short name of Kubernetes as the whole name: "web" of "shop" is "web.shop.svc.DOMAIN"; a name
 * that has a dot, or is wild, is as it is. */
struct str host_expand(struct arena *a, struct str h, struct str ns, struct str domain);
