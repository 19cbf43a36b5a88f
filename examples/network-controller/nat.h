/* nat.h - one nftables rule for each network that is to be masqueraded, in a table of our own.
 *
 *     table inet sampan-networks {
 *         chain postrouting {
 *             type nat hook postrouting priority srcnat
 *             ip saddr 192.168.0.0/16 oifname != "net-..." masquerade comment "net-...
 * 192.168.0.0/16"
 *
 * Other tables are never touched. The comment says for which bridge and range a rule was made; it
 * is how rules are found again. The table goes with its last rule. */
#pragma once

#include <sampan/err.h>

#include "plan.h"

struct nat;
struct nlmsghdr;

int nat_open(struct nat **ret, struct spn_err *err);
struct nat *nat_close(struct nat *n); /* NULL will do */

/* Fills in has_nat and has_wrong_nat. */
int nat_observe(struct nat *n, const char *bridge, const struct prefix *cidr,
                struct plan_actual *ret, struct spn_err *err);
/* In one transaction: the rule that is wanted comes, all others for this bridge go. */
int nat_set(struct nat *n, const char *bridge, const struct prefix *cidr, struct spn_err *err);
int nat_remove(struct nat *n, const char *bridge, struct spn_err *err);

/* Names of bridges that have rules, each lent during the call. */
int nat_each_bridge(struct nat *n, void (*fn)(void *arg, const char *bridge), void *arg,
                    struct spn_err *err);

/* Whether a message from the kernel says that one of our rules is gone, and of which bridge it was.
 */
bool nat_is_deletion(const struct nlmsghdr *msg, char ret_bridge[PLAN_NAME]);

/* Lets this namespace forward packets of the family. It is never switched off again: others may
 * have come to rely on it. SPN_FILE: /proc/sys cannot be written. */
int nat_forward(int family, struct spn_err *err);
