#include "mesh/model/host.h"

#include <ctype.h>

#include "base/banned.h"

bool host_is_wild(struct str h)
{
    return h.n && h.p[0] == '*';
}

bool host_is_within(struct str a, struct str b)
{
    if (!host_is_wild(b))
        return str_eq(a, b);
    struct str tail = str_skip(b, 1);
    if (!host_is_wild(a))
        return str_ends(a, tail);
    return str_ends(str_skip(a, 1), tail);
}

bool host_matches(struct str a, struct str b)
{
    return host_is_within(a, b) || host_is_within(b, a);
}

int host_order(struct str a, struct str b)
{
    bool wild = host_is_wild(a);
    if (wild != host_is_wild(b))
        return wild ? 1 : -1;
    if (a.n != b.n)
        return a.n > b.n ? -1 : 1;
    return str_cmp(a, b);
}

struct str host_lower(struct arena *a, struct str h)
{
    char *out = arena_dup(a, h.p, h.n);
    for (size_t i = 0; i < h.n; i++)
        out[i] = (char)tolower((unsigned char)out[i]);
    return (struct str){ out, h.n };
}

struct str host_expand(struct arena *a, struct str h, struct str ns, struct str domain)
{
    if (!h.n || host_is_wild(h) || str_find(h, '.') >= 0)
        return h;
    return arena_printf(a, STR_FMT "." STR_FMT ".svc." STR_FMT, STR_ARG(h), STR_ARG(ns),
                        STR_ARG(domain));
}
