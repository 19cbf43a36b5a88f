/* trees_test.h - what the tests of this folder share: trees from text, and a seeded source of
 * random ones. Include it after cmocka.h. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/json.h"

static struct arena arena;

static inline int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

/* Single quotes stand for double ones. */
static inline struct str quoted(const char *text)
{
    struct str copy = arena_str(&arena, str_of(text));
    for (size_t i = 0; i < copy.n; i++)
        if (copy.p[i] == '\'')
            ((char *)copy.p)[i] = '"';
    return copy;
}

static inline struct value tree_of(struct str text)
{
    struct value v;
    struct err err = ERR_INIT(&arena);
    if (json_read(&arena, text, NULL, &v, &err) < 0) {
        printf(STR_FMT ": " STR_FMT "\n", STR_ARG(err.msg), STR_ARG(text));
        abort();
    }
    return v;
}

static inline struct value tree(const char *text)
{
    return tree_of(quoted(text));
}

static inline struct str text_of(const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    return arena_str(&arena, buf_str(&out));
}

/* Knuth's linear generator; its high bits are good enough. */
static inline size_t random_below(uint64_t *seed, size_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return n ? (size_t)(*seed >> 33) % n : 0;
}
