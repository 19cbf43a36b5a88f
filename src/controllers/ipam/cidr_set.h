/* cidr_set.h - a network, divided into equal blocks that are taken or free. No I/O, no lock. */
#pragma once

#include "api/ip.h"
#include "base/err.h"

struct cidr_set;

/* Blocks of `bits` bits of a network. ERR_INVALID: there are no such, or too many. */
int cidr_set_new(struct cidr network, unsigned bits, struct cidr_set **ret, struct err *err);
struct cidr_set *cidr_set_free(struct cidr_set *s);

/* Takes a free block, after the one that was taken last, round and round. False: there is none. */
bool cidr_set_take(struct cidr_set *s, struct cidr *ret);
/* All blocks that a network touches. False: it is out of range. */
bool cidr_set_occupy(struct cidr_set *s, const struct cidr *c);
bool cidr_set_release(struct cidr_set *s, const struct cidr *c);
