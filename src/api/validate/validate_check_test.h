/* validate_check_test.h - what the tests of validation share: a good object of a kind, and a table
 * of single changes to it, each with the first fault that must come of it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/defaults/defaults.h"
#include "api/meta.h"
#include "api/typed.h"
#include "api/validate/validate.h"
#include "base/json.h"

struct refusal {
    const char *path;  /* steps between slashes; | is a slash in a key */
    const char *value; /* JSON with ' for "; NULL: the field is taken away */
    const char *want;  /* "FIELD: MESSAGE" of the first fault, with ' for "; NULL: there is none */
};

static inline struct str with_quotes(struct arena *a, struct str text, char from, char to)
{
    char *copy = arena_dup(a, text.p, text.n);
    for (size_t i = 0; i < text.n; i++)
        copy[i] = copy[i] == from ? to : copy[i];
    return (struct str){ copy, text.n };
}

static inline struct value parsed(struct arena *a, const char *text)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (json_read(a, with_quotes(a, str_of(text), '\'', '"'), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

static inline const struct kind_resource *resource_of(const char *api_version, const char *kind)
{
    const struct kind_type *t = kind_find(str_of(api_version), str_of(kind));
    for (size_t i = 0; t && i < n_kind_versions; i++)
        for (size_t k = 0; k < kind_versions[i].n_resources; k++)
            if (kind_versions[i].resources[k].type == t && kind_versions[i].resources[k].list)
                return &kind_versions[i].resources[k];
    fail_msg("there is no resource of %s %s", api_version, kind);
    return NULL;
}

/* As the server reads it. */
static inline struct value complete(struct arena *a, const struct kind_resource *r,
                                    const struct value *in)
{
    struct value obj, again;
    struct err err = ERR_INIT(a);
    if (typed_read(a, r->type, in, NULL, &obj, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    defaults_apply(a, r->type, &obj);
    if (typed_read(a, r->type, &obj, NULL, &again, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return again;
}

/* One step down, into a list or an object, which is made where there is none. */
static inline struct value *step_into(struct arena *a, struct value *v, struct str step)
{
    uint64_t index;
    if (v->type == VALUE_ARRAY)
        return str_to_u64(step, &index) ? value_edit_at(a, v, index) : NULL;
    struct value *field = value_edit(a, v, step);
    return field && field->type != VALUE_NULL ? field : value_ensure(a, v, step);
}

static inline void change(struct arena *a, struct value *v, const struct refusal *row)
{
    struct str rest = str_of(row->path), step = str_cut(&rest, '/');
    for (; rest.p; step = str_cut(&rest, '/')) {
        v = step_into(a, v, with_quotes(a, step, '|', '/'));
        if (!v)
            fail_msg("there is nothing at %s", row->path);
    }
    step = with_quotes(a, step, '|', '/');
    struct value *item = v->type == VALUE_ARRAY ? step_into(a, v, step) : NULL;
    if (item)
        *item = parsed(a, row->value);
    else if (row->value)
        value_put(a, v, step, parsed(a, row->value));
    else
        value_drop(a, v, step);
}

/* The faults of a new object, or with `old_obj` of a changed one. */
static inline void find_faults(struct field_errors *e, const struct kind_resource *r,
                               const char *sub, const struct value *obj,
                               const struct value *old_obj)
{
    struct meta_rules rules = meta_rules_of(r->group, r->plural, r->namespaced);
    if (!old_obj) {
        meta_validate_create(e, &rules, obj);
        validate_create(e, r, obj);
    } else if (*sub) {
        validate_update_sub(e, r, str_of(sub), obj, old_obj);
    } else {
        validate_update(e, r, obj, old_obj);
    }
}

static inline bool is_first(struct arena *a, const struct field_errors *e, const char *want)
{
    if (!want || !e->first)
        return !want && !e->first;
    struct str have =
        arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(e->first->field), STR_ARG(e->first->msg));
    return str_eq(with_quotes(a, have, '"', '\''), str_of(want));
}

static inline void check_rows(const char *api_version, const char *kind, const char *base,
                              const char *sub, bool update, const struct refusal *rows, size_t n)
{
    const struct kind_resource *r = resource_of(api_version, kind);
    for (size_t i = 0; i <= n; i++) {
        struct arena a;
        arena_init(&a);
        struct value in = parsed(&a, base), old_obj = complete(&a, r, &in);
        if (i < n)
            change(&a, &in, &rows[i]);
        struct value obj = complete(&a, r, &in);
        struct field_errors e = FIELD_ERRORS_INIT(&a);
        find_faults(&e, r, sub, &obj, update ? &old_obj : NULL);
        const char *want = i < n ? rows[i].want : NULL; /* at last the base itself */
        if (!is_first(&a, &e, want)) {
            print_error("%s, %s: %s\n  want: %s\n", kind, i < n ? rows[i].path : "as it is",
                        i < n && rows[i].value ? rows[i].value : "", want ? want : "(good)");
            for (const struct err_cause *c = e.first; c; c = c->next)
                print_error("  have: " STR_FMT ": " STR_FMT "\n", STR_ARG(c->field),
                            STR_ARG(c->msg));
            fail();
        }
        arena_done(&a);
    }
}

#define CREATES(api_version, kind, base, rows) \
    check_rows(api_version, kind, base, "", false, rows, sizeof(rows) / sizeof((rows)[0]))
#define UPDATES(api_version, kind, base, rows) \
    check_rows(api_version, kind, base, "", true, rows, sizeof(rows) / sizeof((rows)[0]))
#define UPDATES_SUB(api_version, kind, sub, base, rows) \
    check_rows(api_version, kind, base, sub, true, rows, sizeof(rows) / sizeof((rows)[0]))
