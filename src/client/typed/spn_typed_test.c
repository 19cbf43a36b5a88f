/* Structs by tables: what is absent, null, empty or unknown is so afterwards. */
#include <sampan/typed.h>

#include <math.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "client/suite_client.h"

struct leaf_list {
    struct leaf *items;
    size_t n;
};

struct leaf_map {
    struct leaf_entry *items;
    size_t n;
};

struct leaf {
    struct spn_text name;
    struct spn_int size;
    struct leaf_list leaves;
    struct spn_value *rest;
};

struct leaf_entry {
    struct spn_text name;
    struct leaf value;
};
SPN_TYPED(leaf)

struct rows_list {
    struct spn_ints *items;
    size_t n;
};

struct tree {
    struct spn_text text, bytes;
    struct spn_bool flag;
    struct spn_int count;
    struct spn_number share;
    struct spn_int_or_text port;
    const struct spn_value *any;
    struct leaf *leaf;
    struct spn_texts texts;
    struct spn_ints ints;
    struct spn_bools flags;
    struct spn_numbers shares;
    struct spn_ints_or_texts ports;
    struct spn_values anys;
    struct leaf_list leaves;
    struct spn_pairs labels, secrets;
    struct spn_int_map limits;
    struct spn_bool_map switches;
    struct leaf_map by_name;
    struct rows_list rows;
    struct spn_value *rest;
};
SPN_TYPED(tree)

static const struct spn_field leaf_fields[] = {
    SPN_FIELD(leaf, name, "name", SPN_IS_TEXT),
    SPN_FIELD(leaf, size, "size", SPN_IS_INT),
    SPN_STRUCT_FIELD(leaf, leaves, "leaves", SPN_LIST, leaf),
};
const struct spn_struct leaf_table = SPN_STRUCT(leaf, leaf_fields);

static const struct spn_field rows_inner = { .what = SPN_IS_INT, .shape = SPN_LIST };

static const struct spn_field tree_fields[] = {
    SPN_FIELD(tree, text, "text", SPN_IS_TEXT),
    SPN_FIELD(tree, bytes, "bytes", SPN_IS_BYTES),
    SPN_FIELD(tree, flag, "flag", SPN_IS_BOOL),
    SPN_FIELD(tree, count, "count", SPN_IS_INT),
    SPN_FIELD(tree, share, "share", SPN_IS_NUMBER),
    SPN_FIELD(tree, port, "port", SPN_IS_INT_OR_TEXT),
    SPN_FIELD(tree, any, "any", SPN_IS_VALUE),
    SPN_STRUCT_FIELD(tree, leaf, "leaf", SPN_ONE, leaf),
    SPN_FIELDS(tree, texts, "texts", SPN_LIST, SPN_IS_TEXT),
    SPN_FIELDS(tree, ints, "ints", SPN_LIST, SPN_IS_INT),
    SPN_FIELDS(tree, flags, "flags", SPN_LIST, SPN_IS_BOOL),
    SPN_FIELDS(tree, shares, "shares", SPN_LIST, SPN_IS_NUMBER),
    SPN_FIELDS(tree, ports, "ports", SPN_LIST, SPN_IS_INT_OR_TEXT),
    SPN_FIELDS(tree, anys, "anys", SPN_LIST, SPN_IS_VALUE),
    SPN_STRUCT_FIELD(tree, leaves, "leaves", SPN_LIST, leaf),
    SPN_FIELDS(tree, labels, "labels", SPN_MAP, SPN_IS_TEXT),
    SPN_FIELDS(tree, secrets, "secrets", SPN_MAP, SPN_IS_BYTES),
    SPN_FIELDS(tree, limits, "limits", SPN_MAP, SPN_IS_INT),
    SPN_FIELDS(tree, switches, "switches", SPN_MAP, SPN_IS_BOOL),
    SPN_STRUCT_FIELD(tree, by_name, "byName", SPN_MAP, leaf),
    SPN_NESTED_FIELD(tree, rows, "rows", SPN_LIST, rows_inner),
};
const struct spn_struct tree_table = SPN_STRUCT(tree, tree_fields);

static struct spn_value *read_json(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    struct spn_err err;
    if (spn_value_read_json(a, spn_text_of(json), &v, &err) < 0)
        fail_msg("%s", err.message);
    return v;
}

static struct tree *read_tree(struct spn_arena *a, const char *json)
{
    struct tree *t;
    struct spn_err err;
    if (tree_decode(a, read_json(a, json), &t, &err) < 0)
        fail_msg("%s: %s", json, err.message);
    return t;
}

