/* service_ip.h - the ranges that Services get their addresses and node ports from: reading them,
 * counting in them, finding one's place in them. Rules only: no I/O.
 *
 * The first addresses of a range (its band) are kept for Services that ask for a certain address.
 * Others get one after the band while there is one. The same goes for ports. */
#pragma once

#include "base/err.h"

#define SERVICE_CIDRS_DEFAULT "10.0.0.0/16"
#define SERVICE_PORTS_DEFAULT "30000-32767"

struct service_range {
    bool is_v6;
    uint8_t base[16]; /* of the network; four bytes if it is not v6 */
    unsigned prefix;  /* bits */
};

enum { SERVICE_FAMILIES = 2 };

struct service_ranges {
    struct service_range ips[SERVICE_FAMILIES]; /* the first is what Services get by default */
    size_t n_ips;
    uint16_t first_port, last_port;
};

/* `cidrs` is one network or two of different families, with a comma; `ports` is FIRST-LAST.
 * ERR_INVALID says what is wrong. */
int service_ranges_parse(struct str cidrs, struct str ports, struct service_ranges *ret,
                         struct err *err);
/* NULL if the family is not served. */
const struct service_range *service_range_of(const struct service_ranges *s, bool is_v6);

/* How many addresses can be given: without those of the network itself and of broadcasts. */
uint64_t service_range_size(const struct service_range *r);
uint64_t service_range_band(const struct service_range *r);
/* The address at a place below the size, in the arena or over `text` (no NUL), and the place of an
 * address; false if it has none. */
enum { SERVICE_IP_BYTES = 46 };
struct str service_range_write(const struct service_range *r, uint64_t place,
                               char text[static SERVICE_IP_BYTES]);
struct str service_range_address(struct arena *a, const struct service_range *r, uint64_t place);
bool service_range_place(const struct service_range *r, struct str address, uint64_t *ret);
/* The network's own address, and the network: "10.0.0.0", "10.0.0.0/16". */
struct str service_range_network(struct arena *a, const struct service_range *r);
struct str service_range_text(struct arena *a, const struct service_range *r);

uint32_t service_ports_size(const struct service_ranges *s);
uint32_t service_ports_band(const struct service_ranges *s);

/* The canonical form of an address, also of one with leading zeros; empty if it is none. */
struct str service_ip_canonical(struct arena *a, struct str address, bool *ret_is_v6);
