#include "api/field_errors.h"

#include <stdlib.h>

#include "api/go/quote.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/banned.h"

static const struct {
    struct str reason;
    const char *words;
} types[FIELD_ERROR_TYPE_COUNT] = {
    [FIELD_REQUIRED] = { STR("FieldValueRequired"), "Required value" },
    [FIELD_INVALID] = { STR("FieldValueInvalid"), "Invalid value" },
    [FIELD_NOT_SUPPORTED] = { STR("FieldValueNotSupported"), "Unsupported value" },
    [FIELD_FORBIDDEN] = { STR("FieldValueForbidden"), "Forbidden" },
    [FIELD_TOO_LONG] = { STR("FieldValueTooLong"), "Too long" },
    [FIELD_TOO_SHORT] = { STR("FieldValueTooShort"), "Too short" },
    [FIELD_TOO_MANY] = { STR("FieldValueTooMany"), "Too many" },
    [FIELD_TOO_FEW] = { STR("FieldValueTooFew"), "Too few" },
    [FIELD_DUPLICATE] = { STR("FieldValueDuplicate"), "Duplicate value" },
    [FIELD_NOT_FOUND] = { STR("FieldValueNotFound"), "Not found" },
    [FIELD_INTERNAL] = { STR("InternalError"), "Internal error" },
    [FIELD_TYPE_INVALID] = { STR("FieldValueTypeInvalid"), "Invalid value" },
};

static bool is_full(const struct field_errors *e)
{
    return e->n >= LIMIT_FIELD_ERRORS || e->bytes >= LIMIT_FIELD_ERROR_BYTES;
}

struct str field_quoted(struct field_errors *e, struct str text)
{
    if (is_full(e))
        return STR("");
    autobuf out = { 0 };
    quote_go(&out, text);
    return arena_str(e->arena, buf_str(&out));
}

