/* What the guard decides after a write, whoever has written and however many writes there were. */
#include "server/guard/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "server/object/stored.h"

struct plane {
    struct arena arena;
    struct store *store;
    struct guard *guard;
};

static void start(struct plane *p, const char *modes)
{
    struct guard_modes m = { .n = 0 };
    arena_init(&p->arena);
    struct err err = ERR_INIT(&p->arena);
    assert_int_equal(store_open(&(struct store_options){ .engine = STORE_MEMORY }, &p->store, &err),
                     0);
    if (modes)
        assert_int_equal(guard_modes_parse(str_of(modes), &m, &err), 0);
    p->guard = guard_new(p->store, &m);
}

static void stop(struct plane *p)
{
    guard_free(p->guard);
    store_close(p->store);
    arena_done(&p->arena);
}

/* Writes JSON with single quotes; NULL: deletes. Nobody is told. */
static void write_quietly(struct plane *p, struct arena *a, const char *group, const char *plural,
                          const char *name, const char *json)
{
    const struct kind_resource *r = kind_stored_named(str_of(group), str_of(plural));
    struct err err = ERR_INIT(a);
    autobuf text = { 0 }, bytes = { 0 };
    struct value obj;
    for (const char *s = json; s && *s; s++)
        buf_byte(&text, *s == '\'' ? '"' : *s);
    if (json) {
        assert_int_equal(json_read(a, buf_str(&text), NULL, &obj, &err), 0);
        value_put(a, value_ensure(a, &obj, STR("metadata")), STR("creationTimestamp"),
                  value_string(STR("2026-01-01T00:00:00Z")));
        stored_write(&bytes, r, &obj);
    }
    struct store_op op = { .type = json ? STORE_PUT : STORE_DELETE,
                           .key =
                               stored_key(a, r, r->namespaced ? STR("ns") : STR(""), str_of(name)),
                           .value = buf_str(&bytes),
                           .expect_rev = STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(p->store, &txn, &err), 0);
}

static void write(struct plane *p, struct arena *a, const char *group, const char *plural,
                  const char *name, const char *json)
{
    const struct kind_resource *r = kind_stored_named(str_of(group), str_of(plural));
    write_quietly(p, a, group, plural, name, json);
    guard_changed(p->guard, r, r->namespaced ? STR("ns") : STR(""), str_of(name));
}

/* A pod on the node n1 that wants a secret. */
static const char *pod_of(struct arena *a, const char *name, const char *secret)
{
    return str_cstr(a, arena_printf(a,
                                    "{'metadata':{'name':'%s','namespace':'ns'},'spec':{'nodeName':"
                                    "'n1','imagePullSecrets':[{'name':'%s'}]}}",
                                    name, secret));
}

static bool sees(struct plane *p, struct arena *a, const char *secret, struct str *ret_reason)
{
    static const struct str nodes[] = { STR("system:nodes") };
    const struct user node = { .name = STR("system:node:n1"), .groups = nodes, .n_groups = 1 };
    const struct access q = { .user = &node,
                              .is_resource = true,
                              .verb = STR("get"),
                              .resource = STR("secrets"),
                              .ns = STR("ns"),
                              .name = str_of(secret) };
    bool yes = guard_decide(p->guard, a, &q, ret_reason);
    assert_int_equal(guard_allows(p->guard, &q), yes);
    return yes;
}

static void nodes_see_what_was_written(void **state)
{
    struct plane p;
    struct str reason;
    (void)state;
    start(&p, NULL);
    assert_false(sees(&p, &p.arena, "s", &reason));
    write(&p, &p.arena, "", "pods", "p", pod_of(&p.arena, "p", "s"));
    assert_true(sees(&p, &p.arena, "s", &reason));
    assert_int_equal(reason.n, 0);
    write(&p, &p.arena, "", "pods", "p", pod_of(&p.arena, "p", "other"));
    assert_false(sees(&p, &p.arena, "s", &reason));
    assert_true(sees(&p, &p.arena, "other", &reason));
    write(&p, &p.arena, "", "pods", "p", NULL);
    assert_false(sees(&p, &p.arena, "other", &reason));
    stop(&p);
}

