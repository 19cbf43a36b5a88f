/* issues.h - what is wrong with an expression, collected and printed as cel-go does. Private to
 * this folder. */
#pragma once

#include <stdarg.h>

#include "base/arena.h"

enum { ISSUES_SHOWN_MAX = 100 };

struct issue {
    uint32_t at; /* byte offset, or AST_NOWHERE */
    struct str msg;
};

struct issues {
    struct arena *arena;
    struct str text; /* of the expression */
    struct issue *list;
    size_t n, cap;
    size_t total; /* with those that are not kept */
};

void issues_add(struct issues *is, uint32_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* One "ERROR: <input>:LINE:COLUMN: ..." with the line and a mark below it for each. */
struct str issues_print(struct issues *is);
