/* Generated code against a server in this process: calls, informers and listers of a kind from an
 * annotated header, of one from a definition with everything in it, and of built-in ones. */
#include <stdio.h>
#include <unistd.h>

#include <sampan/api/apiextensions_v1.h>
#include <sampan/api/core_v1.h>
#include <sampan/config.h>

#include "../server/live.h"
#include "client/suite_client.h"
#include "gen_network.h"
#include "gen_widget.h"

enum { WAIT_MS = 60000 };

static struct spn_client *client;
static struct spn_err err;

static void must(int r)
{
    if (r < 0)
        fail_msg("%s", err.message);
}

static struct spn_value *read_file(struct spn_arena *a, const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text), f);
    (void)fclose(f);
    assert_in_range(n, 1, sizeof(text) - 1);
    struct spn_value *v;
    must(spn_value_read_yaml(a, (struct spn_text){ text, n }, &v, &err));
    return v;
}

/* A definition goes to the server as a struct, too. */
static void define(struct spn_arena *a, const char *path)
{
    struct apiextensions_v1_custom_resource_definition *crd;
    must(apiextensions_v1_custom_resource_definition_decode(a, read_file(a, path), &crd, &err));
    must(apiextensions_v1_custom_resource_definition_create(client, crd, NULL, a, NULL, &err));
}

static int setup(void **state)
{
    (void)live_setup(state);
    live_populate(&live);
    const char *url = live_path("http://" STR_FMT, STR_ARG(live.address));
    const struct spn_config cfg = { .server = spn_text_of(url), .qps = -1 };
    must(spn_client_new(&cfg, &client, &err));
    struct spn_arena *a = spn_arena_new();
    define(a, NETWORK_YAML);
    define(a, WIDGET_YAML);
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    (void)spn_arena_free(*state);
    client = spn_client_free(client);
    return live_teardown(state);
}

static struct network *network(struct spn_arena *a, const char *name)
{
    struct network *n = spn_arena_alloc(a, sizeof(*n));
    n->metadata = spn_arena_alloc(a, sizeof(*n->metadata));
    n->metadata->name = spn_text_of(name);
    n->metadata->ns = SPN_TEXT("default");
    n->spec = spn_arena_alloc(a, sizeof(*n->spec));
    n->spec->cidr = SPN_TEXT("10.0.0.0/8");
    return n;
}

static void calls(void **state)
{
    struct spn_arena *a = *state;
    struct network *n = network(a, "one"), *got;
    n->spec->nat = SPN_FALSE;
    must(network_create(client, n, NULL, a, &got, &err));
    assert_text(got->api_version, "samplecrd.k8s.io/v1");
    assert_text(got->kind, "Network");
    assert_true(got->metadata->uid.n > 0);
    assert_true(got->spec->nat.is_set);
    assert_false(got->spec->nat.value);
    assert_int_equal(got->spec->mtu.value, 1500);
    assert_null(got->spec->gateway.p);
    assert_null(got->spec->routes.items);

    struct network_route *route = spn_append(a, &got->spec->routes);
    route->destination = SPN_TEXT("0.0.0.0/0");
    route->via = SPN_TEXT("10.0.0.1");
    spn_pairs_set(a, &got->metadata->labels, SPN_TEXT("tier"), SPN_TEXT("front"));
    must(network_update(client, got, NULL, a, &n, &err));
    assert_int_equal(n->metadata->generation.value, 2);
    assert_int_equal(n->spec->routes.n, 1);
    assert_true(network_spec_equal(n->spec, got->spec));

    /* `got` is an old one now */
    assert_int_equal(network_update(client, got, NULL, a, NULL, &err), -SPN_CONFLICT);
    n->spec->mtu = SPN_SET_INT(1);
    assert_int_equal(network_update(client, n, NULL, a, NULL, &err), -SPN_INVALID);

    must(network_get(client, SPN_TEXT("default"), SPN_TEXT("one"), NULL, a, &got, &err));
    assert_text(spn_pairs_get(got->metadata->labels, SPN_TEXT("tier")), "front");
    must(network_patch(client, SPN_TEXT("default"), SPN_TEXT("one"), SPN_MERGE_PATCH,
                       SPN_TEXT("{\"spec\":{\"gateway\":\"10.0.0.1\"}}"), NULL, a, &got, &err));
    assert_text(got->spec->gateway, "10.0.0.1");
    must(network_delete(client, SPN_TEXT("default"), SPN_TEXT("one"), NULL, NULL, &err));
    assert_int_equal(network_get(client, SPN_TEXT("default"), SPN_TEXT("one"), NULL, a, &got, &err),
                     -SPN_NOT_FOUND);
    assert_int_equal(network_delete(client, SPN_TEXT("default"), SPN_TEXT("one"), NULL, NULL, &err),
                     -SPN_NOT_FOUND);
    assert_null(err.status);
}

