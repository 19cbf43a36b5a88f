/* The conformance suite of the language over this implementation. Left out is what Kubernetes'
 * environment does not have (protobuf messages, some of cel-go's extension libraries, newer
 * versions of those it has) and the cases where cel-go itself differs from the suite; README.md
 * lists them. Each suite has a floor: as many cases must run and pass. */
#include <math.h>

#include "base/base64.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/vectors_test.h"
#include "cel/cel.h"

enum { VARIABLES_MAX = 32 };

struct suite {
    const char *name;
    size_t floor;
    size_t passed, run, left_out;
};

static struct suite suites[] = {
    { "basic", 32, 0, 0, 0 },        { "comparisons", 235, 0, 0, 0 },
    { "conversions", 75, 0, 0, 0 },  { "dynamic", 1, 0, 0, 0 },
    { "fields", 41, 0, 0, 0 },       { "fp_math", 19, 0, 0, 0 },
    { "integer_math", 47, 0, 0, 0 }, { "lists", 32, 0, 0, 0 },
    { "logic", 21, 0, 0, 0 },        { "macros", 31, 0, 0, 0 },
    { "macros2", 32, 0, 0, 0 },      { "namespace", 12, 0, 0, 0 },
    { "network_ext", 51, 0, 0, 0 },  { "optionals", 43, 0, 0, 0 },
    { "parse", 131, 0, 0, 0 },       { "plumbing", 5, 0, 0, 0 },
    { "string", 35, 0, 0, 0 },       { "string_ext", 119, 0, 0, 0 },
    { "timestamps", 52, 0, 0, 0 },   { "type_deduction", 13, 0, 0, 0 },
};

/* Cases that run nowhere in Kubernetes' environment; README.md says why. A NULL name is a whole
 * section. */
static const struct {
    const char *suite, *section, *name;
} left_out[] = {
    /* Protobuf messages that the suite does not mark as such. */
    { "dynamic", "value_null", "literal" },
    { "proto2", "literal_singular", NULL },
    /* cel-go differs: maps have doubles as keys; null is as good as an optional; a field of a
     * number under an optional is absent. */
    { "fields", "qualified_identifier_resolution", "map_key_float" },
    { "fields", "qualified_identifier_resolution", "map_value_repeat_key_heterogeneous" },
    { "type_deduction", "legacy_nullable_types",
      "null_assignable_to_abstract_parameter_candidate" },
    { "optionals", "optionals", "map_null_entry_no_such_key" },
    { "optionals", "optionals", "map_present_key_invalid_field" },
    /* Kubernetes refuses IPv4 addresses that are written as IPv6. */
    { "network_ext", "ipv4", "ipv4_equals_ipv6" },
    /* Kubernetes has the strings library of version 2: no reverse(), the older format(). */
    { "string_ext", "reverse", NULL },
    { "string_ext", "format", "scientific notation formatting clause" },
    { "string_ext", "format", "default precision for fixed-point clause with int" },
    { "string_ext", "format", "default precision for scientific notation with int" },
    { "string_ext", "format", "default precision for scientific notation with uint" },
    { "string_ext", "format", "negative infinity support for scientific notation" },
    { "string_ext", "format", "NaN support for decimal" },
    { "string_ext", "format", "positive infinity support for fixed-point" },
    { "string_ext", "format", "negative infinity support for fixed-point" },
    { "string_ext", "format", "list support for string" },
    { "string_ext", "format", "map support for string" },
    { "string_ext", "format", "dyntype NaN/infinity support" },
    /* cel-go says -1 where the suite wants an error. */
    { "string_ext", "value_errors", "indexof_out_of_range" },
    { "string_ext", "value_errors", "lastindexof_out_of_range" },
};

struct scene {
    struct arena arena;
    struct cel_variable variables[VARIABLES_MAX];
    struct cel_value vals[VARIABLES_MAX];
    size_t n;
    bool unusable; /* needs what the environment has not */
};

/* ---- Types and values of the suite's notation ---- */

static const struct cel_type *read_type(struct scene *s, struct str *text);

