/* value.h - the value tree: JSON and YAML as one model, and the server's central data structure.
 *
 * A value is 16 bytes; text and children lie in an arena (text may also lie in the parsed input,
 * which then must live as long). Field order is kept, duplicates can be seen, integers that fit
 * are exact 64-bit, every other number keeps its decimal text. Absent is a NULL pointer, null is
 * VALUE_NULL, zero is a number: three different things.
 *
 * Editing and sharing. A tree that was just parsed or built belongs to its maker and is edited in
 * place. value_share() makes a copy in O(1) that shares all children; from then on the first edit
 * of either side copies the array that it changes, one level at a time (copy-on-write). The one
 * rule: children are reached for editing only through the functions that take `struct value *`,
 * never by casting const away. Trees belong to one thread at a time. */
#pragma once

#include "base/arena.h"

enum value_type {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,    /* fits int64_t */
    VALUE_NUMBER, /* any other number, as valid JSON number text */
    VALUE_STRING, /* valid UTF-8 */
    VALUE_ARRAY,
    VALUE_OBJECT,
};

struct value_field;

struct value {
    uint8_t type;
    uint8_t flags;      /* private to value.c */
    uint16_t cap_class; /* private to value.c: how much room the array has */
    uint32_t n;         /* bytes of text, items, or fields */
    union {
        bool b;
        int64_t i;
        const char *text; /* VALUE_STRING and VALUE_NUMBER */
        struct value *items;
        struct value_field *fields;
    };
};

struct value_field {
    struct str key;
    struct value val;
};

/* Making. Text is borrowed; see arena_str() for a copy. */
static inline struct value value_null(void)
{
    return (struct value){ .type = VALUE_NULL };
}
static inline struct value value_bool(bool b)
{
    return (struct value){ .type = VALUE_BOOL, .b = b };
}
static inline struct value value_int(int64_t i)
{
    return (struct value){ .type = VALUE_INT, .i = i };
}
struct value value_number(struct str text); /* text must be a JSON number; picks INT when it fits */
static inline struct value value_string(struct str s)
{
    return (struct value){ .type = VALUE_STRING, .n = (uint32_t)s.n, .text = s.p };
}
static inline struct value value_array(void)
{
    return (struct value){ .type = VALUE_ARRAY };
}
static inline struct value value_object(void)
{
    return (struct value){ .type = VALUE_OBJECT };
}

/* Reading. All of these accept NULL (absent) and then return NULL, false or empty. */
static inline bool value_is(const struct value *v, enum value_type type)
{
    return v && v->type == type;
}
static inline bool value_is_true(const struct value *v)
{
    return value_is(v, VALUE_BOOL) && v->b;
}
const struct value *value_get(const struct value *obj, struct str key); /* first of that name */
const struct value *value_at(const struct value *arr, size_t i);
struct str value_str(const struct value *v); /* text of a string, else empty */
#define value_text(obj, lit) value_str(value_get((obj), STR(lit)))
bool value_to_int(const struct value *v, int64_t *ret);   /* an INT, else false */
bool value_to_double(const struct value *v, double *ret); /* INT or NUMBER */
/* value_dig(v, "metadata", "name"): value_get along a path of literals. */
const struct value *value_dig_path(const struct value *v, const char *const *path, size_t n);
#define value_dig(v, ...)                                     \
    value_dig_path((v), (const char *const[]){ __VA_ARGS__ }, \
                   sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* Same type and content; field order does not matter, item order does; 1 and 1.0 differ. */
bool value_eq(const struct value *a, const struct value *b);

/* `obj` and `arr` may be absent or of another type: then there is nothing to visit. */
#define value_each_field(f, obj)                                                     \
    for (const struct value *f##_of = (obj); f##_of && f##_of->type == VALUE_OBJECT; \
         f##_of = NULL)                                                              \
        for (const struct value_field *f = f##_of->fields,                           \
                                      *f##_end = f##_of->n ? f + f##_of->n : f;      \
             f != f##_end; f++)
#define value_each_item(it, arr)                                                       \
    for (const struct value *it##_of = (arr); it##_of && it##_of->type == VALUE_ARRAY; \
         it##_of = NULL)                                                               \
        for (const struct value *it = it##_of->items,                                  \
                                *it##_end = it##_of->n ? it + it##_of->n : it;         \
             it != it##_end; it++)

/* Copying. */
struct value value_share(struct value *v);        /* O(1), both sides copy on write from now on */
struct value value_borrow(const struct value *v); /* the same, where the original stays unedited */
bool value_is_shared(const struct value *v);      /* another value may have the same children */
/* Whether both are containers that share one array of children, or both have none. */
bool value_is_twin(const struct value *a, const struct value *b);
struct value value_clone(struct arena *a, const struct value *v); /* deep, text included */

/* Editing. The pointer returned is good until the next edit of the same container. A value that is
 * put into a tree moves there; to have it in two places, put in value_share() of it. */
struct value *value_edit(struct arena *a, struct value *obj, struct str key); /* NULL if absent */
struct value *value_edit_at(struct arena *a, struct value *arr, size_t i);
struct value *value_edit_nth(struct arena *a, struct value *obj, size_t i); /* field `i` */
/* Replaces in place or appends; the key is borrowed. Returns the stored value for further edits. */
struct value *value_set(struct arena *a, struct value *obj, struct str key, struct value v);
/* Appends without looking for the key: for building, and for readers that keep duplicates. */
struct value *value_add(struct arena *a, struct value *obj, struct str key, struct value v);
bool value_remove(struct arena *a, struct value *obj, struct str key); /* all of that name */
struct value *value_push(struct arena *a, struct value *arr, struct value v);
struct value *value_insert(struct arena *a, struct value *arr, size_t i, struct value v);
void value_remove_at(struct arena *a, struct value *arr, size_t i);

/* The same without a result. */
static inline void value_put(struct arena *a, struct value *obj, struct str key, struct value v)
{
    (void)value_set(a, obj, key, v);
}
static inline void value_put_new(struct arena *a, struct value *obj, struct str key, struct value v)
{
    (void)value_add(a, obj, key, v);
}
static inline void value_put_item(struct arena *a, struct value *arr, struct value v)
{
    (void)value_push(a, arr, v);
}
static inline void value_drop(struct arena *a, struct value *obj, struct str key)
{
    (void)value_remove(a, obj, key);
}
/* The object at `key`, made empty if it is absent or null; NULL if it is something else. */
struct value *value_ensure(struct arena *a, struct value *obj, struct str key);

/* Duplicate keys, which the readers keep. The path ("spec.containers[0].name") of the first key in
 * document order that repeats an earlier one of its object, or empty; work is near linear. */
struct str value_find_duplicate(struct arena *a, const struct value *v);
/* Leaves only the last field of each name, at every level, as Go's decoders do. */
void value_drop_duplicates(struct arena *a, struct value *v);
