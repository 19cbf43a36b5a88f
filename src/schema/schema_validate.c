/* Values against the rules of a schema. The order of checks, what is said when a choice between
 * schemas fails (the faults of the one that came closest) and the words are upstream's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "schema/schema.h"
#include "schema/schema_fields.h"
#include "schema/schema_format.h"
#include "schema/schema_lists.h"

#include "base/banned.h"

struct fault {
    struct fault *next;
    enum field_error_type type;
    struct str path;           /* empty: the root */
    struct str message;        /* after the shown value */
    const struct value *shown; /* with `is_shown` */
    struct str shown_text;     /* shown in quotes instead */
    const struct value *values;
    int64_t max; /* TOO_LONG, TOO_MANY */
    size_t count;
    bool is_shown, has_no_path;
    bool is_complete; /* the message tells the path itself */
};

/* What a value's check gave. `score` counts what went well, to find the schema that came
 * closest. */
struct result {
    struct fault *first, *last;
    size_t n, score;
};

/* Faults of schemas that were not chosen are made in vain; past this many nobody would read more.
 */
enum { FAULTS_MAX = 20 * LIMIT_FIELD_ERRORS };

struct checker {
    struct arena *a;
    size_t made;
    struct fault spare; /* what is not kept is written here */
};

static struct result check(struct checker *c, const struct schema *s, const struct field_path *path,
                           const struct value *v, const struct value *old);

static struct fault *add(struct checker *c, struct result *r, enum field_error_type type,
                         const struct field_path *path)
{
    r->n++;
    c->spare = (struct fault){ 0 };
    if (c->made++ >= FAULTS_MAX)
        return &c->spare;
    struct fault *f = arena_new(c->a, struct fault);
    f->type = type;
    f->path = path ? field_path_text(c->a, path) : STR("");
    if (r->last)
        r->last->next = f;
    else
        r->first = f;
    r->last = f;
    return f;
}

static void merge(struct result *into, const struct result *from)
{
    into->n += from->n;
    into->score += from->score;
    if (!from->first)
        return;
    if (into->last)
        into->last->next = from->first;
    else
        into->first = from->first;
    into->last = from->last;
}

/* ---- Types ---- */

struct kind_of_value {
    unsigned type; /* enum schema_type; 0: null */
    const char *name, *format;
};

static struct kind_of_value kind_of(const struct value *v)
{
    switch (v->type) {
    case VALUE_BOOL:
        return (struct kind_of_value){ SCHEMA_BOOLEAN, "boolean", "" };
    case VALUE_INT:
        return (struct kind_of_value){ SCHEMA_INTEGER, "integer", "int64" };
    case VALUE_NUMBER:
        return (struct kind_of_value){ SCHEMA_NUMBER, "number", "float64" };
    case VALUE_STRING:
        return (struct kind_of_value){ SCHEMA_STRING, "string", "" };
    case VALUE_ARRAY:
        return (struct kind_of_value){ SCHEMA_ARRAY, "array", "" };
    case VALUE_OBJECT:
        return (struct kind_of_value){ SCHEMA_OBJECT, "object", "" };
    default:
        return (struct kind_of_value){ 0, "null", "" };
    }
}

static struct str type_names(unsigned types)
{
    switch (types) {
    case SCHEMA_OBJECT:
        return STR("object");
    case SCHEMA_ARRAY:
        return STR("array");
    case SCHEMA_STRING:
        return STR("string");
    case SCHEMA_INTEGER:
        return STR("integer");
    case SCHEMA_NUMBER:
        return STR("number");
    case SCHEMA_BOOLEAN:
        return STR("boolean");
    default:
        return STR("integer,string");
    }
}

static void add_wrong_type(struct checker *c, struct result *r, const struct field_path *path,
                           struct str wanted, struct str got)
{
    struct fault *f = add(c, r, FIELD_TYPE_INVALID, path);
    f->is_shown = true;
    f->shown_text = got;
    f->message = wanted;
}

/* A double without a fraction counts as an integer. */
static bool is_whole(const struct value *v)
{
    double d;
    return v->type == VALUE_NUMBER && value_to_double(v, &d) && fabs(d) < 9007199254740992.0 &&
           d == trunc(d);
}

