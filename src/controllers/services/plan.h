/* plan.h - addresses and node ports of Services: whether objects that should say the same do. Rules
 * only: no I/O. */
#pragma once

#include <sampan/value.h>

/* ---- From the Service to its IPAddress ---- */

enum address_state {
    ADDRESS_RIGHT,
    ADDRESS_MISSING,
    ADDRESS_FOREIGN,  /* it belongs to something else, or to a Service that has not got it */
    ADDRESS_SHARED,   /* another Service has it, too, and it belongs to that one */
    ADDRESS_UNLABELED /* its labels are not ours */
};

/* spec.clusterIPs; NULL: it needs none. */
const struct spn_value *service_addresses(const struct spn_value *service);
/* Whether one of the ServiceCIDRs has it. */
bool address_is_in(const struct spn_value *service_cidr, struct spn_text ip);
/* "IPv4", "IPv6"; empty: it is no address. */
struct spn_text address_family(struct spn_text ip);
/* As objects are named; in the arena. */
struct spn_text address_canonical(struct spn_arena *a, struct spn_text ip);

/* `address` is the object of that name, `other` the Service that it names, if that is not this one;
 * either may be NULL. */
enum address_state address_judge(const struct spn_value *service, const struct spn_value *address,
                                 const struct spn_value *other);
/* The object for this one. */
struct spn_value *address_new(struct spn_arena *a, struct spn_text ip,
                              const struct spn_value *service);

/* ---- From an IPAddress to its Service ---- */

enum address_fate {
    ADDRESS_STAYS,
    ADDRESS_WAITS,       /* its Service may come yet */
    ADDRESS_NO_SERVICE,  /* it names none at all */
    ADDRESS_LEAKED,      /* there is none of that name */
    ADDRESS_NOT_THE_SAME /* that Service has other addresses */
};

/* `service` is the one that it names; NULL: there is none. */
enum address_fate address_fate(const struct spn_value *address, const struct spn_value *service,
                               int64_t now_ns, int64_t *ret_wait_ms);

/* ---- Node ports ---- */

enum { PORTS_MOST = 1024 }; /* of one Service */
/* The node ports that a Service takes, in order; with one of them twice, if it asks for it twice by
 * the same protocol. How many is returned. */
size_t service_node_ports(const struct spn_value *service, int64_t ret[static PORTS_MOST]);
