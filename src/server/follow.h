/* follow.h - what other servers on the same etcd write must count here, too.
 *
 * Roles, definitions of custom kinds, APIServices, quotas, what admission and fairness go by: all
 * of it is remembered in some form, and brought up to date by who writes it. Of a store that is a
 * mirror, a thread reads every change, whoever has made it, and does the same. Own writes are seen
 * twice, which does no harm. What is work on objects, not memory, is left to the server that has
 * written them: status of definitions, counts, aggregated roles. */
#pragma once

#include "server/core/api.h"

struct follow;

/* NULL if there is nothing to follow. After all that is remembered was loaded. */
int follow_new(struct api *api, struct follow **ret, struct err *err);
struct follow *follow_free(struct follow *f);
