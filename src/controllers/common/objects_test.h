/* objects_test.h - objects from a few words, for tables of tests. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "controllers/common/times.h"
#include <sampan/value.h>

static inline struct spn_value *read_yaml(struct spn_arena *a, const char *text)
{
    struct spn_value *v;
    struct spn_err err = { 0 };
    assert_int_equal(spn_value_read_yaml(a, spn_text_of(text), &v, &err), 0);
    return v;
}

static inline struct spn_value *read_json(struct spn_arena *a, const char *text)
{
    struct spn_value *v;
    struct spn_err err = { 0 };
    assert_int_equal(spn_value_read_json(a, spn_text_of(text), &v, &err), 0);
    return v;
}

static inline int64_t moment(struct spn_arena *a, const char *text)
{
    int64_t ns;
    assert_true(time_read(spn_value_new_text(a, spn_text_of(text)), &ns));
    return ns;
}

static inline bool is_text(struct spn_text t, const char *want)
{
    return spn_text_eq(t, spn_text_of(want));
}

static inline void assert_text(struct spn_arena *a, struct spn_text t, const char *want)
{
    assert_string_equal(spn_arena_printf(a, SPN_FMT, SPN_ARG(t)).p, want);
}
