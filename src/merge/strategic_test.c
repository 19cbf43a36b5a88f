#include "merge/strategic.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "merge/trees_test.h"

static const struct kind_type *type_of(const char *kind)
{
    static const char *const versions[] = { "v1", "apps/v1", "networking.k8s.io/v1" };
    const struct kind_type *t = NULL;
    for (size_t i = 0; !t && i < ARRAY_LEN(versions); i++)
        t = kind_find(str_of(versions[i]), str_of(kind));
    return t;
}

/* A result, or a refusal that begins with '!'. */
static const struct {
    const char *kind, *doc, *patch, *result;
} cases[] = {
    { "Pod", "{'a':1}", "{}", "{'a':1}" },
    { "ConfigMap", "{'data':{'a':'1','b':'2'}}", "{'data':{'a':null,'c':'3'}}",
      "{'data':{'b':'2','c':'3'}}" },
    { "ConfigMap", "{'data':{'a':'1'}}", "{'data':{'$patch':'replace','b':'2'}}",
      "{'data':{'b':'2'}}" },
    { "ConfigMap", "{'data':{'a':'1'}}", "{'data':{'$patch':'delete','b':'2'}}", "{'data':{}}" },
    { "ConfigMap", "{'data':{'a':'1'}}", "{'data':{'$patch':'merge'}}",
      "!unknown patch type: merge in map: map[$patch:merge]" },
    { "ConfigMap", "{'data':{'a':'1'}}", "{'data':{'$patch':{'x':[1,true,null,1.5,'s']}}}",
      "!unknown patch type: map[x:[%!s(int64=1) %!s(bool=true) %!s(<nil>) %!s(float64=1.5) s]] in "
      "map: map[$patch:map[x:[1 true <nil> 1.5 s]]]" },
    { "ConfigMap", "{}", "{'data':{'$patch':'delete'}}", "{}" },
    { "ConfigMap", "{}", "{'data':{'a':null,'b':{'$patch':'x'},'c':[{'$patch':1},{'d':null}]}}",
      "{'data':{'c':[{}]}}" },
    { "ConfigMap", "{'data':{'a':{}}}", "{'data':{'a':{'b':'c'}}}",
      "!merging an object in json but data type is not struct, instead is: map" },
    { "ConfigMap", "{'data':'x'}", "{'data':{'a':null}}", "{'data':{}}" },
    { "ConfigMap", "{'data':{'a':'1'}}", "{'data':'x'}", "{'data':'x'}" },

    /* Lists of objects. */
    { "Service", "{'spec':{'ports':[{'port':1,'name':'a'},{'port':2}]}}",
      "{'spec':{'ports':[{'port':2,'name':'b'}]}}",
      "{'spec':{'ports':[{'name':'a','port':1},{'name':'b','port':2}]}}" },
    { "Service", "{'spec':{'ports':[{'port':1},{'port':2}]}}", "{'spec':{'ports':[{'port':3}]}}",
      "{'spec':{'ports':[{'port':3},{'port':1},{'port':2}]}}" },
    { "Service", "{'spec':{'ports':[{'port':1},{'port':2},{'port':1,'name':'x'}]}}",
      "{'spec':{'ports':[{'port':1,'$patch':'delete'}]}}", "{'spec':{'ports':[{'port':2}]}}" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}",
      "{'spec':{'ports':[{'$patch':'replace'},{'port':3,'name':null}]}}",
      "{'spec':{'ports':[{'port':3,'name':null}]}}" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}", "{'spec':{'ports':[{'port':1.0,'name':'x'}]}}",
      "{'spec':{'ports':[{'port':1.0,'name':'x'},{'port':1}]}}" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}", "{'spec':{'ports':[{'name':'x'}]}}",
      "!map: map[name:x] does not contain declared merge key: port" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}", "{'spec':{'ports':[{'port':{}}]}}",
      "!expected a string, but received a map[string]interface {}" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}",
      "{'spec':{'ports':[{'port':1,'$patch':'merge'}]}}",
      "!merging lists cannot yet be specified in the patch" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}", "{'spec':{'ports':['x']}}",
      "!list element types are not identical: [[map[port:1]] [x]]" },
    { "Service", "{'spec':{'ports':[[]]}}", "{'spec':{'ports':[{'port':1}]}}",
      "!the server rejected our request due to an error in our request" },
    { "Service", "{'spec':{'ports':[]}}", "{'spec':{'ports':[]}}", "{'spec':{'ports':[]}}" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}",
      "{'spec':{'$deleteFromPrimitiveList/ports':[{'port':2}]}}",
      "{'spec':{'ports':[{'port':2},{'port':1}]}}" },
    { "Ingress", "{'spec':{'rules':[{'host':'a'}]}}", "{'spec':{'rules':[{'host':'b'}]}}",
      "{'spec':{'rules':[{'host':'b'}]}}" },
    { "Ingress", "{'spec':{'rules':[{'host':'a'}]}}",
      "{'spec':{'$deleteFromPrimitiveList/rules':[{'host':'a'}]}}",
      "!cannot merge lists without merge key for struct" },

    /* Sets. */
    { "Pod", "{'metadata':{'finalizers':['a','b','a']}}", "{'metadata':{'finalizers':['c','b']}}",
      "{'metadata':{'finalizers':['c','a','b']}}" },
    { "Pod", "{'metadata':{'finalizers':['a','b','c','b']}}",
      "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b','x']}}",
      "{'metadata':{'finalizers':['a','c']}}" },
    { "Pod", "{'metadata':{'finalizers':['a']}}", "{'metadata':{'$deleteFromPrimitiveList':['b']}}",
      "!invalid patch format of primitive list" },
    { "Pod", "{'metadata':{}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b']}}",
      "{'metadata':{}}" },
    { "Pod", "{'metadata':{'finalizers':['a']}}",
      "{'metadata':{'$deleteFromPrimitiveList/finalizers':null}}", "{'metadata':{}}" },

    /* Order. */
    { "Pod", "{'metadata':{'finalizers':['a','b','c']}}",
      "{'metadata':{'$setElementOrder/finalizers':['c','a']}}",
      "{'metadata':{'finalizers':['b','c','a']}}" },
    { "Pod", "{'metadata':{}}", "{'metadata':{'$setElementOrder/finalizers':['c','a']}}",
      "{'metadata':{}}" },
    { "Pod", "{'metadata':{}}",
      "{'metadata':{'$setElementOrder/finalizers':['c','a'],'finalizers':['c']}}",
      "{'metadata':{'finalizers':['c']}}" },
    { "Pod", "{'metadata':{'finalizers':['a']}}",
      "{'metadata':{'$setElementOrder/finalizers':[],'finalizers':['c','d']}}",
      "{'metadata':{'finalizers':['a','d','c']}}" },
    { "Service", "{'spec':{'ports':[{'port':1},{'port':2},{'port':3}]}}",
      "{'spec':{'$setElementOrder/ports':[{'port':4},{'port':1}],"
      "'ports':[{'port':4},{'port':2,'$patch':'delete'}]}}",
      "{'spec':{'ports':[{'port':3},{'port':4},{'port':1}]}}" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}",
      "{'spec':{'$setElementOrder/ports':[{'port':1}],'ports':[{'port':2}]}}",
      "!The order in patch list:\n[map[port:2]]\n doesn't match $setElementOrder "
      "list:\n[map[port:1]]\n" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}", "{'spec':{'$setElementOrder/ports':[1]}}",
      "!value for key 0 is not a map" },
    { "Service", "{'spec':{'ports':[{'port':1}]}}", "{'spec':{'$setElementOrder/ports':[{}]}}",
      "!map: map[] does not contain declared merge key: port" },
    { "Service", "{'spec':{'ports':[]}}", "{'spec':{'$setElementOrder/ports':[]}}",
      "!no elements in any of the given slices" },
    { "Service", "{'spec':{'ports':[]}}", "{'spec':{'$setElementOrder':[]}}",
      "!invalid patch format of setElementOrder list" },
    { "Service", "{'spec':{'ports':[]}}", "{'spec':{'$setElementOrder/type':[]}}",
      "!expected slice or array type, but got: struct" },
    { "Service", "{'spec':{}}", "{'spec':{'$setElementOrder/Ports':[{}]}}", "{'spec':{}}" },

    /* $retainKeys. */
    { "Deployment", "{'spec':{'strategy':{'type':'a','rollingUpdate':{}}}}",
      "{'spec':{'strategy':{'$retainKeys':['type'],'type':'b'}}}",
      "{'spec':{'strategy':{'type':'b'}}}" },
    { "Deployment", "{'spec':{'strategy':{'type':'a'}}}",
      "{'spec':{'strategy':{'$retainKeys':'type'}}}", "!invalid patch format of retainKeys" },
    { "Deployment", "{'spec':{'strategy':{'type':'a'}}}",
      "{'spec':{'strategy':{'$retainKeys':[],'type':'b'}}}",
      "!invalid patch format of retainKeys" },
};