static void check_type(struct checker *c, struct result *r, const struct schema *s,
                       const struct field_path *path, const struct value *v)
{
    struct kind_of_value k = kind_of(v);
    const struct schema_format *format = s->rules ? s->rules->format : NULL;
    if (k.type == 0) {
        if (s->types && !(s->flags & SCHEMA_NULLABLE))
            add_wrong_type(c, r, path, type_names(s->types), STR("null"));
        else
            r->score++;
        return;
    }
    if (!s->types && !format)
        return;
    bool numeric = s->types & (SCHEMA_NUMBER | SCHEMA_INTEGER);
    bool fits = s->types & k.type || (is_whole(v) && s->types & SCHEMA_INTEGER) ||
                (k.type == SCHEMA_INTEGER && s->types & SCHEMA_NUMBER);
    bool text_or_list = k.type == SCHEMA_STRING || k.type == SCHEMA_ARRAY;
    if (format && !text_or_list && !fits && !str_eq(s->rules->format_name, str_of(k.format)))
        add_wrong_type(c, r, path, s->rules->format_name, str_of(k.format));
    else if (!(format && text_or_list && !numeric) && !fits)
        add_wrong_type(c, r, path, type_names(s->types), str_of(k.name));
    else
        r->score++;
}

/* ---- Choices between schemas ---- */

static void check_any_of(struct checker *c, struct result *r, const struct schema_choice *choice,
                         const struct field_path *path, const struct value *v,
                         const struct value *old)
{
    struct result best = { 0 };
    bool has_best = false, good = false;
    for (size_t i = 0; i < choice->n && !good; i++) {
        struct result one = check(c, choice->of[i], path, v, old);
        good = one.n == 0;
        if (good || !has_best || one.score > best.score)
            best = one;
        has_best = true;
    }
    if (!choice->n)
        return;
    if (!good)
        add(c, r, FIELD_INVALID, path)->message = STR("must validate at least one schema (anyOf)");
    merge(r, &best);
}

static void check_one_of(struct checker *c, struct result *r, const struct schema_choice *choice,
                         const struct field_path *path, const struct value *v,
                         const struct value *old)
{
    struct result best = { 0 }, first_good = { 0 };
    bool has_best = false;
    size_t n = 0;
    for (size_t i = 0; i < choice->n; i++) {
        struct result one = check(c, choice->of[i], path, v, old);
        if (one.n == 0) {
            if (n++ == 0)
                first_good = one;
        } else if (n == 0 && (!has_best || one.score > best.score)) {
            best = one;
            has_best = true;
        }
    }
    if (n == 1 || !choice->n) {
        merge(r, &first_good);
        return;
    }
    struct str found =
        n == 0 ? STR("Found none valid") : arena_printf(c->a, "Found %zu valid alternatives", n);
    add(c, r, FIELD_INVALID, path)->message = arena_printf(
        c->a, "must validate one and only one schema (oneOf). " STR_FMT, STR_ARG(found));
    if (n == 0)
        merge(r, &best);
}

static void check_all_of(struct checker *c, struct result *r, const struct schema_choice *choice,
                         const struct field_path *path, const struct value *v,
                         const struct value *old)
{
    size_t good = 0;
    for (size_t i = 0; i < choice->n; i++) {
        struct result one = check(c, choice->of[i], path, v, old);
        good += one.n == 0;
        merge(r, &one);
    }
    if (good != choice->n)
        add(c, r, FIELD_INVALID, path)->message =
            good ? STR("must validate all the schemas (allOf)")
                 : STR("must validate all the schemas (allOf). None validated");
}

static void check_choices(struct checker *c, struct result *r, const struct schema_rules *rules,
                          const struct field_path *path, const struct value *v,
                          const struct value *old)
{
    r->score++;
    if (!rules)
        return;
    check_any_of(c, r, &rules->any_of, path, v, old);
    check_one_of(c, r, &rules->one_of, path, v, old);
    check_all_of(c, r, &rules->all_of, path, v, old);
    if (rules->not_this && check(c, rules->not_this, path, v, old).n == 0)
        add(c, r, FIELD_INVALID, path)->message = STR("must not validate the schema (not)");
}

/* ---- Strings ---- */

static int64_t count_chars(struct str s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += (s.p[i] & 0xC0) != 0x80;
    return n;
}

