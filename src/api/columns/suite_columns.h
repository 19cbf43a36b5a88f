/* suite_columns.h - for tests: an object in, its cells out. JSON is written with ' for ". */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/columns/columns.h"
#include "api/suite_json.h"
#include "base/clock.h"
#include "base/idiom.h"

/* 2026-01-02T03:04:05Z; an object with META is 4m5s old. */
#define NOW_NS (INT64_C(1767323045) * NS_PER_SEC)
#define META   "'metadata':{'name':'a','creationTimestamp':'2026-01-02T03:00:00Z'}"
#define GONE                                                             \
    "'metadata':{'name':'a','creationTimestamp':'2026-01-02T03:00:00Z'," \
    "'deletionTimestamp':'2026-01-02T03:04:00Z'}"

struct suite_cells {
    const char *resource; /* "v1 pods", "apps/v1 deployments" */
    const char *obj, *cells;
};

void suite_columns_run(const struct suite_cells *rows, size_t n);
#define SUITE_COLUMNS(rows) suite_columns_run((rows), ARRAY_LEN(rows))

const struct kind_resource *suite_columns_resource(const char *text);
