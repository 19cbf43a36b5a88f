/* What plugins remember: made once, made anew after a change, kept for those who still use it. */
#include "admission/memory.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "admission/suite_admission.h"
#include "base/idiom.h"
#include "base/json.h"

#define CONFIG STR("admissionregistration.k8s.io"), STR("initializerconfigurations")

/* A cluster in which configurations are counted as they are read. */
struct counted {
    atomic_int n_reads, n_objects;
    const char *config; /* of each; NULL: one for everything */
};

static int read_each(void *arg, struct str group, struct str plural, struct str mark,
                     admission_take *take_one, void *to, struct err *err)
{
    struct counted *c = arg;
    (void)group, (void)plural, (void)mark, (void)err;
    atomic_fetch_add(&c->n_reads, 1);
    struct arena a;
    arena_init(&a);
    for (int i = 0; i < atomic_load(&c->n_objects); i++) {
        struct value obj;
        struct str text = str_of(c->config ? c->config
                                           : "{\"initializers\":[{\"rules\":[{\"resources\":[\"*\"]"
                                             "}]}]}");
        assert_int_equal(json_read(&a, text, NULL, &obj, NULL), 0);
        (void)take_one(to, &obj);
    }
    arena_done(&a);
    return 0;
}

static const struct admission_cluster cluster = { .each = read_each };

/* The number of the plugin that remembers InitializerConfigurations. */
static size_t number(void)
{
    struct admission_choice choice = { 0 };
    assert_int_equal(admission_choose(&choice, STR("Initializers"), true, NULL), 0);
    return (size_t)__builtin_ctzll(choice.on);
}

static struct admission_request request(struct arena *a, struct admission_memory *m,
                                        struct counted *c)
{
    const struct kind_resource *pods = kind_stored_named(STR(""), STR("pods"));
    return (struct admission_request){ .arena = a,
                                       .resource = pods,
                                       .stored = pods,
                                       .cluster = &cluster,
                                       .arg = c,
                                       .memory = m,
                                       .plugin = number() };
}

static struct admission_recalled *recall(struct admission_memory *m, struct counted *c)
{
    struct arena a;
    struct admission_recalled *r = NULL;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct admission_request req = request(&a, m, c);
    assert_int_equal(admission_recall(&req, &r, &err), 0);
    arena_done(&a);
    return r;
}

static void nothing_is_known(void **state)
{
    (void)state;
    struct counted c = { 0 };
    struct admission_memory *m = admission_memory_new();
    for (int i = 0; i < 3; i++)
        assert_null(recall(m, &c));
    assert_int_equal(c.n_reads, 1);
    admission_forget(m, kind_stored_named(STR(""), STR("configmaps")));
    assert_null(recall(m, &c));
    assert_int_equal(c.n_reads, 1); /* another resource's */
    admission_forget(m, kind_stored_named(CONFIG));
    assert_null(recall(m, &c));
    assert_int_equal(c.n_reads, 2);
    admission_memory_free(m);
}

static void who_has_it_keeps_it(void **state)
{
    (void)state;
    struct counted c = { .n_objects = 2 };
    struct admission_memory *m = admission_memory_new();
    struct admission_recalled *r = recall(m, &c), *same = recall(m, &c);
    assert_ptr_equal(admission_recalled(r), admission_recalled(same));
    admission_release(same);
    admission_forget(m, kind_stored_named(CONFIG));
    struct admission_recalled *next = recall(m, &c);
    assert_ptr_not_equal(r, next);
    assert_int_equal(c.n_reads, 2);
    admission_memory_free(m);
    admission_release(next);
    admission_release(r);
}

/* Before anything was read a webhook may turn out to be asked; one whose plugin is off may not. */
static void who_is_off_never_waits(void **state)
{
    (void)state;
    struct admission_memory *m = admission_memory_new();
    struct admission_call call = { .stored = kind_stored_named(STR(""), STR("pods")),
                                   .operations = ADMISSION_CREATE };
    call.resource = call.stored;
    assert_true(admission_may_wait(m, &call));
    assert_int_equal(admission_choose(&call.choice,
                                      STR("MutatingAdmissionWebhook,ValidatingAdmissionWebhook"),
                                      false, NULL),
                     0);
    assert_false(admission_may_wait(m, &call));
    admission_memory_free(m);
}

/* A policy may decide until it is known that there is none; one whose plugin is off may not. */
static void who_is_off_never_decides(void **state)
{
    (void)state;
    struct admission_memory *m = admission_memory_new();
    struct admission_call call = { .stored = kind_stored_named(STR(""), STR("pods")),
                                   .operations = ADMISSION_DELETE };
    static const struct str all = STR("MutatingAdmissionWebhook,ValidatingAdmissionWebhook,"
                                      "MutatingAdmissionPolicy,ValidatingAdmissionPolicy");
    call.resource = call.stored;
    assert_true(admission_may_decide(m, &call));
    assert_int_equal(admission_choose(&call.choice, all, false, NULL), 0);
    assert_false(admission_may_decide(m, &call));
    admission_memory_free(m);
}

/* What is configured for others is not recalled once that is known. */
static void who_is_not_concerned(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "pods", "pods" },
        { "*", "pods" },
        { "pods/status", "pods" },
        { "secrets", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct str text = arena_printf(
            &a, "{\"initializers\":[{\"rules\":[{\"resources\":[\"%s\"]}]}]}", rows[i][0]);
        struct counted c = { .n_objects = 1, .config = str_cstr(&a, text) };
        struct admission_memory *m = admission_memory_new();
        admission_release(recall(m, &c));
        struct admission_recalled *r = recall(m, &c);
        assert_int_equal(r != NULL, rows[i][1] != NULL);
        admission_release(r);
        assert_int_equal(c.n_reads, 1);
        admission_memory_free(m);
        arena_done(&a);
    }
    assert_int_equal(admission_interest(STR("*/*")), ~UINT64_C(0));
    assert_int_equal(admission_interest(STR("pods/log")), admission_interest(STR("pods")));
    assert_int_not_equal(admission_interest(STR("pods")), admission_interest(STR("secrets")));
}

struct crowd {
    struct admission_memory *m;
    struct counted c;
};

static void *use(void *arg)
{
    struct crowd *crowd = arg;
    for (int i = 0; i < 2000; i++) {
        admission_release(recall(crowd->m, &crowd->c));
        if (i % 50 == 0)
            admission_forget(crowd->m, kind_stored_named(CONFIG));
    }
    return NULL;
}

static void many_at_once(void **state)
{
    (void)state;
    struct crowd crowd = { .m = admission_memory_new(), .c = { .n_objects = 3 } };
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, &crowd), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_in_range(crowd.c.n_reads, 1, 4 * 40 + 1);
    admission_memory_free(crowd.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known),       cmocka_unit_test(who_has_it_keeps_it),
        cmocka_unit_test(who_is_off_never_waits), cmocka_unit_test(who_is_off_never_decides),
        cmocka_unit_test(who_is_not_concerned),   cmocka_unit_test(many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
