/* schema_test.h - what the tests of this folder share: a schema and objects as YAML in, faults,
 * warnings or the object that was made of it out. */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/validate/validate.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/yaml.h"
#include "schema/schema_cel.h"
#include "schema/schema_definition.h"

static inline struct value parse_yaml(struct arena *a, struct str yaml)
{
    struct err err = ERR_INIT(a);
    struct value v;
    if (yaml_read(a, yaml, NULL, &v, &err) < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(yaml), STR_ARG(err.msg));
    return v;
}

/* Faults as lines "field: message", and behind them "WARN text" of each warning. */
static inline const char *faults_text(struct arena *a, const struct field_errors *e)
{
    autobuf text = { 0 };
    for (const struct err_cause *c = e->first; c; c = c->next)
        buf_printf(&text, "%s" STR_FMT ": " STR_FMT, text.n ? "\n" : "", STR_ARG(c->field),
                   STR_ARG(c->msg));
    for (size_t i = 0; e->warnings && i < e->warnings->n; i++)
        buf_printf(&text, "%sWARN " STR_FMT, text.n ? "\n" : "", STR_ARG(e->warnings->texts[i]));
    return str_cstr(a, arena_str(a, buf_str(&text)));
}

static inline const char *object_text(struct arena *a, const struct value *v)
{
    autobuf text = { 0 };
    json_write(&text, v);
    return str_cstr(a, arena_str(a, buf_str(&text)));
}

/* What is looked at of an object. */
enum aspect {
    ASPECT_VALUES,   /* schema_validate() */
    ASPECT_LISTS,    /* schema_check_lists() */
    ASPECT_EMBEDDED, /* schema_check_embedded() */
    ASPECT_RULES,    /* schema_programs_run() */
    ASPECT_PRUNED,   /* schema_prune(): the object, and the paths that went */
    ASPECT_DEFAULTS, /* schema_drop_nulls() and schema_default(): the object */
    ASPECT_COERCED,  /* schema_coerce(): the object, or why not */
};

static inline const char *with_paths(struct arena *a, const struct value *obj,
                                     const struct schema_unknown *unknown)
{
    autobuf text = { 0 };
    json_write(&text, obj);
    for (size_t i = 0; i < unknown->n; i++)
        buf_printf(&text, " " STR_FMT, STR_ARG(unknown->paths[i]));
    return str_cstr(a, arena_str(a, buf_str(&text)));
}

static inline const char *made_of(struct arena *a, enum aspect aspect, const struct schema *s,
                                  struct value *obj)
{
    struct schema_unknown unknown = { .n = 0 };
    struct err err = ERR_INIT(a);
    if (aspect == ASPECT_PRUNED)
        schema_prune(a, s, obj, true, &unknown);
    if (aspect == ASPECT_DEFAULTS) {
        schema_drop_nulls(a, s, obj);
        schema_default(a, s, obj);
    }
    if (aspect == ASPECT_COERCED && schema_coerce(a, s, obj, &unknown, &err) < 0)
        return str_cstr(a, err.msg);
    return with_paths(a, obj, &unknown);
}

/* `old` is NULL on create. */
static inline const char *said_of(struct arena *a, enum aspect aspect, const struct schema *s,
                                  const struct value *obj, const struct value *old)
{
    struct validate_warnings w = { .arena = a };
    struct field_errors e = FIELD_ERRORS_INIT(a);
    e.warnings = &w;
    if (aspect == ASPECT_VALUES)
        schema_validate(&e, s, NULL, obj, old);
    if (aspect == ASPECT_LISTS)
        schema_check_lists(&e, s, obj);
    if (aspect == ASPECT_EMBEDDED)
        schema_check_embedded(&e, s, NULL, obj);
    if (aspect == ASPECT_RULES)
        schema_programs_run(&e, schema_programs_compile(a, s, true), NULL, obj, old);
    return faults_text(a, &e);
}

static inline const char *schema_answer(struct arena *a, enum aspect aspect, struct str schema,
                                        struct str obj, struct str old)
{
    struct value props = parse_yaml(a, schema), now = parse_yaml(a, obj), was = value_null();
    const struct schema *s = schema_compile(a, &props);
    if (old.n)
        was = parse_yaml(a, old);
    if (aspect >= ASPECT_PRUNED)
        return made_of(a, aspect, s, &now);
    return said_of(a, aspect, s, &now, old.n ? &was : NULL);
}

/* A schema of the field `a`, its value, the value before (NULL: create) and what becomes of it. */
struct schema_case {
    const char *schema, *val, *old, *answer;
};

static inline void check_schema_cases(enum aspect aspect, const struct schema_case *cases, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        const struct schema_case *c = &cases[i];
        struct arena a;
        arena_init(&a);
        struct str schema = arena_printf(&a, "{type: object, properties: {a: %s}}", c->schema);
        struct str obj = arena_printf(&a, "{a: %s}", c->val), old = STR("");
        if (c->old)
            old = arena_printf(&a, "{a: %s}", c->old);
        const char *got = schema_answer(&a, aspect, schema, obj, old);
        if (strcmp(got, c->answer) != 0) {
            wrong++;
            print_error("%s\n%s\n  want %s\n  got  %s\n", c->schema, c->val, c->answer, got);
        }
        arena_done(&a);
    }
    assert_int_equal(wrong, 0);
}
