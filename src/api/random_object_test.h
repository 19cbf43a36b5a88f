/* random_object_test.h - objects that nobody would write, by the tables of their kinds: every field
 * may be there or not, of the right type or (unless `random_keeps_types`) of another. The same in
 * every run. */
#pragma once

#include "api/kind.h"
#include "base/value.h"

static bool random_keeps_types;

static inline uint32_t random_below(uint32_t n)
{
    static uint64_t state = 20260102;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static inline struct value random_text(const char *const *texts, uint32_t n)
{
    return value_string(str_of(texts[random_below(n)]));
}

/* A value of the field's type, seldom a good one. */
static inline struct value random_scalar(const struct kind_field *f)
{
    static const char *const texts[] = { "",      "a",     "a.b", "A_B",       "10.0.0.1",
                                         "::1/0", "/a/..", "In",  "0 0 1 1 *", "example.com/x" };
    static const char *const quantities[] = { "0", "1", "-1", "500m", "3Mi", "1n", "9E" };
    static const int64_t numbers[] = { 0, 1, -1, 80, 65536, INT32_MAX, INT32_MIN };
    switch (f->scalar) {
    case KIND_INT32:
    case KIND_INT64:
        return value_int(numbers[random_below(7)]);
    case KIND_BOOL:
        return value_bool(random_below(2));
    case KIND_DOUBLE:
        return value_number(STR("-1.5"));
    case KIND_BYTES:
        return value_string(STR("YQ=="));
    case KIND_TIME:
        return value_string(STR("2026-01-02T03:04:05Z"));
    case KIND_MICRO_TIME:
        return value_string(STR("2026-01-02T03:04:05.000006Z"));
    case KIND_DURATION:
        return value_string(STR("-1h"));
    case KIND_QUANTITY:
        return random_text(quantities, 7);
    case KIND_INT_OR_STRING:
        return random_below(2) ? value_int(numbers[random_below(7)]) : value_string(STR("101%"));
    case KIND_STRING:
        if (f->n_values && random_below(4))
            return value_string(f->values[random_below(f->n_values)]);
        return random_text(texts, 10);
    default:
        return random_below(2) ? value_object() : value_null();
    }
}

/* Any value at all; strings are now and then those that rules ask for. */
static inline struct value random_leaf(const struct kind_field *f)
{
    if (random_keeps_types)
        return random_scalar(f);
    static const char *const texts[] = {
        "", "RollingUpdate", "ClientIP", "LoadBalancer", "Container", "1u", "Webhook", "a:latest"
    };
    switch (random_below(9)) {
    case 0:
        return value_null();
    case 1:
        return value_bool(random_below(2));
    case 2:
        return value_int((int64_t)random_below(3) - 1);
    case 3:
        return value_array();
    case 4:
        return value_object();
    case 5:
        return value_number(STR("1.5"));
    case 6:
        if (f->n_values)
            return value_string(f->values[random_below(f->n_values)]);
        __attribute__((fallthrough));
    default:
        return value_string(str_of(texts[random_below(8)]));
    }
}

static inline struct value random_struct(struct arena *a, const struct kind_type *t,
                                         unsigned depth);

static inline struct value random_one(struct arena *a, const struct kind_field *f, unsigned depth)
{
    if (f->scalar == KIND_STRUCT && depth && random_below(8))
        return random_struct(a, f->type, depth - 1);
    return random_leaf(f);
}

static inline struct value random_value(struct arena *a, const struct kind_field *f, unsigned depth)
{
    if (f->shape == KIND_SINGLE || (!random_keeps_types && !random_below(8)))
        return random_one(a, f, depth);
    struct value v = f->shape == KIND_LIST ? value_array() : value_object();
    for (uint32_t n = random_below(4); n; n--) {
        struct str key = arena_printf(a, "%c", 'a' + (int)random_below(4)); /* in no order */
        if (f->shape == KIND_LIST)
            (void)value_push(a, &v, random_one(a, f, depth));
        else
            (void)value_add(a, &v, key, random_one(a, f, depth));
    }
    return v;
}

static inline void add_random_fields(struct arena *a, const struct kind_type *t, unsigned depth,
                                     struct value *obj)
{
    for (size_t i = 0; i < t->n_fields; i++)
        if (t->fields[i].flags & KIND_INLINE)
            add_random_fields(a, t->fields[i].type, depth, obj);
        else if (random_below(3))
            (void)value_add(a, obj, t->fields[i].name, random_value(a, &t->fields[i], depth));
}

static inline struct value random_struct(struct arena *a, const struct kind_type *t, unsigned depth)
{
    struct value obj = value_object();
    add_random_fields(a, t, depth, &obj);
    return obj;
}
