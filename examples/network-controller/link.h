/* link.h - bridges and their addresses in the kernel, by rtnetlink.
 *
 * Everything happens in the network namespace that the thread was in when the socket was opened.
 * Calls wait for the kernel's answer, one at a time: a socket belongs to one thread. Errors are
 * SPN_NOT_FOUND, SPN_EXISTS, SPN_FORBIDDEN, and SPN_SERVER_ERROR for all others. */
#pragma once

#include <sampan/err.h>

#include "plan.h"

struct link;

int link_open(struct link **ret, struct spn_err *err);
struct link *link_close(struct link *l); /* NULL will do */

/* What is there under that name, and nothing of NAT. `ret->exists` is false if there is nothing. */
int link_observe(struct link *l, const char *name, struct plan_actual *ret, struct spn_err *err);

/* Makes a bridge with the hardware address that belongs to the name. */
int link_create(struct link *l, const char *name, struct spn_err *err);
int link_delete(struct link *l, const char *name, struct spn_err *err); /* not there: done */
int link_set_mtu(struct link *l, const char *name, unsigned mtu, struct spn_err *err);
int link_set_up(struct link *l, const char *name, struct spn_err *err);
int link_add_address(struct link *l, const char *name, const struct prefix *address,
                     struct spn_err *err); /* it is there already: done */
int link_delete_address(struct link *l, const char *name, const struct prefix *address,
                        struct spn_err *err); /* not there: done */

/* Names of all bridges that are ours, each lent during the call. */
int link_each_bridge(struct link *l, void (*fn)(void *arg, const char *name), void *arg,
                     struct spn_err *err);
/* All addresses of links that are not ours. */
int link_each_address(struct link *l,
                      void (*fn)(void *arg, const char *name, const struct prefix *address),
                      void *arg, struct spn_err *err);
