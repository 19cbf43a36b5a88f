/* accept.h - content negotiation: Accept, Accept-Encoding and Content-Type, in linear time. */
#pragma once

#include "base/arena.h"

struct accept_item {
    struct str type;   /* "application/json", a wildcard, "gzip"; white space trimmed */
    struct str params; /* what follows the first ';' without the q parameter's meaning */
    unsigned q;        /* thousandths; 1000 if not said */
};

/* The items in the order the client prefers: by q, then whole types before wildcards, then as
 * sent; q=0 items are kept at the end. At most ACCEPT_MAX are read. */
enum { ACCEPT_MAX = 64 };
size_t accept_parse(struct arena *a, struct str header, const struct accept_item **ret);
/* The value of a parameter of `params` ("as=Table;v=v1"), without quotes; empty if absent. */
struct str accept_param(struct str params, struct str name);
/* True if the coding is accepted with q > 0. */
bool accept_encoding(struct arena *a, struct str header, struct str coding);
