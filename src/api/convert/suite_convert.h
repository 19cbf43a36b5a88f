/* suite_convert.h - for tests: objects of any version, in YAML without kind and apiVersion. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/convert/convert.h"

const struct kind_type *suite_convert_type(const char *api_version, const char *kind);
/* As its kind. Fails the test if it has a field that its kind does not know. */
struct value suite_convert_typed(struct arena *a, const struct kind_type *t,
                                 const struct value *obj);
struct value suite_convert_read(struct arena *a, const struct kind_type *t, const char *yaml);
