/* go_url.h - URLs as Go's net/url reads them, as far as rules of kinds ask. */
#pragma once

#include "base/arena.h"

struct go_url {
    struct str scheme; /* lower case */
    struct str user;   /* with the password */
    struct str host, fragment, query;
    bool has_user;
};

/* NULL, or what Go says is wrong with it; in the arena or static. */
const char *go_url_parse(struct arena *a, struct str text, struct go_url *ret);