static void status_and_apply(void **state)
{
    struct spn_arena *a = *state;
    struct network *got;
    const struct spn_call how = { .manager = "test" };
    must(network_apply(client, network(a, "two"), &how, a, &got, &err));
    got->status = spn_arena_alloc(a, sizeof(*got->status));
    got->status->observed_generation = got->metadata->generation;
    struct meta_v1_condition *c = spn_append(a, &got->status->conditions);
    c->type = SPN_TEXT("Ready");
    c->status = SPN_TEXT("True");
    c->reason = SPN_TEXT("Made");
    c->message = SPN_TEXT("");
    c->last_transition_time = SPN_TEXT("2024-01-01T00:00:00Z");
    got->spec->mtu = SPN_SET_INT(9000); /* not through the status */
    must(network_update_status(client, got, NULL, a, &got, &err));
    assert_int_equal(got->spec->mtu.value, 1500);
    assert_int_equal(got->status->conditions.n, 1);
    assert_text(got->status->conditions.items[0].status, "True");
    assert_non_null(got->status->conditions.items[0].message.p);

    struct network *only = network(a, "two");
    only->status = network_status_copy(a, got->status);
    only->status->conditions.items[0].status = SPN_TEXT("False");
    only->spec = NULL;
    const struct spn_call force = { .manager = "test", .force = true };
    must(network_apply_status(client, only, &force, a, &got, &err));
    assert_text(got->status->conditions.items[0].status, "False");
    assert_text(got->spec->cidr, "10.0.0.0/8");
}

static void lists_come_in_pages(void **state)
{
    struct spn_arena *a = *state;
    for (int i = 0; i < 5; i++) {
        struct network *n = network(a, spn_arena_printf(a, "n%d", i).p);
        spn_pairs_set(a, &n->metadata->labels, SPN_TEXT("odd"),
                      i % 2 ? SPN_TEXT("1") : SPN_TEXT("0"));
        must(network_create(client, n, NULL, a, NULL, &err));
    }
    struct network_list list;
    struct spn_page page;
    struct spn_select which = { .limit = 2 };
    size_t n = 0;
    do {
        must(network_list(client, SPN_TEXT(""), &which, NULL, a, &list, &page, &err));
        for (size_t i = 0; i < list.n; i++, n++)
            assert_text(list.items[i].metadata->name, spn_arena_printf(a, "n%zu", n).p);
        which.resume = page.resume;
    } while (page.resume.n);
    assert_int_equal(n, 5);
    assert_true(page.resource_version.n > 0);
    const struct spn_select odd = { .labels = "odd=1" };
    must(network_list(client, SPN_TEXT("default"), &odd, NULL, a, &list, NULL, &err));
    assert_int_equal(list.n, 2);
    must(network_list(client, SPN_TEXT("elsewhere"), NULL, NULL, a, &list, NULL, &err));
    assert_int_equal(list.n, 0);
    assert_non_null(list.items);
}

/* ---- Informers and listers ---- */

