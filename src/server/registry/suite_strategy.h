/* suite_strategy.h - for tests: what a strategy makes of an object, one row each. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "server/registry/strategy.h"

/* Objects are JSON with single quotes instead of double ones. */
struct suite_row {
    const char *group, *resource, *sub;
    const char *old, *given, *want; /* without `old` it is created */
    const char *version;            /* of the request; NULL: the one that is stored */
    const char *warning;            /* NULL: none */
};

/* At 2030-01-02T03:04:05Z, by the user eve with the uid u1, of the groups g1 and g2. */
void suite_strategy_run(const struct suite_row *rows, size_t n);
#define SUITE_STRATEGY(rows) suite_strategy_run((rows), ARRAY_LEN(rows))

const struct kind_resource *suite_strategy_resource(const char *group, const char *plural);
struct value suite_strategy_read(struct arena *a, const struct kind_resource *r, const char *text);
/* Puts in order what a strategy has added. */
void suite_strategy_settle(struct arena *a, const struct kind_resource *r, struct value *obj);
