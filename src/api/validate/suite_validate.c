#include "api/validate/suite_validate.h"

#include <stdlib.h>

#include "api/defaults/defaults.h"
#include "api/meta.h"
#include "api/suite_json.h"
#include "api/typed.h"
#include "base/buf.h"

const struct kind_resource *suite_validate_resource(const char *api_version, const char *kind)
{
    const struct kind_type *t = kind_find(str_of(api_version), str_of(kind));
    for (size_t i = 0; t && i < n_kind_versions; i++)
        for (size_t k = 0; k < kind_versions[i].n_resources; k++)
            if (kind_versions[i].resources[k].type == t)
                return &kind_versions[i].resources[k];
    fail_msg("there is no resource of %s %s", api_version, kind);
    return NULL;
}

struct value suite_validate_read(struct arena *a, const struct kind_resource *r,
                                 const struct value *in)
{
    const struct kind_type *type = r->type;
    struct value obj, again;
    struct err err = ERR_INIT(a);
    if (typed_read(a, type, in, NULL, &obj, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    defaults_apply(a, type, &obj);
    if (typed_read(a, type, &obj, NULL, &again, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return again;
}

struct value suite_validate_object(struct arena *a, const struct kind_resource *r, const char *text)
{
    struct value in = suite_json(a, text);
    return suite_validate_read(a, r, &in);
}

/* ---- A change ---- */

/* One step down, into a list or an object, which is made where there is none. */
static struct value *step_into(struct arena *a, struct value *v, struct str step)
{
    uint64_t index;
    if (v->type == VALUE_ARRAY)
        return str_to_u64(step, &index) ? value_edit_at(a, v, index) : NULL;
    struct value *field = value_edit(a, v, step);
    return field && field->type != VALUE_NULL ? field : value_ensure(a, v, step);
}

void suite_validate_change(struct arena *a, struct value *v, const struct suite_change *change)
{
    struct str rest = str_of(change->path), step = str_cut(&rest, '/');
    for (; rest.p; step = str_cut(&rest, '/')) {
        v = step_into(a, v, suite_swap(a, step, '|', '/'));
        if (!v)
            fail_msg("there is nothing at %s", change->path);
    }
    step = suite_swap(a, step, '|', '/');
    struct value *item = v->type == VALUE_ARRAY ? step_into(a, v, step) : NULL;
    if (item)
        *item = suite_json(a, change->value);
    else if (change->value)
        value_put(a, v, step, suite_json(a, change->value));
    else
        value_drop(a, v, step);
}

/* ---- Its faults ---- */

void suite_validate_find(struct field_errors *e, const struct kind_resource *r, const char *sub,
                         const struct value *obj, const struct value *old_obj)
{
    struct meta_rules rules = meta_rules_of(r->group, r->plural, r->namespaced);
    if (!old_obj) {
        if (r->list) /* reviews and the like are not kept, and have no name */
            meta_validate_create(e, &rules, obj);
        validate_create(e, r, obj);
    } else if (*sub) {
        validate_update_sub(e, r, str_of(sub), obj, old_obj);
    } else {
        validate_update(e, r, obj, old_obj);
    }
}

static bool same_lines(struct arena *a, struct str have, const char *want, const char *about)
{
    have = suite_swap(a, have, '"', '\'');
    if (str_eq(have, str_of(want ? want : "")))
        return true;
    print_error("%s\nwant: %s\nhave: " STR_FMT "\n", about, want ? want : "(nothing)",
                STR_ARG(have));
    return false;
}

bool suite_validate_same(const struct field_errors *e, const char *want, const char *about)
{
    autobuf have = { 0 };
    for (const struct err_cause *c = e->first; c; c = c->next)
        buf_printf(&have, "%s" STR_FMT ": " STR_FMT, have.n ? "\n" : "", STR_ARG(c->field),
                   STR_ARG(c->msg));
    return same_lines(e->arena, buf_str(&have), want, about);
}

static bool same_warnings(const struct validate_warnings *w, const char *want, const char *about)
{
    autobuf have = { 0 };
    for (size_t i = 0; i < w->n; i++)
        buf_printf(&have, "%s" STR_FMT, i ? "\n" : "", STR_ARG(w->texts[i]));
    return same_lines(w->arena, buf_str(&have), want, about);
}

/* ---- Tables ---- */

static bool is_good(struct arena *a, const struct suite_validate *t,
                    const struct suite_change *change)
{
    const struct kind_resource *r = suite_validate_resource(t->api_version, t->kind);
    const char *want = change ? change->want : NULL;
    struct value in = suite_json(a, t->base), old_obj = suite_validate_read(a, r, &in);
    if (change)
        suite_validate_change(a, &in, change);
    struct value obj = suite_validate_read(a, r, &in);
    struct str about = arena_printf(a, "%s, %s: %s", t->kind, change ? change->path : "as it is",
                                    !change         ? ""
                                    : change->value ? change->value
                                                    : "(taken away)");
    if (t->way == SUITE_WARN || t->way == SUITE_WARN_UPDATE) {
        struct validate_warnings w = { .arena = a };
        validate_warn(&w, r, &obj, t->way == SUITE_WARN ? NULL : &old_obj);
        return same_warnings(&w, want, str_cstr(a, about));
    }
    struct field_errors e = FIELD_ERRORS_INIT(a);
    suite_validate_find(&e, r, t->sub, &obj, t->way == SUITE_CREATE ? NULL : &old_obj);
    return suite_validate_same(&e, want, str_cstr(a, about));
}

/* All changes are looked at, and at last the object as it is. */
static void run_table(void **state)
{
    const struct suite_validate *t = *state;
    bool good = true;
    for (size_t i = 0; i <= t->n; i++) {
        struct arena a;
        arena_init(&a);
        good = is_good(&a, t, i < t->n ? &t->changes[i] : NULL) && good;
        arena_done(&a);
    }
    assert_true(good);
}

int suite_validate_main(const struct suite_validate *tables, size_t n,
                        const struct CMUnitTest *others, size_t n_others)
{
    struct CMUnitTest *tests = calloc(n + n_others, sizeof(*tests));
    assert_non_null(tests);
    for (size_t i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){ .name = tables[i].name,
                                        .test_func = run_table,
                                        .initial_state = (void *)(uintptr_t)&tables[i] };
    for (size_t i = 0; i < n_others; i++)
        tests[n + i] = others[i];
    int failed = _cmocka_run_group_tests("validate", tests, n + n_others, NULL, NULL);
    free(tests);
    return failed;
}
