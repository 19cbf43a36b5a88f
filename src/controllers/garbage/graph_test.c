/* Who has to be looked at after each change of the owner graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "controllers/garbage/graph.h"

/* What the graph said, in one text: "look b;orphan a;". */
struct log {
    char text[512];
    size_t n;
};

static void note(struct log *l, const char *what, struct spn_text uid)
{
    size_t n_what = strlen(what);
    assert_true(l->n + n_what + uid.n + 2 < sizeof(l->text));
    memcpy(l->text + l->n, what, n_what);
    memcpy(l->text + l->n + n_what, uid.p, uid.n);
    l->n += n_what + uid.n;
    l->text[l->n++] = ';';
    l->text[l->n] = '\0';
}

static void on_look(void *arg, struct spn_text uid)
{
    note(arg, "look ", uid);
}

static void on_orphan(void *arg, struct spn_text uid)
{
    note(arg, "orphan ", uid);
}

static void on_misplaced(void *arg, const struct graph_id *dep, const struct graph_owner *o)
{
    (void)o;
    note(arg, "misplaced ", dep->uid);
}

static void assert_said(struct log *l, const char *want)
{
    assert_string_equal(l->n ? l->text : "", want);
    l->n = 0;
}

static struct graph *make(struct log *l)
{
    return graph_new(&(struct graph_listener){
        .arg = l, .look = on_look, .orphan = on_orphan, .misplaced = on_misplaced });
}

/* A ConfigMap whose uid is its name, with at most one owner. */
static struct graph_seen map_of(const char *ns, const char *name, const struct graph_owner *owner)
{
    return (struct graph_seen){ .id = { SPN_TEXT("v1"), SPN_TEXT("ConfigMap"), spn_text_of(ns),
                                        spn_text_of(name), spn_text_of(name) },
                                .owners = owner,
                                .n_owners = owner ? 1 : 0 };
}

static const struct graph_owner owned_by_a = {
    { "v1", 2 }, { "ConfigMap", 9 }, { "a", 1 }, { "a", 1 }, true
};

static void test_owner_goes(void **state)
{
    (void)state;
    struct log l = { 0 };
    struct graph *g = make(&l);
    struct graph_seen a = map_of("n", "a", NULL), b = map_of("n", "b", &owned_by_a);
    graph_put(g, &a);
    graph_put(g, &b);
    assert_said(&l, "");
    graph_remove(g, a.id.uid);
    assert_said(&l, "look b;");
    assert_true(graph_knows_absent(g, &owned_by_a, SPN_TEXT("n")));
    assert_false(graph_knows_absent(g, &owned_by_a, SPN_TEXT("other")));
    assert_int_equal(graph_count(g), 1);
    graph_free(g);
}

/* An owner that was only heard of is looked for; when it is absent its dependents are looked at. */
static void test_virtual_owner(void **state)
{
    (void)state;
    struct log l = { 0 };
    struct graph *g = make(&l);
    struct spn_arena *arena = spn_arena_new();
    struct graph_view v;
    struct graph_seen b = map_of("n", "b", &owned_by_a);
    graph_put(g, &b);
    assert_said(&l, "look a;");
    assert_true(graph_view(g, SPN_TEXT("a"), arena, &v));
    assert_true(v.is_virtual);
    assert_int_equal(v.dependents.n, 1);
    assert_false(graph_is_absent(g, &v.id));
    assert_said(&l, "look b;");
    assert_false(graph_view(g, SPN_TEXT("a"), arena, &v));
    spn_arena_free(arena);
    graph_free(g);
}

/* Two dependents name one uid differently: the other name is tried before it is given up. */
static void test_two_names(void **state)
{
    (void)state;
    struct log l = { 0 };
    struct graph *g = make(&l);
    struct spn_arena *arena = spn_arena_new();
    struct graph_view v;
    struct graph_owner as_secret = owned_by_a;
    as_secret.kind = SPN_TEXT("Secret");
    struct graph_seen b = map_of("n", "b", &owned_by_a), c = map_of("n", "c", &as_secret);
    graph_put(g, &b);
    graph_put(g, &c);
    assert_said(&l, "look a;look c;");
    assert_true(graph_view(g, SPN_TEXT("a"), arena, &v));
    assert_true(graph_is_absent(g, &v.id));
    assert_said(&l, "look b;");
    assert_true(graph_view(g, SPN_TEXT("a"), arena, &v));
    assert_true(spn_text_eq(v.id.kind, SPN_TEXT("Secret")));
    spn_arena_free(arena);
    graph_free(g);
}

static void test_other_namespace(void **state)
{
    (void)state;
    struct log l = { 0 };
    struct graph *g = make(&l);
    struct graph_seen a = map_of("n", "a", NULL), b = map_of("m", "b", &owned_by_a);
    graph_put(g, &a);
    graph_put(g, &b);
    assert_said(&l, "misplaced b;look b;");
    graph_free(g);
    g = make(&l);
    graph_put(g, &b);
    assert_said(&l, "look a;");
    graph_put(g, &a);
    assert_said(&l, "misplaced b;look b;");
    graph_free(g);
}

static void test_foreground(void **state)
{
    (void)state;
    struct log l = { 0 };
    struct graph *g = make(&l);
    struct spn_arena *arena = spn_arena_new();
    struct graph_view v;
    struct graph_owner free_of_a = owned_by_a;
    free_of_a.blocks = false;
    struct graph_seen a = map_of("n", "a", NULL), b = map_of("n", "b", &owned_by_a);
    graph_put(g, &a);
    graph_put(g, &b);
    a.is_deleting = a.has_foreground = true;
    graph_put(g, &a);
    assert_said(&l, "look b;look a;");
    graph_put(g, &a); /* only once */
    assert_said(&l, "");
    assert_true(graph_view(g, SPN_TEXT("a"), arena, &v));
    assert_true(v.is_waiting);
    assert_int_equal(v.blocking.n, 1);
    b.owners = &free_of_a; /* it does not block any more */
    graph_put(g, &b);
    assert_said(&l, "look a;");
    graph_remove(g, SPN_TEXT("b"));
    assert_said(&l, "look a;");
    spn_arena_free(arena);
    graph_free(g);
}

static void test_orphan(void **state)
{
    (void)state;
    struct log l = { 0 };
    struct graph *g = make(&l);
    struct graph_seen a = map_of("n", "a", NULL);
    graph_put(g, &a);
    a.is_deleting = a.has_orphan = true;
    graph_put(g, &a);
    assert_said(&l, "orphan a;");
    graph_free(g);
}

static void test_own_owner(void **state)
{
    (void)state;
    struct log l = { 0 };
    struct graph *g = make(&l);
    struct graph_seen a = map_of("n", "a", &owned_by_a);
    graph_put(g, &a);
    graph_remove(g, a.id.uid);
    assert_int_equal(graph_count(g), 0);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owner_goes), cmocka_unit_test(test_virtual_owner),
        cmocka_unit_test(test_two_names),  cmocka_unit_test(test_other_namespace),
        cmocka_unit_test(test_foreground), cmocka_unit_test(test_orphan),
        cmocka_unit_test(test_own_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