static void test_apply(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value doc = tree(cases[i].doc), patch = tree(cases[i].patch);
        struct str doc_text = text_of(&doc), patch_text = text_of(&patch);
        struct value before = value_share(&doc);
        struct err err = ERR_INIT(&arena);
        int r =
            strategic_apply(&arena, &strategic_kinds, type_of(cases[i].kind), &patch, &doc, &err);
        bool is_refused = cases[i].result[0] == '!';
        bool same = (r < 0) == is_refused;
        if (same && is_refused) {
            same = str_eq(err.msg, str_of(cases[i].result + 1));
        } else if (same) {
            struct value want = tree(cases[i].result);
            same = value_eq(&doc, &want);
        }
        if (!same)
            fail_msg("%s with %s became " STR_FMT " (" STR_FMT ")", cases[i].doc, cases[i].patch,
                     STR_ARG(text_of(&doc)), STR_ARG(err.msg));
        assert_true(str_eq(text_of(&before), doc_text));
        assert_true(str_eq(text_of(&patch), patch_text));
    }
}

/* ---- random objects of every kind ---- */

static struct value random_object(uint64_t *seed, const struct kind_type *t, int depth);

static struct value random_scalar(uint64_t *seed, const struct kind_field *f)
{
    static const struct str texts[] = {
        STR("a"), STR("b"), STR("c d"), STR(""), STR("10"), STR("9")
    };
    switch ((enum kind_scalar)f->scalar) {
    case KIND_BOOL:
        return value_bool(random_below(seed, 2));
    case KIND_INT32:
    case KIND_INT64:
        return value_int((int64_t)random_below(seed, 12));
    default:
        return value_string(texts[random_below(seed, ARRAY_LEN(texts))]);
    }
}

