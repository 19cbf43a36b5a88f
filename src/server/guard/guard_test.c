/* The guard on a store of its own: what is written decides at once, on every loop, while others
 * decide all the time. */
#include "server/guard/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "server/object/stored.h"

enum { LOOPS = 2, ROUNDS = 300 };

/* ---- The fixture ---- */

struct plane {
    struct arena arena;
    struct store *store;
    struct guard *guard;
    struct loop *loops[LOOPS];
    pthread_t threads[LOOPS];
};

static const struct str group = STR("rbac.authorization.k8s.io");

/* JSON of the object, or NULL: it goes. */
static void write(struct plane *p, const char *plural, const char *ns, const char *name,
                  const char *json)
{
    struct err err = ERR_INIT(&p->arena);
    const struct kind_resource *r = kind_stored_named(group, str_of(plural));
    struct value obj;
    autobuf bytes = { 0 };
    struct store_op op = { .type = json ? STORE_PUT : STORE_DELETE,
                           .key = stored_key(&p->arena, r, str_of(ns), str_of(name)),
                           .expect_rev = STORE_ANY };
    if (json) {
        assert_int_equal(json_read(&p->arena, str_of(json), NULL, &obj, &err), 0);
        stored_write(&bytes, r, &obj);
        op.value = buf_str(&bytes);
    }
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(p->store, &txn, &err), 0);
    guard_changed(p->guard, r, str_of(ns), str_of(name));
}

#define META "\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\"}"
#define ROLE \
    "{" META ",\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}"
#define BINDING                                                                                  \
    "{" META ",\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"User\"," \
    "\"name\":\"ann\"}]}"

static const struct guard_modes usual = { 0 };
static const struct user ann = { .name = STR("ann") };
static const struct access may_get = { .user = &ann,
                                       .is_resource = true,
                                       .verb = STR("get"),
                                       .version = STR("v1"),
                                       .resource = STR("pods"),
                                       .ns = STR("a"),
                                       .name = STR("p") };

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

static int setup(void **state)
{
    struct plane *p = test_calloc(1, sizeof(*p));
    const struct store_options memory = { .engine = STORE_MEMORY };
    arena_init(&p->arena);
    struct err err = ERR_INIT(&p->arena);
    assert_int_equal(store_open(&memory, &p->store, &err), 0);
    for (size_t i = 0; i < LOOPS; i++)
        p->loops[i] = loop_new(NULL, &err);
    *state = p;
    return 0;
}

static void serve(struct plane *p)
{
    guard_serve(p->guard, p->loops, LOOPS);
    for (size_t i = 0; i < LOOPS; i++)
        assert_int_equal(pthread_create(&p->threads[i], NULL, run_loop, p->loops[i]), 0);
}

static int teardown(void **state)
{
    struct plane *p = *state;
    for (size_t i = 0; i < LOOPS; i++)
        loop_stop(p->loops[i]);
    for (size_t i = 0; i < LOOPS; i++)
        if (p->threads[i])
            pthread_join(p->threads[i], NULL);
    guard_free(p->guard);
    for (size_t i = 0; i < LOOPS; i++)
        loop_free(p->loops[i]);
    store_close(p->store);
    arena_done(&p->arena);
    test_free(p);
    return 0;
}

/* ---- Asking on a loop ---- */

struct ask {
    struct loop_msg msg;
    struct guard *guard;
    bool answer;
    atomic_bool done;
};

static void on_ask(struct loop *l, struct loop_msg *m)
{
    struct ask *a = container_of(m, struct ask, msg);
    (void)l;
    a->answer = guard_allows(a->guard, &may_get);
    atomic_store(&a->done, true);
}

static bool ask(struct plane *p, size_t loop)
{
    struct ask a = { .msg = { .run = on_ask }, .guard = p->guard };
    loop_post(p->loops[loop], &a.msg);
    while (!atomic_load(&a.done))
        sched_yield();
    return a.answer;
}

/* Decides again and again, as requests would. */
struct crowd {
    struct loop_msg msg;
    struct guard *guard;
    atomic_bool stop, done;
    size_t n_asked;
};

static void on_crowd(struct loop *l, struct loop_msg *m)
{
    struct crowd *c = container_of(m, struct crowd, msg);
    for (int i = 0; i < 20; i++)
        (void)guard_allows(c->guard, &may_get);
    c->n_asked++;
    if (atomic_load(&c->stop))
        atomic_store(&c->done, true);
    else
        loop_later(l, m);
}

/* ---- The tests ---- */

static void what_is_there_at_the_start_counts(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    write(p, "roles", "a", "r", ROLE);
    write(p, "rolebindings", "a", "b", BINDING);
    p->guard = guard_new(p->store, &usual);
    assert_false(guard_allows(p->guard, &may_get));
    assert_int_equal(guard_load(p->guard, &err), 0);
    assert_true(guard_allows(p->guard, &may_get));
}

static void each_write_counts_on_every_loop(void **state)
{
    struct plane *p = *state;
    struct crowd crowds[LOOPS] = { 0 };
    p->guard = guard_new(p->store, &usual);
    serve(p);
    for (size_t i = 0; i < LOOPS; i++) {
        crowds[i].msg.run = on_crowd;
        crowds[i].guard = p->guard;
        loop_post(p->loops[i], &crowds[i].msg);
    }
    write(p, "roles", "a", "r", ROLE);
    for (int i = 0; i < ROUNDS; i++) {
        write(p, "rolebindings", "a", "b", BINDING);
        assert_true(ask(p, (size_t)i % LOOPS));
        if (i % 3 == 0) {
            write(p, "roles", "a", "r", NULL);
            assert_false(ask(p, (size_t)i % LOOPS));
            write(p, "roles", "a", "r", ROLE);
            assert_true(ask(p, (size_t)i % LOOPS));
        }
        write(p, "rolebindings", "a", "b", NULL);
        assert_false(ask(p, (size_t)i % LOOPS));
    }
    for (size_t i = 0; i < LOOPS; i++) {
        atomic_store(&crowds[i].stop, true);
        while (!atomic_load(&crowds[i].done))
            sched_yield();
        assert_true(crowds[i].n_asked > 0);
    }
}

static void workers_get_reasons(void **state)
{
    struct plane *p = *state;
    struct str reason;
    p->guard = guard_new(p->store, &usual);
    write(p, "rolebindings", "a", "b", BINDING);
    assert_false(guard_decide(p->guard, &p->arena, &may_get, &reason));
    assert_string_equal(str_cstr(&p->arena, reason),
                        "rbac: RBAC: role.rbac.authorization.k8s.io \"r\" not found");
    write(p, "roles", "a", "r", ROLE);
    assert_true(guard_decide(p->guard, &p->arena, &may_get, &reason));
    assert_string_equal(str_cstr(&p->arena, reason),
                        "RBAC: allowed by RoleBinding \"b/a\" of Role \"r\" to User \"ann\"");
}

static void masters_may_do_everything(void **state)
{
    struct plane *p = *state;
    static const struct str groups[] = { USER_MASTERS };
    static const struct user root = { .name = STR("root"), .groups = groups, .n_groups = 1 };
    struct access q = may_get;
    struct str reason;
    p->guard = guard_new(p->store, &usual);
    q.user = &root;
    assert_true(guard_allows(p->guard, &q));
    assert_true(guard_decide(p->guard, &p->arena, &q, &reason));
    assert_int_equal(reason.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_there_at_the_start_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(each_write_counts_on_every_loop, setup, teardown),
        cmocka_unit_test_setup_teardown(workers_get_reasons, setup, teardown),
        cmocka_unit_test_setup_teardown(masters_may_do_everything, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