static const struct cel_type *read_params(struct scene *s, struct str name, struct str *text)
{
    const struct cel_type *first = read_type(s, text), *second = NULL;
    if (str_starts(*text, STR(","))) {
        *text = str_trim(str_skip(*text, 1));
        second = read_type(s, text);
    }
    *text = str_skip(*text, 1);
    if (str_eq(name, STR("list")))
        return cel_type_list(&s->arena, first);
    if (str_eq(name, STR("map")) && second)
        return cel_type_map(&s->arena, first, second);
    if (str_eq(name, STR("optional_type")))
        return cel_type_optional(&s->arena, first);
    s->unusable = true;
    return &cel_dyn;
}

static const struct cel_type *read_type(struct scene *s, struct str *text)
{
    static const struct {
        const char *name;
        const struct cel_type *type;
    } simple[] = {
        { "bool", &cel_bool },     { "int", &cel_int },           { "uint", &cel_uint },
        { "double", &cel_double }, { "string", &cel_string },     { "bytes", &cel_bytes },
        { "null", &cel_null },     { "dyn", &cel_dyn },           { "timestamp", &cel_timestamp },
        { "any", &cel_any },       { "duration", &cel_duration },
    };
    size_t n = 0;
    while (n < text->n && !strchr("(), ", text->p[n]))
        n++;
    struct str name = str_take(*text, n);
    *text = str_skip(*text, n);
    if (str_starts(*text, STR("("))) {
        *text = str_skip(*text, 1);
        return read_params(s, name, text);
    }
    for (size_t i = 0; i < ARRAY_LEN(simple); i++)
        if (str_eq(name, str_of(simple[i].name)))
            return simple[i].type;
    s->unusable = true;
    return &cel_dyn;
}

static struct cel_value read_value(struct scene *s, const struct value *v);

static struct cel_value read_number(struct scene *s, struct str kind, const struct value *v)
{
    if (str_eq(kind, STR("int")))
        return cel_of_int(strtoll(str_cstr(&s->arena, value_str(v)), NULL, 10));
    if (str_eq(kind, STR("uint")))
        return cel_of_uint(strtoull(str_cstr(&s->arena, value_str(v)), NULL, 10));
    double d;
    if (value_to_double(v, &d))
        return cel_of_double(d);
    return cel_of_double(strtod(str_cstr(&s->arena, value_str(v)), NULL));
}

static struct cel_value read_container(struct scene *s, struct str kind, const struct value *v)
{
    struct cel_value *keys = arena_array(&s->arena, struct cel_value, v->n);
    struct cel_value *vals = arena_array(&s->arena, struct cel_value, v->n);
    for (size_t i = 0; i < v->n; i++) {
        const struct value *item = value_at(v, i);
        if (str_eq(kind, STR("list"))) {
            vals[i] = read_value(s, item);
        } else {
            keys[i] = read_value(s, value_at(item, 0));
            vals[i] = read_value(s, value_at(item, 1));
        }
    }
    return str_eq(kind, STR("list")) ? cel_of_list(&s->arena, vals, v->n)
                                     : cel_of_map(&s->arena, keys, vals, v->n);
}

/* Through an expression: times, durations and types are easiest to make there. */
static struct cel_value evaluate(struct scene *s, const char *fmt, struct str arg)
{
    struct cel_env *env = arena_new(&s->arena, struct cel_env);
    const struct cel_program *p;
    struct err err = ERR_INIT(&s->arena);
    struct cel_value ret = cel_of_null();
    uint64_t cost;
    struct str text = arena_printf(&s->arena, "%s", fmt);
    env->variables = arena_dup(&s->arena, &(struct cel_variable){ STR("arg"), &cel_string },
                               sizeof(struct cel_variable));
    env->n_variables = 1;
    struct cel_value vars[] = { cel_of_string(arg) };
    if (cel_compile(&s->arena, env, text, &p, &err) < 0 ||
        cel_eval(&s->arena, p, vars, UINT64_MAX, &ret, &cost, &err) < 0)
        s->unusable = true;
    return ret;
}

