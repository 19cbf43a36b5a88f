/* prefix.h - addresses and prefixes of IPv4 and IPv6: "192.168.0.1", "192.168.0.0/16".
 *
 * Values without memory of their own, copied like numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prefix {
    int family;        /* AF_INET, AF_INET6; 0: none */
    unsigned len;      /* bits that count; of a mere address all of them */
    uint8_t bytes[16]; /* in the order of the network; 4 of them for IPv4 */
};

enum { PREFIX_TEXT = 64 }; /* enough room for any of them as text */

/* From text that need not end with a NUL. False: it is none. */
bool prefix_parse(const char *text, size_t n, struct prefix *ret);
bool prefix_parse_address(const char *text, size_t n, struct prefix *ret); /* without "/len" */

/* With "/len", or the address alone; into a buffer of PREFIX_TEXT. Returns the buffer. */
char *prefix_text(const struct prefix *p, char *buf);
char *prefix_address_text(const struct prefix *p, char *buf);

unsigned prefix_bits(int family);  /* 32 or 128 */
unsigned prefix_bytes(int family); /* 4 or 16 */
bool prefix_eq(const struct prefix *a, const struct prefix *b);
bool prefix_overlaps(const struct prefix *a, const struct prefix *b);
bool prefix_contains(const struct prefix *outer, const struct prefix *address);

struct prefix prefix_network(const struct prefix *p); /* the bits behind `len` are 0 */
struct prefix prefix_last(const struct prefix *p);    /* they are 1; `len` stays */