/* In the order of the table, so the text is the same again. */
static const char *const documents[] = {
    "{}",
    "{\"text\":\"\"}",
    "{\"text\":\"x\",\"bytes\":\"AAEC/w==\"}",
    "{\"bytes\":\"\"}",
    "{\"flag\":false,\"count\":0}",
    "{\"flag\":true,\"count\":-9223372036854775808}",
    "{\"count\":9223372036854775807,\"share\":0}",
    "{\"share\":0.10}",
    "{\"share\":1e400}",
    "{\"share\":12345678901234567890123}",
    "{\"port\":0}",
    "{\"port\":\"\"}",
    "{\"port\":\"http\"}",
    "{\"any\":{\"x\":[1,null,{\"y\":1.50}]}}",
    "{\"any\":0}",
    "{\"leaf\":{}}",
    "{\"leaf\":{\"name\":\"a\",\"size\":1,\"leaves\":[{\"name\":\"b\",\"leaves\":[]}]}}",
    "{\"texts\":[],\"ints\":[],\"leaves\":[],\"labels\":{},\"byName\":{},\"rows\":[]}",
    "{\"texts\":[\"\",\"b\"],\"ints\":[0,-1],\"flags\":[false,true],\"shares\":[1,2.50]}",
    "{\"ports\":[1,\"one\"],\"anys\":[null,1,\"x\"],\"leaves\":[{},{\"size\":0}]}",
    "{\"labels\":{\"a\":\"\",\"\":\"b\"},\"secrets\":{\"k\":\"\",\"l\":\"aGk=\"}}",
    "{\"limits\":{\"a\":0},\"switches\":{\"a\":false,\"b\":true}}",
    "{\"byName\":{\"x\":{\"size\":1,\"more\":2},\"y\":{}},\"rows\":[[],[1,2],null,[3]]}",
    /* what the struct does not know, and what is null */
    "{\"text\":null}",
    "{\"leaf\":null,\"leaves\":null,\"labels\":null,\"any\":null}",
    "{\"count\":1,\"new\":{\"deep\":[1]},\"text\":null}",
    "{\"leaf\":{\"size\":null,\"colour\":\"green\"}}",
};

static void documents_come_back(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        struct tree *t = read_tree(*state, documents[i]);
        assert_text(spn_value_json(*state, tree_encode(*state, t)), documents[i]);
    }
}

static void copies_are_equal_and_their_own(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        struct spn_arena *other = spn_arena_new();
        struct tree *t = read_tree(other, documents[i]);
        struct tree *copy = tree_copy(*state, t);
        assert_true(tree_equal(t, copy));
        (void)spn_arena_free(other);
        assert_text(spn_value_json(*state, tree_encode(*state, copy)), documents[i]);
    }
}

static void no_two_documents_are_equal(void **state)
{
    size_t n = ARRAY_LEN(documents);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            bool same =
                tree_equal(read_tree(*state, documents[i]), read_tree(*state, documents[k]));
            if (same != (i == k))
                fail_msg("%s and %s", documents[i], documents[k]);
        }
}

static void maps_have_no_order(void **state)
{
    struct tree *one = read_tree(*state, "{\"labels\":{\"a\":\"1\",\"b\":\"2\"},"
                                         "\"limits\":{\"x\":1,\"y\":2}}");
    assert_true(tree_equal(one, read_tree(*state, "{\"limits\":{\"y\":2,\"x\":1},"
                                                  "\"labels\":{\"b\":\"2\",\"a\":\"1\"}}")));
    assert_false(tree_equal(one, read_tree(*state, "{\"limits\":{\"y\":1,\"x\":2},"
                                                   "\"labels\":{\"b\":\"2\",\"a\":\"1\"}}")));
    assert_true(tree_equal(NULL, NULL));
    assert_false(tree_equal(one, NULL));
}