static _Atomic int64_t seen_mtu;

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    struct spn_arena *a = spn_arena_new();
    struct network *n;
    (void)arg;
    (void)old_o;
    if (network_of(new_o, a, &n, NULL) == 0)
        seen_mtu = n->spec->mtu.value;
    (void)spn_arena_free(a);
}

static void informers_and_listers(void **state)
{
    struct spn_arena *a = *state;
    struct network *n = network(a, "b"), *got;
    spn_pairs_set(a, &n->metadata->labels, SPN_TEXT("app"), SPN_TEXT("web"));
    must(network_create(client, n, NULL, a, NULL, &err));
    must(network_create(client, network(a, "a"), NULL, a, NULL, &err));

    struct spn_informers *all = spn_informers_new(client);
    struct spn_informer *informer = network_informer(all, SPN_TEXT("default"));
    assert_ptr_equal(informer, network_informer(all, SPN_TEXT("default")));
    const struct spn_handler h = { .on_update = on_update };
    spn_informer_handle(informer, &h);
    must(spn_informers_start(all, &err));
    assert_true(spn_informers_wait(all, NULL, WAIT_MS));
    struct spn_cache *cache = spn_informer_cache(informer);

    must(network_lister_get(cache, SPN_TEXT("default"), SPN_TEXT("b"), a, &got, &err));
    assert_text(got->spec->cidr, "10.0.0.0/8");
    assert_int_equal(network_lister_get(cache, SPN_TEXT("default"), SPN_TEXT("c"), a, &got, &err),
                     -SPN_NOT_FOUND);
    assert_string_equal(err.message, "networks \"c\" not found");
    struct network_list list;
    must(network_lister_list(cache, SPN_TEXT(""), NULL, a, &list, &err));
    assert_int_equal(list.n, 2);
    assert_text(list.items[0].metadata->name, "a");
    must(network_lister_list(cache, SPN_TEXT("default"), "app=web", a, &list, &err));
    assert_int_equal(list.n, 1);
    assert_text(list.items[0].metadata->name, "b");
    must(network_lister_list(cache, SPN_TEXT("elsewhere"), NULL, a, &list, &err));
    assert_int_equal(list.n, 0);
    assert_int_equal(network_lister_list(cache, SPN_TEXT(""), "((", a, &list, &err),
                     -SPN_BAD_REQUEST);

    got->spec->mtu = SPN_SET_INT(9000);
    must(network_update(client, got, NULL, a, NULL, &err));
    while (seen_mtu != 9000)
        (void)usleep(1000);
    struct network *kept = network_new(got);
    (void)spn_informers_free(all); /* what a lister gave lives on */
    assert_text(got->spec->cidr, "10.0.0.0/8");
    assert_true(network_equal(kept, got));
    assert_null(network_free(kept));
}

/* ---- What is not known, and what is null ---- */

