/* Every built-in type: random objects as the server would have read them become structs, and the
 * same objects again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/random/random_object.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "client/bridge.h"
#include "generate/names.h"
#include "gen_builtin_headers.h"

enum { SEEDS = 40, DEPTH = 4 };

static const struct spn_struct *const tables[] = {
#undef SPN_TYPED
#define SPN_TYPED(name) &name##_table,
#include "gen_builtin_rows.h"
};

/* The built-in type that a struct stands for. */
static const struct kind_type *type_of(struct arena *a, const char *name)
{
    for (size_t i = 0; i < n_kind_types; i++) {
        const struct kind_type *t = &kind_types[i];
        struct str prefix = names_version_prefix(a, t->group, t->version);
        const char *more = str_ends(t->name, STR("List")) ? "_object" : "";
        struct str full = arena_printf(a, STR_FMT "_" STR_FMT "%s", STR_ARG(prefix),
                                       STR_ARG(names_snake(a, t->name)), more);
        if (str_eq(full, str_of(name)))
            return t;
    }
    fail_msg("there is no type for struct %s", name);
    return NULL;
}

static void check_value(struct arena *a, const struct spn_struct *table, const struct value *v,
                        uint64_t seed)
{
    struct spn_err err;
    void *s;
    if (spn_typed_decode(table, arena_out(a), value_out(v), &s, &err) < 0)
        fail_msg("%s, seed %lu: %s", table->name, (unsigned long)seed, err.message);
    struct spn_value *back = spn_typed_encode(table, arena_out(a), s);
    if (!value_eq(v, value_in(back)))
        fail_msg("%s, seed %lu:\n%s\n%s", table->name, (unsigned long)seed,
                 spn_value_json(arena_out(a), value_out(v)).p,
                 spn_value_json(arena_out(a), back).p);
    assert_true(spn_typed_equal(table, s, spn_typed_copy(table, arena_out(a), s)));
    void *empty;
    assert_int_equal(spn_typed_decode(table, arena_out(a), NULL, &empty, &err), 0);
    assert_int_equal(spn_typed_equal(table, s, empty), v->n == 0);
}

static void random_objects_come_back(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const struct kind_type *t = type_of(&a, tables[i]->name);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct random r = { .seed = seed * 1000 + i };
            struct value v;
            arena_reset(&a);
            assert_true(random_typed(&r, &a, t, DEPTH, &v));
            check_value(&a, tables[i], &v, seed);
        }
    }
    arena_done(&a);
}

/* Nothing of a built-in type is merely kept: the struct knows every field. */
static void structs_know_every_field(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            arena_reset(&a);
            struct random r = { .seed = seed };
            struct value v;
            void *s;
            const struct kind_type *t = type_of(&a, tables[i]->name);
            assert_true(random_typed(&r, &a, t, 2, &v));
            assert_int_equal(spn_typed_decode(tables[i], arena_out(&a), value_out(&v), &s, NULL),
                             0);
            const struct value *rest =
                value_in(*(struct spn_value **)((char *)s + tables[i]->rest));
            value_each_field (f, rest) {
                if (f->val.type != VALUE_NULL)
                    fail_msg("%s does not know " STR_FMT, tables[i]->name, STR_ARG(f->key));
            }
        }
    arena_done(&a);
}

static void all_of_them_are_there(void **state)
{
    (void)state;
    assert_true(ARRAY_LEN(tables) > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_them_are_there),
        cmocka_unit_test(random_objects_come_back),
        cmocka_unit_test(structs_know_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