static void add_shown(struct checker *c, struct result *r, const struct field_path *path,
                      const struct value *v, struct str message)
{
    struct fault *f = add(c, r, FIELD_INVALID, path);
    f->is_shown = true;
    f->shown = v;
    f->message = message;
}

static void check_string(struct checker *c, struct result *r, const struct schema_rules *rules,
                         const struct field_path *path, const struct value *v)
{
    struct str text = value_str(v);
    bool counts = rules->max_length != SCHEMA_NO_LIMIT || rules->min_length != SCHEMA_NO_LIMIT;
    int64_t n = counts ? count_chars(text) : 0;
    if (rules->max_length != SCHEMA_NO_LIMIT && n > rules->max_length)
        add(c, r, FIELD_TOO_LONG, path)->max = rules->max_length;
    else if (rules->min_length != SCHEMA_NO_LIMIT && n < rules->min_length)
        add_shown(
            c, r, path, v,
            arena_printf(c->a, "should be at least %lld chars long", (long long)rules->min_length));
    else if (rules->pattern.n && !rules->regexp)
        add_shown(c, r, path, v,
                  arena_printf(c->a,
                               "should match '" STR_FMT ", but pattern is invalid: " STR_FMT "'",
                               STR_ARG(rules->pattern), STR_ARG(rules->regexp_fault)));
    else if (rules->pattern.n && !regexp_match(rules->regexp, text, c->a->allowance))
        add_shown(c, r, path, v,
                  arena_printf(c->a, "should match '" STR_FMT "'", STR_ARG(rules->pattern)));
}

static void check_format(struct checker *c, struct result *r, const struct schema_rules *rules,
                         const struct field_path *path, const struct value *v)
{
    r->score += 2; /* the check itself, and that there was one */
    if (!schema_format_fits(c->a, rules->format, rules->format_pattern, value_str(v)))
        add_wrong_type(c, r, path, rules->format_name, value_str(v));
}

/* ---- Numbers ---- */

static bool is_in_int64(double d)
{
    return d >= -9223372036854775808.0 && d < 9223372036854775808.0;
}

/* Whether the type and format of the schema have such a number. */
static bool has_number(const struct schema *s, struct str format, double d)
{
    if (s->types == SCHEMA_INTEGER && (d != trunc(d) || !is_in_int64(d)))
        return false;
    if (str_eq(format, STR("int32")))
        return d >= INT32_MIN && d <= INT32_MAX;
    if (str_eq(format, STR("float")))
        return fabs(d) <= 3.40282356779733642747073463979561713663e38;
    return true;
}

/* The value, or a bound of it, that the type does not have. That fault has no path, only words. */
static bool check_range(struct checker *c, struct result *r, const struct schema *s,
                        const struct field_path *path, double d, const char *what)
{
    struct str format = s->rules && s->rules->format ? s->rules->format_name : STR("");
    if (has_number(s, format, d))
        return true;
    struct str type = type_names(s->types), at = path ? field_path_text(c->a, path) : STR("");
    struct str kind = format.n ? arena_printf(c->a, "with format " STR_FMT, STR_ARG(format))
                               : STR("(default format)");
    struct fault *f = add(c, r, FIELD_INVALID, path);
    f->has_no_path = true;
    f->message = arena_printf(c->a, "%s value must be of type " STR_FMT " " STR_FMT " in " STR_FMT,
                              what, STR_ARG(type), STR_ARG(kind), STR_ARG(at));
    return false;
}

/* Beside integers a bound is cut to one, if the type has it at all. */
struct limit {
    double value;
    bool is_cut;
};

static struct limit limit_of(struct checker *c, struct result *r, const struct schema *s,
                             const struct field_path *path, const struct value *v, double bound,
                             const char *what)
{
    bool is_cut = check_range(c, r, s, path, bound, what) && v->type == VALUE_INT;
    return (struct limit){ is_cut ? trunc(bound) : bound, is_cut };
}

/* The fewest digits that read back, as Go's %v has them. */
static struct str double_text(struct arena *a, double d)
{
    char text[40];
    int precision = 0;
    do
        (void)snprintf(text, sizeof(text), "%.*e", precision, d);
    while (strtod(text, NULL) != d && precision++ < 16);
    long exponent = strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent > 5)
        return arena_printf(a, "%s", text);
    int decimals = precision > exponent ? precision - (int)exponent : 0;
    return arena_printf(a, "%.*f", decimals, d);
}

