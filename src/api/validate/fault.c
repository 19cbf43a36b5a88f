#include "api/validate/fault.h"

#include <stdarg.h>

#include "base/banned.h"

static __attribute__((format(printf, 5, 0))) void
note(struct field_errors *e, enum field_error_type type, const struct field_path *path,
     struct str shown, const char *fmt, va_list ap)
{
    struct str why = arena_vprintf(e->arena, fmt, ap);
    field_error(e, type, path, shown, STR_FMT, STR_ARG(why));
}

bool fault_text(struct field_errors *e, const struct field_path *path, struct str text,
                const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    note(e, FIELD_INVALID, path, field_quoted(e, text), fmt, ap);
    va_end(ap);
    return false;
}

bool fault_int(struct field_errors *e, const struct field_path *path, int64_t n, const char *fmt,
               ...)
{
    struct value shown = value_int(n);
    va_list ap;
    va_start(ap, fmt);
    note(e, FIELD_INVALID, path, field_json(e, &shown), fmt, ap);
    va_end(ap);
    return false;
}

bool fault_value(struct field_errors *e, const struct field_path *path, const struct value *v,
                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    note(e, FIELD_INVALID, path, field_json(e, v), fmt, ap);
    va_end(ap);
    return false;
}

bool fault_required(struct field_errors *e, const struct field_path *path, const char *why)
{
    field_required(e, path, why);
    return false;
}

bool fault_forbidden(struct field_errors *e, const struct field_path *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    note(e, FIELD_FORBIDDEN, path, STR(""), fmt, ap);
    va_end(ap);
    return false;
}

bool fault_duplicate(struct field_errors *e, const struct field_path *path, struct str text)
{
    field_error(e, FIELD_DUPLICATE, path, field_quoted(e, text), "%s", "");
    return false;
}

bool fault_not_found(struct field_errors *e, const struct field_path *path, struct str text)
{
    field_error(e, FIELD_NOT_FOUND, path, field_quoted(e, text), "%s", "");
    return false;
}

bool fault_too_many(struct field_errors *e, const struct field_path *path, size_t n, size_t max)
{
    struct value shown = value_int((int64_t)n);
    field_error(e, FIELD_TOO_MANY, path, field_json(e, &shown), "must have at most %zu item%s", max,
                max == 1 ? "" : "s");
    return false;
}