struct str field_json(struct field_errors *e, const struct value *v)
{
    if (is_full(e))
        return STR("");
    if (!v)
        return STR("null");
    autobuf out = { 0 }, escaped = { 0 };
    json_write(&out, v);
    for (size_t i = 0; i < out.n; i++) { /* as Go's encoder has it, for the sake of HTML */
        char c = out.p[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(&escaped, "\\u%04x", (unsigned)c);
        else
            buf_byte(&escaped, c);
    }
    return arena_str(e->arena, buf_str(&escaped));
}

struct str field_shown(struct field_errors *e, const struct value *v)
{
    return value_is(v, VALUE_STRING) ? field_quoted(e, value_str(v)) : field_json(e, v);
}

static void add_path(struct buf *out, const struct field_path *path)
{
    if (path->parent)
        add_path(out, path->parent);
    if (!path->is_key && !path->name.n) {
        buf_printf(out, "[%zu]", path->index);
        return;
    }
    buf_printf(out, "%s", path->is_key ? "[" : path->parent ? "." : "");
    buf_str_add(out, path->name);
    buf_printf(out, "%s", path->is_key ? "]" : "");
}

struct str field_path_text(struct arena *a, const struct field_path *path)
{
    if (!path)
        return STR("<nil>");
    autobuf out = { 0 };
    add_path(&out, path);
    return arena_str(a, buf_str(&out));
}

static void keep(struct field_errors *e, struct str reason, struct str field, struct str msg)
{
    struct err_cause *cause = arena_new(e->arena, struct err_cause);
    *cause = (struct err_cause){ .reason = reason, .field = field, .msg = msg };
    if (!e->first)
        e->last = &e->first;
    *e->last = cause;
    e->last = &cause->next;
    e->bytes += field.n + msg.n;
}

void field_error(struct field_errors *e, enum field_error_type type, const struct field_path *path,
                 struct str shown, const char *fmt, ...)
{
    if (is_full(e)) {
        e->n++;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    struct str detail = arena_vprintf(e->arena, fmt, ap);
    va_end(ap);
    autobuf msg = { 0 };
    buf_printf(&msg, "%s", types[type].words);
    if (shown.n)
        buf_printf(&msg, ": " STR_FMT, STR_ARG(shown));
    if (detail.n)
        buf_printf(&msg, ": " STR_FMT, STR_ARG(detail));
    keep(e, types[type].reason, field_path_text(e->arena, path),
         arena_str(e->arena, buf_str(&msg)));
    e->n++;
}

void field_required(struct field_errors *e, const struct field_path *path, const char *detail)
{
    field_error(e, FIELD_REQUIRED, path, STR(""), "%s", detail);
}

void field_too_long(struct field_errors *e, const struct field_path *path, size_t max_bytes)
{
    field_error(e, FIELD_TOO_LONG, path, STR(""), "may not be more than %zu byte%s", max_bytes,
                max_bytes == 1 ? "" : "s");
}

void field_not_supported(struct field_errors *e, const struct field_path *path, struct str shown,
                         const struct str *values, size_t n)
{
    autobuf list = { 0 };
    for (size_t i = 0; i < n; i++) {
        buf_printf(&list, "%s", i ? ", " : "supported values: ");
        quote_go(&list, values[i]);
    }
    field_error(e, FIELD_NOT_SUPPORTED, path, shown, STR_FMT, STR_ARG(buf_str(&list)));
}

static bool is_repeated(const struct field_errors *e, const struct err_cause *cause)
{
    for (const struct err_cause *c = e->first; c != cause; c = c->next)
        if (str_eq(c->field, cause->field) && str_eq(c->msg, cause->msg))
            return true;
    return false;
}

void field_errors_unique(struct field_errors *e)
{
    for (struct err_cause **at = &e->first; *at;) {
        if (!is_repeated(e, *at)) {
            at = &(*at)->next;
            continue;
        }
        *at = (*at)->next;
        e->n--;
    }
    for (e->last = &e->first; *e->last;)
        e->last = &(*e->last)->next;
}

static int by_words(const void *x, const void *y)
{
    const struct err_cause *a = *(const struct err_cause *const *)x;
    const struct err_cause *b = *(const struct err_cause *const *)y;
    int c = str_cmp(a->field, b->field);
    return c ? c : str_cmp(a->msg, b->msg);
}

void field_errors_add_sorted(struct field_errors *e, struct field_errors *from)
{
    size_t n = 0, i = 0;
    for (const struct err_cause *c = from->first; c; c = c->next)
        n++;
    struct err_cause **all = arena_array(e->arena, struct err_cause *, n);
    for (struct err_cause *c = from->first; c; c = c->next)
        all[i++] = c;
    if (n)
        qsort(all, n, sizeof(all[0]), by_words);
    for (i = 0; i < n && !is_full(e); i++) {
        keep(e, all[i]->reason, all[i]->field, all[i]->msg);
        e->n++;
    }
    e->n += n - i + (from->n - n);
    *from = FIELD_ERRORS_INIT(from->arena);
}

void field_errors_merge(struct field_errors *e, struct field_errors *from,
                        int (*cmp)(struct str path, struct str other))
{
    struct err_cause *theirs = e->first, *ours = from->first;
    e->last = &e->first;
    while (theirs || ours) {
        bool takes_ours = ours && (!theirs || cmp(ours->field, theirs->field) < 0);
        struct err_cause **next = takes_ours ? &ours : &theirs;
        *e->last = *next;
        *next = (*next)->next;
        e->last = &(*e->last)->next;
    }
    *e->last = NULL;
    e->n += from->n;
    e->bytes += from->bytes;
    *from = FIELD_ERRORS_INIT(from->arena);
}

void field_errors_add(struct field_errors *e, struct field_errors *from)
{
    for (const struct err_cause *c = from->first; c && !is_full(e); c = c->next)
        keep(e, c->reason, c->field, c->msg);
    e->n += from->n;
    *from = FIELD_ERRORS_INIT(from->arena);
}

struct str field_errors_text(const struct field_errors *e)
{
    autobuf list = { 0 };
    size_t different = 0;
    for (const struct err_cause *c = e->first; c; c = c->next) {
        if (is_repeated(e, c))
            continue;
        buf_printf(&list, "%s" STR_FMT ": " STR_FMT, different ? ", " : "", STR_ARG(c->field),
                   STR_ARG(c->msg));
        different++;
    }
    return arena_printf(e->arena, "%s" STR_FMT "%s", different > 1 ? "[" : "",
                        STR_ARG(buf_str(&list)), different > 1 ? "]" : "");
}

int field_errors_report(const struct field_errors *e, struct str group, struct str kind,
                        struct str name, struct err *err)
{
    if (arena_spent(e->arena))
        return allowance_error(e->arena->allowance, err);
    if (e->n == 0)
        return 0;
    autobuf quoted = { 0 };
    quote_go(&quoted, name);
    int r = err_set(err, ERR_INVALID, STR_FMT "%s" STR_FMT " " STR_FMT " is invalid: " STR_FMT,
                    STR_ARG(kind), group.n ? "." : "", STR_ARG(group), STR_ARG(buf_str(&quoted)),
                    STR_ARG(field_errors_text(e)));
    if (!err)
        return r;
    err->about = (struct err_about){ .name = name, .group = group, .kind = kind };
    for (const struct err_cause *c = e->first; c; c = c->next)
        err_add_cause(err, c->reason, c->field, c->msg);
    return r;
}