static struct str limit_text(struct arena *a, struct limit l)
{
    return l.is_cut && fabs(l.value) < 0x1p63 ? arena_printf(a, "%lld", (long long)l.value)
                                              : double_text(a, l.value);
}

/* Below 0, equal or above, of a value and what it is compared with. */
static int compare_number(const struct value *v, struct limit l)
{
    double d = 0;
    (void)value_to_double(v, &d);
    if (l.is_cut && fabs(l.value) < 0x1p63)
        return (v->i > (int64_t)l.value) - (v->i < (int64_t)l.value);
    return (d > l.value) - (d < l.value);
}

static void check_bound(struct checker *c, struct result *r, const struct schema *s, bool is_max,
                        const struct field_path *path, const struct value *v)
{
    const struct schema_bound *b = is_max ? &s->rules->maximum : &s->rules->minimum;
    if (!b->is_set)
        return;
    struct limit l =
        limit_of(c, r, s, path, v, b->value, is_max ? "Maximum boundary" : "Minimum boundary");
    int order = compare_number(v, l);
    if (is_max ? order < 0 : order > 0)
        return;
    if (order == 0 && !b->exclusive)
        return;
    const char *words = is_max ? (b->exclusive ? "less than" : "less than or equal to")
                               : (b->exclusive ? "greater than" : "greater than or equal to");
    struct str text = limit_text(c->a, l);
    add_shown(c, r, path, v, arena_printf(c->a, "should be %s " STR_FMT, words, STR_ARG(text)));
}

static bool is_multiple(const struct value *v, struct limit l)
{
    if (l.is_cut && l.value < 0x1p63)
        return v->i % (int64_t)l.value == 0;
    double d = 0;
    (void)value_to_double(v, &d);
    double times = l.value < 1 ? 1 / l.value * d : d / l.value;
    return times == trunc(times) || fabs(times - round(times)) < 1e-9 * fabs(times);
}

static void check_multiple(struct checker *c, struct result *r, const struct schema *s,
                           const struct field_path *path, const struct value *v)
{
    const struct schema_bound *b = &s->rules->multiple_of;
    if (!b->is_set)
        return;
    struct limit l = limit_of(c, r, s, path, v, b->value, "MultipleOf");
    struct str text = limit_text(c->a, l);
    if (l.value <= 0) {
        struct str at = path ? field_path_text(c->a, path) : STR("");
        struct value *factor = arena_new(c->a, struct value);
        *factor = value_number(text);
        struct fault *f = add(c, r, FIELD_INVALID, path);
        f->is_shown = f->is_complete = true;
        f->shown = factor;
        f->message = arena_printf(
            c->a, "factor MultipleOf declared for " STR_FMT " must be positive: " STR_FMT,
            STR_ARG(at), STR_ARG(text));
    } else if (!is_multiple(v, l)) {
        add_shown(c, r, path, v,
                  arena_printf(c->a, "should be a multiple of " STR_FMT, STR_ARG(text)));
    }
}

static void check_number(struct checker *c, struct result *r, const struct schema *s,
                         const struct field_path *path, const struct value *v)
{
    double d = 0;
    r->score++;
    (void)value_to_double(v, &d);
    if (v->type == VALUE_INT)
        d = fmin(d, 0x1.fffffffffffffp62); /* the greatest integer becomes one too much */
    (void)check_range(c, r, s, path, d, "Checked");
    if (!s->rules)
        return;
    check_multiple(c, r, s, path, v);
    check_bound(c, r, s, false, path, v);
    check_bound(c, r, s, true, path, v);
}

/* ---- Lists and objects ---- */

/* A fault in a part that did not change is forgiven. */
static void check_part(struct checker *c, struct result *r, const struct schema *s,
                       const struct field_path *path, const struct value *v,
                       const struct value *old)
{
    struct result part = check(c, s, path, v, old);
    if (part.n && old && value_eq(v, old))
        part = (struct result){ .score = part.score };
    merge(r, &part);
}

