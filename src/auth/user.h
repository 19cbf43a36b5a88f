/* user.h - who asks: the one identity that everything in the server goes by. */
#pragma once

#include "base/str.h"

struct user {
    struct str name, uid;
    const struct str *groups;
    size_t n_groups;
};
