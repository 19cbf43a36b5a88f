/* fault.h - what is wrong with a field, noted in upstream's words. Each returns false, for checks
 * that end with it. */
#pragma once

#include "api/field_errors.h"

bool fault_text(struct field_errors *e, const struct field_path *path, struct str text,
                const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));
bool fault_int(struct field_errors *e, const struct field_path *path, int64_t n, const char *fmt,
               ...) __attribute__((format(printf, 4, 5), cold));
/* Shows the value as JSON; of a NULL "null". */
bool fault_value(struct field_errors *e, const struct field_path *path, const struct value *v,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));
bool fault_required(struct field_errors *e, const struct field_path *path, const char *why)
    __attribute__((cold));
bool fault_forbidden(struct field_errors *e, const struct field_path *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
bool fault_duplicate(struct field_errors *e, const struct field_path *path, struct str text)
    __attribute__((cold));
bool fault_not_found(struct field_errors *e, const struct field_path *path, struct str text)
    __attribute__((cold));
bool fault_too_many(struct field_errors *e, const struct field_path *path, size_t n, size_t max)
    __attribute__((cold));