static void check_list(struct checker *c, struct result *r, const struct schema *s,
                       const struct field_path *path, const struct value *v,
                       const struct value *old)
{
    struct schema_old_items olds = { .arena = c->a, .list = s, .old = old };
    for (size_t i = 0; s->items && i < v->n; i++) {
        struct field_path here = field_index(path, i);
        check_part(c, r, s->items, &here, value_at(v, i), schema_old_item(&olds, v, i));
    }
    r->score++;
    if (!s->rules)
        return;
    int64_t n = v->n;
    if (s->rules->min_items != SCHEMA_NO_LIMIT && n < s->rules->min_items) {
        struct value *count = arena_new(c->a, struct value);
        *count = value_int(n);
        add_shown(
            c, r, path, count,
            arena_printf(c->a, "should have at least %lld items", (long long)s->rules->min_items));
    }
    if (s->rules->max_items != SCHEMA_NO_LIMIT && n > s->rules->max_items) {
        struct fault *f = add(c, r, FIELD_TOO_MANY, path);
        f->max = s->rules->max_items;
        f->count = v->n;
    }
    if (s->rules->unique_items && schema_has_repeated(c->a, v))
        add_shown(c, r, path, NULL, STR("shouldn't contain duplicates"));
}

static void check_sizes(struct checker *c, struct result *r, const struct schema_rules *rules,
                        const struct field_path *path, const struct value *v)
{
    int64_t n = v->n;
    if (rules->min_properties != SCHEMA_NO_LIMIT && n < rules->min_properties) {
        struct value *count = arena_new(c->a, struct value);
        *count = value_int(n);
        add_shown(c, r, path, count,
                  arena_printf(c->a, "should have at least %lld properties",
                               (long long)rules->min_properties));
    }
    if (rules->max_properties != SCHEMA_NO_LIMIT && n > rules->max_properties) {
        struct fault *f = add(c, r, FIELD_TOO_MANY, path);
        f->max = rules->max_properties;
        f->count = v->n;
    }
}

/* The old value of a field that both have. */
static const struct value *old_field(struct schema_fields *old, struct str name, bool root)
{
    bool type_meta = root && (str_eq(name, STR("kind")) || str_eq(name, STR("apiVersion")));
    return type_meta ? NULL : schema_fields_get(old, name);
}

static void check_object(struct checker *c, struct result *r, const struct schema *s,
                         const struct field_path *path, const struct value *v,
                         const struct value *old)
{
    struct schema_fields fields = { .arena = c->a, .obj = v }, olds = { .arena = c->a, .obj = old };
    if (s->rules)
        check_sizes(c, r, s->rules, path, v);
    value_each_field (f, v) {
        struct field_path here = field_child(path, f->key);
        const struct schema *property = schema_property(s, f->key);
        if (!property && s->flags & SCHEMA_CLOSED) {
            struct fault *fault = add(c, r, FIELD_INVALID, path);
            fault->is_shown = fault->is_complete = true;
            fault->shown_text = f->key;
            fault->message = arena_printf(c->a, STR_FMT " in body is a forbidden property",
                                          STR_ARG(field_path_text(c->a, &here)));
        } else if (!property && s->additional) {
            check_part(c, r, s->additional, &here, &f->val, old_field(&olds, f->key, !path));
        }
    }
    for (uint32_t i = 0; i < s->n_properties; i++) {
        const struct schema_property *p = &s->properties[i];
        const struct value *field = schema_fields_get(&fields, p->name);
        struct field_path here = field_child(path, p->name);
        if (field)
            check_part(c, r, p->schema, &here, field, old_field(&olds, p->name, !path));
    }
    for (size_t i = 0; s->rules && i < s->rules->n_required; i++) {
        struct field_path here = field_child(path, s->rules->required[i]);
        if (!schema_fields_get(&fields, s->rules->required[i]))
            add(c, r, FIELD_REQUIRED, &here);
    }
}

/* ---- All of it ---- */

static void check_enum(struct checker *c, struct result *r, const struct schema_rules *rules,
                       const struct field_path *path, const struct value *v)
{
    if (schema_is_one_of(rules, v))
        return;
    struct fault *f = add(c, r, FIELD_NOT_SUPPORTED, path);
    f->is_shown = true;
    f->shown = v;
    f->values = rules->values;
}