static struct value random_item(uint64_t *seed, const struct kind_field *f, int depth)
{
    if (f->scalar == KIND_STRUCT)
        return random_object(seed, f->type, depth - 1);
    return random_scalar(seed, f);
}

static bool has_key(const struct value *list, const struct value *item, struct str merge_key)
{
    value_each_item (it, list) {
        if (merge_key.n ? value_eq(value_get(it, merge_key), value_get(item, merge_key))
                        : value_eq(it, item))
            return true;
    }
    return false;
}

/* No two items that would be the same one. */
static struct value random_list(uint64_t *seed, const struct kind_field *f, int depth)
{
    struct value list = value_array();
    for (size_t n = random_below(seed, 6); n; n--) {
        struct value item = random_item(seed, f, depth);
        const struct kind_field *key = f->patch_key.n && f->scalar == KIND_STRUCT
                                           ? kind_field_find(f->type, f->patch_key)
                                           : NULL;
        if (key)
            value_put(&arena, &item, key->name, random_scalar(seed, key));
        if (!(f->flags & KIND_PATCH_MERGE) || !has_key(&list, &item, f->patch_key))
            value_put_item(&arena, &list, item);
    }
    return list;
}

static struct value random_map(uint64_t *seed, const struct kind_field *f)
{
    static const struct str names[] = { STR("x"), STR("y"), STR("z") };
    struct value map = value_object();
    for (size_t n = random_below(seed, 4); n; n--)
        value_put(&arena, &map, names[random_below(seed, 3)], random_scalar(seed, f));
    return map;
}

/* What upstream refuses to look into differs as a whole, or is left out. */
static bool is_mergeable(const struct kind_field *f)
{
    if (f->flags & KIND_INLINE)
        return false;
    if (f->scalar == KIND_STRUCT)
        return f->shape != KIND_MAP && f->type->form == KIND_FORM_OBJECT;
    return true;
}

static struct value random_object(uint64_t *seed, const struct kind_type *t, int depth)
{
    struct value obj = value_object();
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (!is_mergeable(f) || random_below(seed, 3) || (f->scalar == KIND_STRUCT && !depth))
            continue;
        struct value v = f->shape == KIND_LIST  ? random_list(seed, f, depth)
                         : f->shape == KIND_MAP ? random_map(seed, f)
                                                : random_item(seed, f, depth);
        value_put_new(&arena, &obj, f->name, v);
    }
    return obj;
}

