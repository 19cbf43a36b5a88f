#include "api/suite_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/json.h"

struct str suite_swap(struct arena *a, struct str text, char from, char to)
{
    char *copy = arena_dup(a, text.p, text.n);
    for (size_t i = 0; i < text.n; i++)
        copy[i] = copy[i] == from ? to : copy[i];
    return (struct str){ copy, text.n };
}

struct value suite_json(struct arena *a, const char *text)
{
    struct value v = value_null();
    struct err err = ERR_INIT(a);
    if (json_read(a, suite_swap(a, str_of(text), '\'', '"'), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

const struct value *suite_json_at(struct arena *a, const struct value *v, const char *path)
{
    struct str rest = str_of(path);
    while (v && rest.p) {
        struct str step = str_cut(&rest, '/');
        uint64_t index;
        if (v->type == VALUE_ARRAY && str_to_u64(step, &index))
            v = value_at(v, index);
        else
            v = value_get(v, suite_swap(a, step, '|', '/'));
    }
    return v;
}

void suite_json_same(const struct value *got, const struct value *want, const char *about)
{
    autobuf x = { 0 }, y = { 0 };
    json_write(&x, got);
    json_write(&y, want);
    if (!value_eq(got, want))
        fail_msg("%s\n got: " STR_FMT "\nwant: " STR_FMT, about, STR_ARG(buf_str(&x)),
                 STR_ARG(buf_str(&y)));
}

struct arena suite_arena;

int suite_arena_set_up(void **state)
{
    (void)state;
    arena_init(&suite_arena);
    return 0;
}

int suite_arena_tear_down(void **state)
{
    (void)state;
    arena_done(&suite_arena);
    return 0;
}
