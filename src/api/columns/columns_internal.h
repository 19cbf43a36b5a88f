/* columns_internal.h - one row in the making, and the words that several kinds print alike.
 *
 * Rules look at trees that anybody may have written: a field of another type counts as absent. */
#pragma once

#include "api/columns/columns.h"
#include "api/go/gotime.h"

struct row {
    struct arena *arena;
    const struct kind_resource *resource;
    const struct value *obj;
    int64_t now_ns;
    struct value cells;
};

/* How one kind is shown, of whatever version; all but `print` may be NULL. */
struct columns_rule {
    struct str group, kind;
    void (*print)(struct row *row); /* makes the cells */
    /* Conditions of the row, an array or null. */
    struct value (*conditions)(struct arena *a, const struct value *obj);
    /* Of a list as a whole: the order of its objects, for qsort(), and what is changed in the cells
     * of all. */
    int (*compare)(const void *a, const void *b);
    void (*mark)(struct arena *a, const struct value *const *objs, size_t n, struct value *cells);
};

/* One list a file, named columns_NAME_rules and ended by a rule without `print`. A new file is a
 * name here. */
/* clang-format off */
#define COLUMNS_RULE_LISTS(list)                                                     \
    list(pod) list(workload) list(autoscaler) list(network) list(storage) list(core) \
    list(extension) list(access)
/* clang-format on */

#define COLUMNS_DECLARE(name) extern const struct columns_rule columns_##name##_rules[];
COLUMNS_RULE_LISTS(COLUMNS_DECLARE)
#undef COLUMNS_DECLARE

/* A sentence on the column, never empty. */
struct str columns_help(struct str kind, struct str column);

/* What a field of the row's object says. */
#define row_at(row, ...)   value_dig((row)->obj, __VA_ARGS__)
#define row_text(row, ...) value_str(row_at(row, __VA_ARGS__))
#define row_int(row, ...)  columns_int(row_at(row, __VA_ARGS__))

/* Adding cells, from left to right. */
void columns_row_add(struct row *row, struct str text);
void columns_row_add_int(struct row *row, int64_t n);
void columns_row_add_bool(struct row *row, bool b);
void columns_row_add_name(struct row *row);
void columns_row_add_age(struct row *row);
/* Two cells: the names and the images of the containers of a pod's spec. */
void columns_row_add_containers(struct row *row, const struct value *pod_spec);

/* Neither absent nor null: a pointer that is set. */
static inline bool columns_is_set(const struct value *v)
{
    return v && v->type != VALUE_NULL;
}

static inline struct str columns_or(struct str text, struct str when_empty)
{
    return text.n ? text : when_empty;
}

int64_t columns_int(const struct value *v);   /* 0 if it is none */
int64_t columns_int32(const struct value *v); /* the same, and safe to add up */
bool columns_bool(const struct value *v);     /* false if it is none */
size_t columns_count(const struct value *v);  /* items of a list, or fields of an object */
/* The first item of that `type`, or NULL. */
const struct value *columns_of_type(const struct value *list, struct str type);
bool columns_is_true(const struct value *condition); /* its `status` is "True" */

/* Texts; made in the arena. */
#define columns_cat(arena, ...)                                   \
    columns_cat_all((arena), (const struct str[]){ __VA_ARGS__ }, \
                    sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))
struct str columns_cat_all(struct arena *a, const struct str *pieces, size_t n);
struct str columns_number(struct arena *a, int64_t n);
struct str columns_lower(struct arena *a, struct str s); /* ASCII letters */
struct str columns_trim(struct str s);                   /* of all that Unicode calls space */
/* In canonical form; `when_unset` if it is neither a text nor a number. */
struct str columns_quantity(struct arena *a, const struct value *v, struct str when_unset);
struct str columns_int_or_string(struct arena *a, const struct value *v);
/* "widgets.example.com", or "pods" in the core group. */
struct str columns_with_group(struct arena *a, struct str name, struct str group);

/* Times and durations, as short as people like them. */
bool columns_time(const struct value *v, struct gotime *ret); /* false if it is not set */
int64_t columns_between_ns(struct gotime from, struct gotime to);
struct str columns_duration(struct arena *a, int64_t ns);
struct str columns_since(const struct row *row, struct gotime t);
struct str columns_age(const struct row *row, const struct value *time); /* or "<unknown>" */
struct str columns_date(struct arena *a, const struct value *time);      /* RFC 3339 */

/* "a=1,b=2", or "<none>". */
struct str columns_labels(struct arena *a, const struct value *map);
/* A LabelSelector in the syntax of kubectl's -l. */
struct str columns_selector(struct arena *a, const struct value *selector, struct str when_empty,
                            struct str when_wrong);

/* A list of texts; all zero but for the arena it is empty. */
struct texts {
    struct arena *arena;
    struct str *list;
    size_t n, cap;
};
void columns_texts_add(struct texts *t, struct str s);
void columns_texts_add_all(struct texts *t, const struct value *strings);
void columns_texts_sort(struct texts *t);
void columns_texts_drop_repeats(struct texts *t); /* of a sorted list */
struct str columns_texts_join(const struct texts *t, struct str separator);
/* The first `max`, and how many more there are when `count` is larger: "a,b + 3 more...". */
struct str columns_texts_join_some(const struct texts *t, size_t max, size_t count,
                                   struct str separator);