static struct cel_value read_object(struct scene *s, const struct value *v)
{
    struct str type = value_str(value_get(v, STR("@type")));
    const struct value *fields = value_get(v, STR("fields"));
    int64_t sec = 0, nanos = 0;
    struct str text = value_str(value_get(fields, STR("seconds")));
    if (!text.n)
        (void)value_to_int(value_get(fields, STR("seconds")), &sec);
    else
        (void)str_to_i64(text, &sec);
    (void)value_to_int(value_get(fields, STR("nanos")), &nanos);
    bool is_time = str_ends(type, STR("google.protobuf.Timestamp"));
    if (!is_time && !str_ends(type, STR("google.protobuf.Duration"))) {
        s->unusable = true;
        return cel_of_null();
    }
    return (struct cel_value){
        .kind = is_time ? CEL_TIMESTAMP : CEL_DURATION,
        .i = is_time ? sec : sec * 1000000000 + nanos,
        .nanos = is_time ? (int32_t)nanos : 0,
    };
}

static struct cel_value read_bytes(struct scene *s, const struct value *v)
{
    autobuf bytes = { 0 };
    (void)base64_decode(&bytes, value_str(v));
    return cel_of_bytes(arena_str(&s->arena, buf_str(&bytes)));
}

static struct cel_value read_value(struct scene *s, const struct value *v)
{
    if (!value_is(v, VALUE_OBJECT) || v->n != 1) {
        s->unusable = true;
        return cel_of_null();
    }
    struct str kind = v->fields[0].key;
    const struct value *inner = &v->fields[0].val;
    if (str_eq(kind, STR("int")) || str_eq(kind, STR("uint")) || str_eq(kind, STR("double")))
        return read_number(s, kind, inner);
    if (str_eq(kind, STR("bool")))
        return cel_of_bool(inner->b);
    if (str_eq(kind, STR("string")))
        return cel_of_string(value_str(inner));
    if (str_eq(kind, STR("bytes")))
        return read_bytes(s, inner);
    if (str_eq(kind, STR("null")))
        return cel_of_null();
    if (str_eq(kind, STR("list")) || str_eq(kind, STR("map")))
        return read_container(s, kind, inner);
    if (str_eq(kind, STR("object")))
        return read_object(s, inner);
    if (str_eq(kind, STR("type")))
        return evaluate(s, str_cstr(&s->arena, value_str(inner)), STR(""));
    s->unusable = true;
    return cel_of_null();
}

/* ---- A case ---- */

static bool zone_offset(struct str zone, int64_t at, int32_t *ret)
{
    /* The zones that the suite names, at the times that it asks for (all in winter or summer). */
    static const struct {
        const char *name;
        int32_t winter, summer; /* the same where there is none */
    } zones[] = {
        { "America/St_Johns", -12600, -9000 },
        { "Australia/Sydney", 39600, 36000 },
        { "Asia/Kathmandu", 20700, 20700 },
        { "US/Central", -21600, -18000 },
    };
    int64_t day = at / 86400 % 365;
    for (size_t i = 0; i < ARRAY_LEN(zones); i++)
        if (str_eq(zone, str_of(zones[i].name))) {
            *ret = day > 90 && day < 300 ? zones[i].summer : zones[i].winter;
            return true;
        }
    return false;
}

static bool is_flag(const struct value *test, const char *name)
{
    const struct value *v = value_get(test, str_of(name));
    return value_is(v, VALUE_BOOL) && v->b;
}

static void read_variables(struct scene *s, const struct value *test)
{
    value_each_item (decl, value_get(test, STR("typeEnv"))) {
        struct str text = value_str(value_get(decl, STR("type")));
        if (!text.n || s->n == VARIABLES_MAX) {
            s->unusable = true;
            return;
        }
        s->variables[s->n].name = value_str(value_get(decl, STR("name")));
        s->variables[s->n].type = read_type(s, &text);
        s->vals[s->n++] = cel_of_error(STR("no such attribute"));
    }
    value_each_field (binding, value_get(test, STR("bindings"))) {
        size_t i = 0;
        while (i < s->n && !str_eq(s->variables[i].name, binding->key))
            i++;
        if (i == s->n)
            s->variables[s->n++] = (struct cel_variable){ binding->key, &cel_dyn };
        s->vals[i] = read_value(s, &binding->val);
    }
}

static bool is_same(struct arena *a, const struct cel_value *x, const struct cel_value *y)
{
    if (x->kind == CEL_DOUBLE && y->kind == CEL_DOUBLE && isnan(x->d))
        return isnan(y->d);
    return x->kind == y->kind && cel_equal(a, x, y);
}

