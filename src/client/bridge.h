/* bridge.h - the library's public types and the ones of src/base that they are. For this folder,
 * and for programs of this tree that use rules of the floors below beside the library.
 *
 * Public names are opaque, or laid out like ours, so that going over costs nothing. */
#pragma once

#include "base/err.h"
#include "base/value.h"
#include <sampan/value.h>

_Static_assert(sizeof(struct spn_text) == sizeof(struct str), "text is text");

static inline struct str str_in(struct spn_text t)
{
    return (struct str){ t.p, t.n };
}

static inline struct spn_text text_out(struct str s)
{
    return (struct spn_text){ s.p, s.n };
}

static inline struct arena *arena_in(struct spn_arena *a)
{
    return (struct arena *)a;
}

static inline struct spn_arena *arena_out(struct arena *a)
{
    return (struct spn_arena *)a;
}

static inline const struct value *value_in(const struct spn_value *v)
{
    return (const struct value *)v;
}

static inline const struct spn_value *value_out(const struct value *v)
{
    return (const struct spn_value *)v;
}

/* The same of trees that may be changed. */
static inline struct value *value_in_edit(struct spn_value *v)
{
    return (struct value *)v;
}

static inline struct spn_value *value_out_edit(struct value *v)
{
    return (struct spn_value *)v;
}

/* Turns an error of a lower floor into one of the library. Returns -code. */
int err_out(struct spn_err *ret, const struct err *err, enum spn_code code);