static void nothing_is_lost_on_the_way(void **state)
{
    static const char text[] =
        "{\"apiVersion\":\"rich.example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"},"
        "\"spec\":{\"bytes\":\"aGk=\",\"flag\":null,\"count\":9007199254740993,\"share\":0.5,"
        "\"port\":\"http\",\"raw\":{\"a\":[1,{}]},\"anything\":[null],"
        "\"matrix\":[[[1],[]],[]],\"groups\":{\"a\":[\"b\"]},\"table\":[{\"x\":1.5}],"
        "\"boxes\":{\"b\":[{\"size\":0},{}]},\"secrets\":{\"k\":\"AAE=\"},\"limits\":{\"a\":1,"
        "\"b\":\"2\"},\"maybe\":[\"x\",null],\"parts\":[{\"name\":\"p\",\"policies\":[{\"allow\":"
        "false}]}],\"part\":{\"other\":\"\"},\"named\":{\"n\":{\"weight\":0}},\"open\":{\"known\":"
        "\"k\",\"unknown\":{\"x\":1}},\"texts\":[],\"default\":\"d\",\"class\":\"c\",\"namespace\":"
        "\"ns\",\"rest\":\"r\",\"podIPs\":[\"1\"],\"podIps\":\"2\",\"$ref\":\"#\",\"9lives\":9}}";
    struct spn_arena *a = *state;
    struct spn_value *v, *before, *after;
    must(spn_value_read_json(a, spn_text_of(text), &v, &err));
    struct spn_target at = SPN_AT("rich.example.com", "v1", "widgets", "", "w");
    struct spn_target all = SPN_AT("rich.example.com", "v1", "widgets", "", "");
    must(spn_client_create(client, &all, v, NULL, a, &before, &err));

    struct widget *w;
    must(widget_get(client, SPN_TEXT("w"), NULL, a, &w, &err));
    assert_false(w->spec->flag.is_set);
    assert_int_equal(spn_value_type(spn_value_get(w->spec->rest, "flag")), SPN_NULL);
    assert_non_null(spn_value_get(w->spec->rest, "flag"));
    assert_text(w->spec->bytes, "hi");
    assert_true(w->spec->count.value == 9007199254740993);
    assert_int_equal(w->spec->matrix.items[0].items[0].items[0], 1);
    assert_int_equal(w->spec->boxes.items[0].value.n, 2);
    assert_int_equal(spn_pairs_get(w->spec->secrets, SPN_TEXT("k")).n, 2);
    assert_text(w->spec->limits.items[1].value.text, "2");
    assert_int_equal(w->spec->n9lives.value, 9);
    assert_non_null(spn_value_dig(w->spec->open->rest, "unknown", "x"));

    w->spec->text = SPN_TEXT("new");
    must(widget_update(client, w, NULL, a, NULL, &err));
    must(spn_client_get(client, &at, NULL, a, &after, &err));
    const struct spn_value *spec = spn_value_get(after, "spec");
    assert_text(spn_value_text(spn_value_get(spec, "text")), "new");
    spn_value_remove(a, spn_value_edit(a, after, "spec"), "text");
    assert_text(spn_value_json(a, spn_value_get(after, "spec")),
                spn_value_json(a, spn_value_get(before, "spec")).p);
}

/* ---- Built-in kinds ---- */

static void built_in_kinds(void **state)
{
    struct spn_arena *a = *state;
    struct core_v1_config_map *map = spn_arena_alloc(a, sizeof(*map));
    map->metadata = spn_arena_alloc(a, sizeof(*map->metadata));
    map->metadata->name = SPN_TEXT("settings");
    map->metadata->ns = SPN_TEXT("default");
    spn_pairs_set(a, &map->data, SPN_TEXT("key"), SPN_TEXT("value"));
    spn_pairs_set(a, &map->binary_data, SPN_TEXT("blob"), (struct spn_text){ "\0\xff", 2 });
    must(core_v1_config_map_create(client, map, NULL, a, &map, &err));
    must(core_v1_config_map_get(client, SPN_TEXT("default"), SPN_TEXT("settings"), NULL, a, &map,
                                &err));
    assert_text(spn_pairs_get(map->data, SPN_TEXT("key")), "value");
    struct spn_text blob = spn_pairs_get(map->binary_data, SPN_TEXT("blob"));
    assert_int_equal(blob.n, 2);
    assert_memory_equal(blob.p, "\0\xff", 2);

    struct core_v1_namespace *ns;
    must(core_v1_namespace_get(client, SPN_TEXT("default"), NULL, a, &ns, &err));
    assert_text(ns->status->phase, "Active");
    struct core_v1_namespace_list list;
    must(core_v1_namespace_list(client, NULL, NULL, a, &list, NULL, &err));
    assert_true(list.n >= 1);
}

#define live_test(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        live_test(calls),
        live_test(status_and_apply),
        live_test(lists_come_in_pages),
        live_test(informers_and_listers),
        live_test(nothing_is_lost_on_the_way),
        live_test(built_in_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