/* More writes than are noted before they are read. */
static void many_writes(void **state)
{
    enum { PODS = 3 * GUARD_NOTES_MAX + 5 };
    struct plane p;
    struct str reason;
    (void)state;
    start(&p, NULL);
    for (int i = 0; i < PODS; i++) {
        const char *name = str_cstr(&p.arena, arena_printf(&p.arena, "p%d", i));
        write(&p, &p.arena, "", "pods", name, pod_of(&p.arena, name, name));
        if (i % 2)
            write(&p, &p.arena, "", "pods", name, NULL);
    }
    for (int i = 0; i < PODS; i++) {
        const char *name = str_cstr(&p.arena, arena_printf(&p.arena, "p%d", i));
        assert_int_equal(sees(&p, &p.arena, name, &reason), i % 2 == 0);
    }
    stop(&p);
}

static void what_was_there_before(void **state)
{
    struct plane p;
    struct str reason;
    (void)state;
    start(&p, NULL);
    struct err err = ERR_INIT(&p.arena);
    write_quietly(&p, &p.arena, "", "pods", "p",
                  "{'metadata':{'name':'p','namespace':'ns'},'spec':{'nodeName':'n1','volumes':[{"
                  "'persistentVolumeClaim':{'claimName':'c'}}]}}");
    write_quietly(&p, &p.arena, "", "persistentvolumes", "v",
                  "{'metadata':{'name':'v'},'spec':{'claimRef':{'namespace':'ns','name':'c'},'csi':"
                  "{'nodeStageSecretRef':{'namespace':'ns','name':'s'}}}}");
    assert_false(sees(&p, &p.arena, "s", &reason));
    assert_int_equal(guard_load(p.guard, &err), 0);
    assert_true(sees(&p, &p.arena, "s", &reason));
    stop(&p);
}

#define BINDING                                                                          \
    "{'metadata':{'name':'b','namespace':'ns'},'roleRef':{'kind':'Role','name':'gone'}," \
    "'subjects':[{'kind':'Group','name':'system:nodes'}]}"
#define NODE_WHY "node: no relationship found between node 'n1' and this object"
#define RBAC_WHY "rbac: RBAC: role.rbac.authorization.k8s.io \"gone\" not found"

static void authorizers_in_order(void **state)
{
    static const struct {
        const char *modes;
        bool yes;
        const char *reason;
    } rows[] = {
        { NULL, false, NODE_WHY "\n" RBAC_WHY },
        { "Node,RBAC", false, NODE_WHY "\n" RBAC_WHY },
        { "RBAC,Node", false, RBAC_WHY "\n" NODE_WHY },
        { "RBAC", false, RBAC_WHY },
        { "Node", false, NODE_WHY },
        { "Node,AlwaysAllow", true, "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct plane p;
        struct str reason;
        start(&p, rows[i].modes);
        write(&p, &p.arena, "rbac.authorization.k8s.io", "rolebindings", "b", BINDING);
        assert_int_equal(sees(&p, &p.arena, "s", &reason), rows[i].yes);
        assert_string_equal(str_cstr(&p.arena, reason), rows[i].reason);
        stop(&p);
    }
}

/* ---- Several writers ---- */

struct writer {
    struct plane *plane;
    char name[8];
    int n_wrong;
    pthread_t thread;
};

/* Who has written asks at once, while others write. */
static void *write_and_ask(void *arg)
{
    struct writer *w = arg;
    struct arena a;
    arena_init(&a);
    for (int i = 0; i < 200; i++) {
        struct str reason;
        write(w->plane, &a, "", "pods", w->name, pod_of(&a, w->name, w->name));
        w->n_wrong += !sees(w->plane, &a, w->name, &reason);
        write(w->plane, &a, "", "pods", w->name, NULL);
        w->n_wrong += sees(w->plane, &a, w->name, &reason);
        arena_reset(&a);
    }
    arena_done(&a);
    return NULL;
}

static void several_writers(void **state)
{
    enum { WRITERS = 4 };
    struct plane p;
    struct writer writers[WRITERS];
    (void)state;
    start(&p, NULL);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .plane = &p, .name = { 'p', (char)('0' + i) } };
        pthread_create(&writers[i].thread, NULL, write_and_ask, &writers[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        assert_int_equal(writers[i].n_wrong, 0);
    }
    stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_see_what_was_written),
        cmocka_unit_test(many_writes),
        cmocka_unit_test(what_was_there_before),
        cmocka_unit_test(authorizers_in_order),
        cmocka_unit_test(several_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