static void check_same(const char *what, const struct kind_type *t, const struct value *have,
                       const struct value *want, const struct value *patch)
{
    if (!value_eq(have, want))
        fail_msg("%s of " STR_FMT "\nwant " STR_FMT "\nhave " STR_FMT "\npatch " STR_FMT, what,
                 STR_ARG(t->name), STR_ARG(text_of(want)), STR_ARG(text_of(have)),
                 STR_ARG(text_of(patch)));
}

static void apply(const struct kind_type *t, const struct value *patch, struct value *doc)
{
    struct err err = ERR_INIT(&arena);
    if (strategic_apply(&arena, &strategic_kinds, t, patch, doc, &err) < 0)
        fail_msg(STR_FMT ": " STR_FMT " to " STR_FMT, STR_ARG(err.msg), STR_ARG(text_of(patch)),
                 STR_ARG(text_of(doc)));
}

static void check_pair(uint64_t *seed, const struct kind_type *t)
{
    struct err err = ERR_INIT(&arena);
    struct value from = random_object(seed, t, 5), to = random_object(seed, t, 5), patch;
    struct str from_text = text_of(&from), to_text = text_of(&to);

    assert_int_equal(strategic_two_way(&arena, &strategic_kinds, t, &from, &to, &patch, &err), 0);
    struct value doc = value_share(&from);
    apply(t, &patch, &doc);
    check_same("two-way", t, &doc, &to, &patch);
    apply(t, &patch, &doc);
    check_same("two-way, twice", t, &doc, &to, &patch);

    if (strategic_three_way(&arena, &strategic_kinds, t, &from, &to, &from, false, &patch, &err) <
        0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    doc = value_share(&from);
    apply(t, &patch, &doc);
    check_same("three-way", t, &doc, &to, &patch);

    assert_int_equal(strategic_two_way(&arena, &strategic_kinds, t, &to, &to, &patch, &err), 0);
    assert_int_equal(patch.n, 0);

    assert_true(str_eq(text_of(&from), from_text));
    assert_true(str_eq(text_of(&to), to_text));
}

static void test_patches_lead_there(void **state)
{
    (void)state;
    uint64_t seed = 1;
    size_t kinds = 0;
    for (size_t i = 0; i < n_kind_versions; i++) {
        for (size_t k = 0; k < kind_versions[i].n_resources; k++) {
            kinds++;
            for (int round = 0; round < 30; round++) {
                arena_reset(&arena);
                check_pair(&seed, kind_versions[i].resources[k].type);
            }
        }
    }
    assert_true(kinds > 50);
}

/* Somebody else's fields stay, one's own that are gone are deleted, and the rest is as wanted. */
static void test_three_way(void **state)
{
    (void)state;
    struct value original = tree("{'metadata':{'labels':{'a':'1','b':'1'},'finalizers':['x']}}");
    struct value modified = tree("{'metadata':{'labels':{'a':'2'}}}");
    struct value current = tree("{'metadata':{'labels':{'a':'1','b':'1','c':'1'},"
                                "'finalizers':['x','y']}}");
    struct value patch;
    struct err err = ERR_INIT(&arena);
    const struct kind_type *t = type_of("ConfigMap");
    assert_int_equal(strategic_three_way(&arena, &strategic_kinds, t, &original, &modified,
                                         &current, true, &patch, &err),
                     0);
    apply(t, &patch, &current);
    struct value want = tree("{'metadata':{'labels':{'a':'2','c':'1'}}}");
    check_same("three-way", t, &current, &want, &patch);

    current = tree("{'metadata':{'labels':{'a':'3'}}}");
    assert_int_equal(strategic_three_way(&arena, &strategic_kinds, t, &original, &modified,
                                         &current, false, &patch, &err),
                     -ERR_CONFLICT);
    assert_true(str_starts(err.msg, STR("patch:\nmetadata:\n")));
}

/* ---- hostile ---- */

enum { MANY = 200000, STEP = 7919 };

/* MANY items of which each has a number, in an order that no sort likes. */
static struct value many_items(const char *kind, int from)
{
    struct value list = value_array();
    for (int i = 0; i < MANY; i++) {
        int n = (int)((int64_t)i * STEP % MANY) + from;
        struct value item = value_string(arena_printf(&arena, "f%d", n));
        if (str_eq(str_of(kind), STR("Service"))) {
            item = value_object();
            value_put_new(&arena, &item, STR("port"), value_int(n));
        }
        value_put_item(&arena, &list, item);
    }
    return list;
}

static struct value around(const char *outer, const char *inner, struct value list)
{
    struct value mid = value_object(), top = value_object();
    value_put_new(&arena, &mid, str_of(inner), list);
    value_put_new(&arena, &top, str_of(outer), mid);
    return top;
}

/* Half of the items are new, half are gone: a search for each would take minutes. */
static void test_large_lists(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *outer, *inner;
    } lists[] = { { "Service", "spec", "ports" }, { "Pod", "metadata", "finalizers" } };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        arena_reset(&arena);
        const struct kind_type *t = type_of(lists[i].kind);
        struct err err = ERR_INIT(&arena);
        struct value from = around(lists[i].outer, lists[i].inner, many_items(lists[i].kind, 0));
        struct value to =
            around(lists[i].outer, lists[i].inner, many_items(lists[i].kind, MANY / 2));
        struct value patch;
        assert_int_equal(strategic_two_way(&arena, &strategic_kinds, t, &from, &to, &patch, &err),
                         0);
        apply(t, &patch, &from);
        assert_true(value_eq(&from, &to));
        assert_int_equal(strategic_three_way(&arena, &strategic_kinds, t, &from, &to, &from, false,
                                             &patch, &err),
                         0);
    }
}