static struct result check(struct checker *c, const struct schema *s, const struct field_path *path,
                           const struct value *v, const struct value *old)
{
    struct result r = { 0 };
    const struct schema_rules *rules = s->rules;
    if (arena_spent(c->a)) /* field_errors_report() says so */
        return r;
    bool is_null = v->type == VALUE_NULL;
    check_type(c, &r, s, path, v);
    if (!is_null) {
        check_choices(c, &r, rules, path, v, old);
        r.score += 3 + (s->types || (rules && rules->format)) + (v->type != VALUE_BOOL);
    }
    if (v->type == VALUE_STRING && rules) {
        check_string(c, &r, rules, path, v);
        if (rules->format && schema_format_is_text(rules->format))
            check_format(c, &r, rules, path, v);
    }
    if (v->type == VALUE_INT || v->type == VALUE_NUMBER)
        check_number(c, &r, s, path, v);
    if (v->type == VALUE_ARRAY)
        check_list(c, &r, s, path, v, old);
    if (rules && rules->values)
        check_enum(c, &r, rules, path, v);
    if (v->type == VALUE_OBJECT)
        check_object(c, &r, s, path, v, old);
    return r;
}

static void report_not_supported(struct field_errors *e, const struct field_path *path,
                                 struct str shown, const struct value *values)
{
    struct str *texts = arena_array(e->arena, struct str, values->n);
    size_t n = 0;
    value_each_item (it, values)
        texts[n++] = it->type == VALUE_STRING ? value_str(it) : field_json(e, it);
    field_not_supported(e, path, shown, texts, n);
}

static struct str shown_value(struct field_errors *e, const struct value *v)
{
    double d;
    return v->type == VALUE_NUMBER && value_to_double(v, &d) && isfinite(d)
               ? double_text(e->arena, d)
               : field_shown(e, v);
}

static void report(struct field_errors *e, const struct field_path *base, const struct fault *f)
{
    struct field_path at = field_child(base, f->path);
    const struct field_path *path = f->path.n ? &at : base;
    struct str shown = !f->is_shown ? STR("\"\"")
                       : f->shown   ? shown_value(e, f->shown)
                                    : field_quoted(e, f->shown_text);
    struct str name = f->path;
    switch (f->type) {
    case FIELD_REQUIRED:
        field_required(e, path, "");
        break;
    case FIELD_NOT_SUPPORTED:
        report_not_supported(e, path, shown, f->values);
        break;
    case FIELD_TOO_LONG:
        field_too_long(e, path, (size_t)f->max);
        break;
    case FIELD_TOO_MANY:
        field_error(e, FIELD_TOO_MANY, path, arena_printf(e->arena, "%zu", f->count),
                    "must have at most %lld item%s", (long long)f->max, f->max == 1 ? "" : "s");
        break;
    case FIELD_TYPE_INVALID:
        field_error(e, FIELD_TYPE_INVALID, path, shown,
                    STR_FMT " in body must be of type " STR_FMT ": " STR_FMT, STR_ARG(name),
                    STR_ARG(f->message), STR_ARG(shown));
        break;
    default:
        if (f->is_complete)
            field_error(e, FIELD_INVALID, path, shown, STR_FMT, STR_ARG(f->message));
        else if (f->has_no_path)
            field_error(e, FIELD_INVALID, base, shown, STR_FMT, STR_ARG(f->message));
        else if (f->is_shown)
            field_error(e, FIELD_INVALID, path, shown, STR_FMT " in body " STR_FMT, STR_ARG(name),
                        STR_ARG(f->message));
        else
            field_error(e, FIELD_INVALID, base, shown, "\"" STR_FMT "\" " STR_FMT, STR_ARG(name),
                        STR_ARG(f->message));
    }
}

void schema_validate(struct field_errors *e, const struct schema *s, const struct field_path *path,
                     const struct value *obj, const struct value *old)
{
    struct checker c = { .a = e->arena };
    struct result r = { 0 };
    check_part(&c, &r, s, NULL, obj, old);
    struct field_errors found = FIELD_ERRORS_INIT(e->arena);
    for (const struct fault *f = r.first; f; f = f->next)
        report(&found, path, f);
    field_errors_unique(&found);
    if (r.n && !r.first)
        field_error(&found, FIELD_INVALID, path, STR("\"\""), "too many faults to tell");
    field_errors_add(e, &found);
}
