/* defaults_check_test.h - what the tests of defaults share: tables of objects, each with one field
 * as it has to be afterwards. Every object is defaulted twice, which must not show. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/json.h"

struct row {
    const char *api_version, *kind;
    const char *body; /* without apiVersion and kind, and with ' for " */
    const char *path; /* steps between slashes; | is a slash in a key */
    const char *want; /* JSON with ' for ", or NULL: the field is not there */
};

static inline struct str unquoted(struct arena *a, const char *text, char from, char to)
{
    struct str s = arena_str(a, str_of(text));
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == from)
            ((char *)(uintptr_t)s.p)[i] = to;
    return s;
}

static inline struct value parse(struct arena *a, const char *text)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (json_read(a, unquoted(a, text, '\'', '"'), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

static inline struct value typed(struct arena *a, const struct kind_type *t, const struct value *in)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (typed_read(a, t, in, NULL, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

static inline struct value defaulted(struct arena *a, const char *api_version, const char *kind,
                                     const char *body)
{
    const struct kind_type *t = kind_find(str_of(api_version), str_of(kind));
    if (!t)
        fail_msg("there is no %s %s", api_version, kind);
    struct value in = parse(a, body), obj = typed(a, t, &in);
    defaults_apply(a, t, &obj);
    obj = typed(a, t, &obj);
    struct value again = value_clone(a, &obj);
    defaults_apply(a, t, &again);
    again = typed(a, t, &again);
    assert_true(value_eq(&obj, &again));
    return obj;
}

static inline const struct value *walk(struct arena *a, const struct value *v, const char *path)
{
    struct str rest = str_of(path);
    while (v && rest.p) {
        struct str step = str_cut(&rest, '/');
        uint64_t index;
        if (v->type == VALUE_ARRAY && str_to_u64(step, &index))
            v = value_at(v, index);
        else
            v = value_get(v, unquoted(a, str_cstr(a, step), '|', '/'));
    }
    return v;
}

static inline void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        const struct row *r = &rows[i];
        struct value obj = defaulted(&a, r->api_version, r->kind, r->body);
        const struct value *got = walk(&a, &obj, r->path);
        struct value want = r->want ? parse(&a, r->want) : value_null();
        bool good = r->want ? got && value_eq(got, &want) : !got;
        if (!good) {
            autobuf text = { 0 };
            json_write(&text, got ? got : &want);
            print_error("%s %s %s: %s is %s" STR_FMT ", not %s\n", r->api_version, r->kind, r->body,
                        r->path, got ? "" : "absent ", STR_ARG(buf_str(&text)),
                        r->want ? r->want : "absent");
        }
        assert_true(good);
        arena_done(&a);
    }
}

#define CHECK(rows) check((rows), sizeof(rows) / sizeof((rows)[0]))
