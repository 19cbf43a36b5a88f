/* suite_defaults.h - for tests: tables of objects, each with one field as it has to be afterwards.
 * Every object is defaulted twice, which must not show. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/defaults/defaults.h"
#include "api/suite_json.h"
#include "base/idiom.h"

struct suite_default {
    const char *api_version, *kind;
    const char *body; /* without apiVersion and kind, and with ' for " */
    const char *path; /* as suite_json_at() takes it */
    const char *want; /* JSON with ' for ", or NULL: the field is not there */
};

void suite_defaults_run(const struct suite_default *rows, size_t n);
#define SUITE_DEFAULTS(rows) suite_defaults_run((rows), ARRAY_LEN(rows))

/* The object of a body, with its defaults. */
struct value suite_defaults_object(struct arena *a, const char *api_version, const char *kind,
                                   const char *body);
/* The object as its kind. */
struct value suite_defaults_typed(struct arena *a, const struct kind_type *t,
                                  const struct value *in);