static void test_large_objects(void **state)
{
    (void)state;
    struct value data = value_object(), change = value_object();
    for (int i = 0; i < MANY; i++) {
        struct str key = arena_printf(&arena, "k%d", i);
        struct str other = arena_printf(&arena, "k%d", (int)((int64_t)i * STEP % MANY) + 10);
        value_put_new(&arena, &data, key, value_string(STR("1")));
        value_put_new(&arena, &change, other, i % 2 ? value_string(STR("2")) : value_null());
    }
    struct value doc = value_object(), patch = value_object();
    value_put_new(&arena, &doc, STR("data"), data);
    value_put_new(&arena, &patch, STR("data"), change);
    apply(type_of("ConfigMap"), &patch, &doc);
    assert_int_equal(value_get(&doc, STR("data"))->n, MANY / 2 + 10);

    struct value deletions = value_object();
    value_each_field (f, &data)
        value_put_new(&arena, &deletions,
                      arena_printf(&arena, "$deleteFromPrimitiveList/" STR_FMT, STR_ARG(f->key)),
                      value_array());
    patch = value_object();
    value_put_new(&arena, &patch, STR("data"), deletions);
    apply(type_of("ConfigMap"), &patch, &doc);
}

static struct value deep(unsigned levels, struct value leaf)
{
    for (unsigned i = 0; i < levels; i++) {
        struct value outer = value_object();
        value_put_new(&arena, &outer, STR("a"), leaf);
        leaf = outer;
    }
    return leaf;
}

static void *merge_deep(void *arg)
{
    (void)arg;
    struct err err = ERR_INIT(&arena);
    for (unsigned beyond = 0; beyond < 2; beyond++) {
        struct value doc = deep(LIMIT_PATCH_DEPTH + beyond, value_int(1));
        struct value other = deep(LIMIT_PATCH_DEPTH + beyond, value_int(2)), patch;
        int want = beyond ? -ERR_INVALID : 0;
        struct value twin = value_share(&doc);
        assert_int_equal(strategic_apply(&arena, &strategic_kinds, NULL, &other, &twin, &err),
                         want);
        assert_int_equal(
            strategic_two_way(&arena, &strategic_kinds, NULL, &doc, &other, &patch, &err), want);
        assert_int_equal(strategic_three_way(&arena, &strategic_kinds, NULL, &doc, &other, &doc,
                                             false, &patch, &err),
                         want);
    }
    /* What is only taken over may be as deep as it likes, and so may what a message shows. */
    struct value doc = value_object(), patch = deep(LIMIT_JSON_DEPTH, value_null());
    assert_int_equal(strategic_apply(&arena, &strategic_kinds, NULL, &patch, &doc, &err), 0);
    value_put(&arena, &patch, STR("$patch"), value_int(1));
    assert_int_equal(strategic_apply(&arena, &strategic_kinds, NULL, &patch, &doc, &err),
                     -ERR_UNKNOWN);
    return NULL;
}

/* As much of a stack as a worker has left for it. */
static void test_small_stack(void **state)
{
    (void)state;
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, 256 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attr, merge_deep, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_apply, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patches_lead_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_three_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_small_stack, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