static bool check_value(struct scene *s, const struct value *expect, const struct cel_value *got)
{
    const struct value *want = value_get(expect, STR("value"));
    struct cel_value v = want ? read_value(s, want) : cel_of_bool(true);
    return is_same(&s->arena, &v, got);
}

static bool check_deduced(struct scene *s, const struct cel_program *p, const struct value *expect)
{
    struct str want = value_str(value_get(expect, STR("deducedType")));
    if (str_eq(want, STR("null_type")))
        return cel_program_type(p)->kind == CEL_NULL;
    return str_eq(want, cel_type_text(&s->arena, cel_program_type(p)));
}

static bool run_case(struct scene *s, const struct value *test, struct err *err)
{
    const struct value *expect = value_get(test, STR("expect"));
    bool want_error = value_get(expect, STR("error")) || value_get(expect, STR("anyErrors"));
    struct cel_env env = {
        .variables = s->variables,
        .n_variables = s->n,
        .container = value_str(value_get(test, STR("container"))),
        .flags = CEL_ENV_MIXED | (is_flag(test, "disableCheck") ? CEL_ENV_UNCHECKED : 0) |
                 (is_flag(test, "disableMacros") ? CEL_ENV_NO_MACROS : 0),
        .zone_offset = zone_offset,
    };
    const struct cel_program *p;
    struct cel_value got;
    uint64_t cost;
    if (cel_compile(&s->arena, &env, value_str(value_get(test, STR("expr"))), &p, err) < 0)
        return want_error;
    if (value_get(expect, STR("deducedType")) && !check_deduced(s, p, expect))
        return false;
    if (is_flag(test, "checkOnly"))
        return true;
    if (cel_eval(&s->arena, p, s->vals, 10000000, &got, &cost, err) < 0)
        return want_error;
    return !want_error && check_value(s, expect, &got);
}

static bool is_left_out(const struct value *test)
{
    if (is_flag(test, "needsTestProto") || is_flag(test, "usesWellKnownProto"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        if (str_eq(value_str(value_get(test, STR("suite"))), str_of(left_out[i].suite)) &&
            str_eq(value_str(value_get(test, STR("section"))), str_of(left_out[i].section)) &&
            (!left_out[i].name ||
             str_eq(value_str(value_get(test, STR("name"))), str_of(left_out[i].name))))
            return true;
    return false;
}

static void run_line(struct suite *suite, struct str line)
{
    struct scene s = { 0 };
    struct value test;
    arena_init(&s.arena);
    struct err err = ERR_INIT(&s.arena);
    if (json_read(&s.arena, line, NULL, &test, &err) < 0)
        exit(1);
    if (is_left_out(&test)) {
        suite->left_out++;
    } else {
        read_variables(&s, &test);
        bool passed = run_case(&s, &test, &err);
        if (s.unusable) {
            suite->left_out++;
        } else {
            suite->run++;
            suite->passed += passed;
        }
        if (!passed && !s.unusable)
            printf("FAILED %s/" STR_FMT "/" STR_FMT ": " STR_FMT " (" STR_FMT ")\n", suite->name,
                   STR_ARG(value_str(value_get(&test, STR("section")))),
                   STR_ARG(value_str(value_get(&test, STR("name")))),
                   STR_ARG(value_str(value_get(&test, STR("expr")))), STR_ARG(err.msg));
    }
    arena_done(&s.arena);
}

static bool run_suite(struct arena *a, struct suite *suite)
{
    struct str file = arena_printf(a, "%s.jsonl", suite->name);
    struct str rest = vectors_read(a, vectors_path(a, "cel", str_cstr(a, file)));
    while (rest.n) {
        struct str line = str_cut(&rest, '\n');
        if (line.n)
            run_line(suite, line);
    }
    printf("%s: %zu/%zu, %zu left out\n", suite->name, suite->passed, suite->run, suite->left_out);
    return suite->passed == suite->run && suite->passed >= suite->floor;
}

int main(void)
{
    struct arena a;
    bool good = true;
    arena_init(&a);
    if (!vectors_are_there(&a, "cel")) {
        arena_done(&a);
        return VECTORS_SKIPPED;
    }
    for (size_t i = 0; i < ARRAY_LEN(suites); i++)
        good = run_suite(&a, &suites[i]) && good;
    arena_done(&a);
    return good ? 0 : 1;
}
