/* service_claim.h - addresses and node ports, given to Services and taken back.
 *
 * An address is taken if there is an IPAddress object of its name, a node port if there is a key of
 * its number. Both are written in the transaction that writes the Service, on condition that they
 * are not there. So nothing is given twice, however many ask at once and whenever the power goes;
 * and nothing is kept in memory. Whoever loses a race begins again. On a worker. */
#pragma once

#include "server/http/call.h"

struct registry_extra;

/* A key for each node port that is taken; whose it is stands in the value: "NAMESPACE/NAME". */
#define SERVICE_PORT_PREFIX STR("/registry/ranges/servicenodeports/")

/* Whether objects of this resource have addresses. */
bool service_claim_wanted(const struct kind_resource *r);

/* Fills in the addresses, families and ports of a new Service, and says in `ret` what is to be
 * written with it. In a dry run nothing is given, but the fields look as if. ERR_INVALID in
 * upstream's words. */
int service_claim_create(struct call *c, bool dry_run, struct value *obj,
                         struct registry_extra *ret, struct err *err);
/* The same for a changed one, which keeps what it has, and gives back what it needs no longer. */
int service_claim_update(struct call *c, bool dry_run, struct value *obj,
                         const struct value *old_obj, struct registry_extra *ret, struct err *err);
/* All that it has, given back. */
void service_claim_release(struct call *c, const struct value *obj, struct registry_extra *ret);