static void a_field_of_another_type_is_refused(void **state)
{
    static const char *const rows[][2] = {
        { "{\"text\":1}", "text: is a number and should be text" },
        { "{\"flag\":\"yes\"}", "flag: is text and should be a boolean" },
        { "{\"count\":1.5}", "count: is a number and should be an integer of 64 bits" },
        { "{\"count\":9223372036854775808}",
          "count: is a number and should be an integer of 64 bits" },
        { "{\"bytes\":\"*\"}", "bytes: is text and should be bytes in base64" },
        { "{\"share\":true}", "share: is a boolean and should be a number" },
        { "{\"port\":1.5}", "port: is a number and should be an integer or text" },
        { "{\"texts\":[\"a\",null]}", "texts[1]: is null and should be text" },
        { "{\"texts\":{}}", "texts: is an object and should be a list" },
        { "{\"labels\":[]}", "labels: is a list and should be an object" },
        { "{\"byName\":{\"x\":{\"leaves\":[{},{\"size\":\"1\"}]}}}",
          "byName.x.leaves[1].size: is text and should be an integer of 64 bits" },
        { "{\"rows\":[[1],[true]]}",
          "rows[1][0]: is a boolean and should be an integer of 64 bits" },
        { "{\"leaf\":[]}", "leaf: is a list and should be an object" },
        { "[]", "the object: is a list and should be an object" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tree *t = NULL;
        struct spn_err err;
        assert_int_equal(tree_decode(*state, read_json(*state, rows[i][0]), &t, &err),
                         -SPN_MALFORMED);
        assert_string_equal(err.message, rows[i][1]);
        assert_null(t);
    }
}

static void depth_is_bounded(void **state)
{
    struct spn_arena *a = *state;
    struct spn_value *v = spn_value_new(a, SPN_OBJECT);
    for (unsigned i = 0; i < LIMIT_TYPED_DEPTH; i++) {
        struct spn_value *list = spn_value_new(a, SPN_ARRAY),
                         *around = spn_value_new(a, SPN_OBJECT);
        (void)spn_value_push(a, list, v);
        (void)spn_value_set(a, around, "leaves", list);
        v = around;
    }
    struct leaf *leaf;
    struct spn_err err;
    assert_int_equal(leaf_decode(a, v, &leaf, &err), -SPN_MALFORMED);
    assert_string_equal(err.message, "structs lie more than 1000 deep in each other");
}

static void what_the_program_sets_counts_more_than_a_null(void **state)
{
    struct tree *t = read_tree(*state, "{\"count\":null,\"new\":1}");
    t->count = SPN_SET_INT(5);
    assert_text(spn_value_json(*state, tree_encode(*state, t)), "{\"count\":5,\"new\":1}");
}

static void numbers_that_are_changed_are_written_anew(void **state)
{
    struct tree *t = read_tree(*state, "{\"share\":0.10}");
    t->share.value = 0.25;
    assert_text(spn_value_json(*state, tree_encode(*state, t)), "{\"share\":0.25}");
    t->share.value = (double)NAN;
    assert_text(spn_value_json(*state, tree_encode(*state, t)), "{\"share\":null}");
}

static void nothing_is_an_empty_struct(void **state)
{
    struct tree *t;
    assert_int_equal(tree_decode(*state, NULL, &t, NULL), 0);
    assert_true(tree_equal(t, read_tree(*state, "{}")));
    assert_int_equal(tree_decode(*state, spn_value_new(*state, SPN_NULL), &t, NULL), 0);
    assert_true(tree_equal(t, read_tree(*state, "{}")));
}

static void lists_grow(void **state)
{
    struct tree t = { 0 };
    for (int64_t i = 0; i < 100; i++) {
        struct leaf *leaf = spn_append(*state, &t.leaves);
        assert_null(leaf->name.p);
        leaf->size = SPN_SET_INT(i);
        (void)spn_arena_alloc(*state, 24);
    }
    assert_int_equal(t.leaves.n, 100);
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(t.leaves.items[i].size.value, i);
}

static void pairs_and_texts(void **state)
{
    struct spn_pairs pairs = { 0 };
    spn_pairs_set(*state, &pairs, SPN_TEXT("a"), SPN_TEXT("1"));
    struct spn_pairs before = pairs;
    spn_pairs_set(*state, &pairs, SPN_TEXT("b"), SPN_TEXT("2"));
    spn_pairs_set(*state, &pairs, SPN_TEXT("a"), SPN_TEXT("3"));
    assert_int_equal(pairs.n, 2);
    assert_text(spn_pairs_get(pairs, SPN_TEXT("a")), "3");
    assert_text(spn_pairs_get(pairs, SPN_TEXT("b")), "2");
    assert_text(spn_pairs_get(before, SPN_TEXT("a")), "1");
    assert_null(spn_pairs_get(pairs, SPN_TEXT("c")).p);

    struct spn_texts texts = { 0 };
    assert_false(spn_texts_have(texts, SPN_TEXT("x")));
    spn_texts_add(*state, &texts, SPN_TEXT("x"));
    spn_texts_add(*state, &texts, SPN_TEXT("y"));
    assert_true(spn_texts_have(texts, SPN_TEXT("y")));
    assert_int_equal(texts.n, 2);
}

static void owned_structs(void **state)
{
    struct tree *mine = spn_typed_new(&tree_table, NULL);
    mine->text = spn_arena_printf(spn_typed_arena(mine), "%d", 5);
    struct tree *copy = spn_typed_new(&tree_table, mine);
    assert_null(spn_typed_free(mine));
    assert_text(copy->text, "5");
    assert_null(spn_typed_free(copy));
    assert_null(spn_typed_free(NULL));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(documents_come_back),
        suite_test(copies_are_equal_and_their_own),
        suite_test(no_two_documents_are_equal),
        suite_test(maps_have_no_order),
        suite_test(a_field_of_another_type_is_refused),
        suite_test(depth_is_bounded),
        suite_test(what_the_program_sets_counts_more_than_a_null),
        suite_test(numbers_that_are_changed_are_written_anew),
        suite_test(nothing_is_an_empty_struct),
        suite_test(lists_grow),
        suite_test(pairs_and_texts),
        suite_test(owned_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
