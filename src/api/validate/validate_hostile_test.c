/* Objects that nobody would write: of random shapes, and very large. */
#include "api/random/random_object.h"
#include "api/defaults/defaults.h"
#include "api/suite_json.h"
#include "api/typed.h"
#include "api/validate/suite_validate.h"
#include "base/buf.h"

enum { ROUNDS = 40, DEPTH = 9, LARGE = 20000 };

static void look_at(struct arena *a, const struct kind_resource *r, const struct value *obj,
                    const struct value *old_obj)
{
    static const struct str subs[] = { STR("status"), STR("finalize"), STR("approval"),
                                       STR("ephemeralcontainers"), STR("resize") };
    struct field_errors e = FIELD_ERRORS_INIT(a);
    validate_create(&e, r, obj);
    validate_update(&e, r, obj, old_obj);
    for (size_t i = 0; i < ARRAY_LEN(subs); i++)
        validate_update_sub(&e, r, subs[i], obj, old_obj);
    struct validate_warnings w = { .arena = a };
    validate_warn(&w, r, obj, NULL);
    validate_warn(&w, r, obj, old_obj);
}

/* An object of random content that the server could have read. */
static struct value random_object(struct random *random, struct arena *a, const struct kind_type *t)
{
    struct value read, obj;
    assert_true(random_typed(random, a, t, 1 + random_below(random, DEPTH), &read));
    defaults_apply(a, t, &read);
    assert_int_equal(typed_read(a, t, &read, NULL, &obj, NULL), 0);
    return obj;
}

static void random_objects_do_no_harm(void **state)
{
    (void)state;
    struct arena a;
    size_t looked_at = 0;
    struct random random = { .seed = 20260102 };
    arena_init(&a);
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources * ROUNDS; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i / ROUNDS];
            if (!r->list)
                continue;
            arena_reset(&a);
            struct value obj = random_object(&random, &a, r->type),
                         old_obj = random_object(&random, &a, r->type);
            look_at(&a, r, &obj, &old_obj);
            looked_at++;
        }
    arena_done(&a);
    assert_true(looked_at > 1000);
}

static void what_is_absent_does_no_harm(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value null = value_null(), empty = value_object(), text = value_string(STR("x"));
    const struct value *objects[] = { &null, &empty, &text };
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++)
            for (size_t k = 0; k < 9; k++) {
                arena_reset(&a);
                look_at(&a, &kind_versions[v].resources[i], objects[k / 3], objects[k % 3]);
            }
    arena_done(&a);
}

/* A fault in every few bytes is counted, and time grows with the length only: with its square this
 * would take minutes. */
static void large_pods_are_looked_at_in_one_pass(void **state)
{
    (void)state;
    struct arena a;
    autobuf text = { 0 };
    arena_init(&a);
    buf_str_add(&text, STR("{'metadata':{'name':'p'},'spec':{'volumes':["));
    for (int i = 0; i < LARGE; i++)
        buf_printf(&text, "%s{'name':'v%d','emptyDir':{}}", i ? "," : "", i);
    buf_str_add(&text, STR("],'tolerations':["));
    for (int i = 0; i < LARGE; i++)
        buf_printf(&text, "%s{'key':'k%d','operator':'Exists'}", i ? "," : "", i);
    buf_str_add(&text, STR("],'containers':[{'name':'c','image':'c:1','volumeMounts':["));
    for (int i = 0; i < LARGE; i++)
        buf_printf(&text, "%s{'name':'v%d','mountPath':'/%d'}", i ? "," : "", LARGE - 1 - i, i);
    buf_str_add(&text, STR("],'env':["));
    for (int i = 0; i < LARGE; i++)
        buf_printf(&text, "%s{'name':'E%d'}", i ? "," : "", i);
    buf_str_add(&text, STR("],'ports':["));
    for (int i = 0; i < LARGE; i++)
        buf_printf(&text, "%s{'containerPort':1,'hostPort':%d}", i ? "," : "", i + 1);
    buf_str_add(&text, STR("]}]}}"));
    const struct kind_resource *r = suite_validate_resource("v1", "Pod");
    struct value in = suite_json(&a, str_cstr(&a, buf_str(&text)));
    struct value obj = suite_validate_read(&a, r, &in);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    validate_create(&e, r, &obj);
    assert_int_equal(e.n, 0);
    suite_validate_change(&a, &in, &(struct suite_change){ "spec/volumes", "[]", NULL });
    obj = suite_validate_read(&a, r, &in);
    validate_create(&e, r, &obj);
    assert_int_equal(e.n, LARGE);
    struct validate_warnings w = { .arena = &a };
    validate_warn(&w, r, &obj, NULL);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_objects_do_no_harm),
        cmocka_unit_test(what_is_absent_does_no_harm),
        cmocka_unit_test(large_pods_are_looked_at_in_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
