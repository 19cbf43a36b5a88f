#include "server/verbs/list_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/codec/cbor.h"
#include "api/codec/proto.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/yaml.h"
#include "server/object/stored.h"

static struct arena arena;
static const struct kind_resource *maps;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    maps = kind_stored_named(STR(""), STR("configmaps"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str quoted(const char *text)
{
    char *copy = arena_dup(&arena, text, strlen(text));
    for (size_t i = 0; i < strlen(text); i++)
        copy[i] = copy[i] == '\'' ? '"' : copy[i];
    return (struct str){ copy, strlen(text) };
}

/* ---- Writing ---- */

static struct selection_subject subject_of(const struct encoder *e, const char *json, uint64_t rev)
{
    struct value obj;
    autobuf bytes = { 0 };
    assert_int_equal(json_read(&arena, quoted(json), NULL, &obj, NULL), 0);
    stored_write(&bytes, NULL, &obj);
    return (struct selection_subject){
        .arena = &arena,
        .encoder = e,
        .entry = { .key = STR("/registry/configmaps/a/x"),
                   .value = arena_str(&arena, buf_str(&bytes)),
                   .mod_rev = rev },
    };
}

#define MAP(name)                                                                               \
    "{'metadata':{'name':'" name "','namespace':'a','creationTimestamp':'2030-01-02T03:04:05Z'" \
    "},'data':{'k':'" name "'}}"

static const char *const objects[] = { MAP("one"), MAP("two") };

static void add_items(struct buf *out, const struct encoder *e, size_t n)
{
    struct err err = ERR_INIT(&arena);
    for (size_t i = 0; i < n; i++) {
        struct selection_subject s = subject_of(e, objects[i], 10 + i);
        if (list_writer_item(out, e, &s, i == 0, &err) < 0)
            fail_msg(STR_FMT, STR_ARG(err.msg));
    }
}

/* A list of the first `n` of them. */
static struct str written(const struct encoder *e, size_t n, const struct list_meta *given)
{
    struct list_meta meta = *given;
    autobuf items = { 0 }, out = { 0 };
    add_items(&items, e, n);
    meta.n_items = n;
    meta.bytes = items.n;
    list_writer_head(&out, &arena, e, &meta);
    buf_str_add(&out, buf_str(&items));
    list_writer_tail(&out, &arena, e, &meta);
    return arena_str(&arena, buf_str(&out));
}

/* ---- Reading it back ---- */

static struct value read_yaml(struct str text)
{
    struct value v;
    struct yaml_stream *s = yaml_stream_new(&arena, text, NULL);
    assert_int_equal(yaml_stream_next(s, &v, NULL), 1);
    yaml_stream_free(s);
    return v;
}

static struct value read_proto(const struct kind_type *type, struct str text)
{
    struct proto_envelope envelope;
    struct value v;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(proto_envelope_read(text, &envelope, &err), 0);
    if (proto_read(&arena, type, envelope.raw, envelope.api_version, envelope.kind, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

static struct value read_back(const struct encoder *e, struct str text)
{
    struct value v;
    const struct kind_type *type =
        e->format.as == FORMAT_OBJECT
            ? maps->list
            : kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadataList"));
    switch (e->format.media) {
    case FORMAT_JSON:
        assert_int_equal(json_read(&arena, text, NULL, &v, NULL), 0);
        break;
    case FORMAT_YAML:
        v = read_yaml(text);
        break;
    case FORMAT_CBOR:
        assert_int_equal(cbor_read(&arena, text, &v, NULL), 0);
        break;
    case FORMAT_PROTO:
        v = read_proto(type, text);
        break;
    }
    return v;
}

static const char *shown(const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    for (size_t i = 0; i < out.n; i++)
        out.p[i] = out.p[i] == '"' ? '\'' : out.p[i];
    return str_cstr(&arena, buf_str(&out));
}

static const struct format formats[] = {
    { .media = FORMAT_JSON },  { .media = FORMAT_JSON, .pretty = true },
    { .media = FORMAT_YAML },  { .media = FORMAT_CBOR },
    { .media = FORMAT_PROTO },
};

/* ---- Whole lists ---- */

#define ITEM(name, rev)                                                      \
    "{'metadata':{'name':'" name "','namespace':'a','resourceVersion':'" rev \
    "','creationTimestamp':'2030-01-02T03:04:05Z'},'data':{'k':'" name "'}}"
#define PARTIAL(name, rev)                                                                    \
    "{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1','metadata':{'name':'" name \
    "','namespace':'a','resourceVersion':'" rev "','creationTimestamp':'2030-01-02T03:04:05Z'}}"

static void every_encoding_says_the_same(void **state)
{
    static const struct {
        size_t n;
        struct list_meta meta;
        const char *want;
    } cases[] = {
        { 2,
          { .rev = 12 },
          "{'kind':'ConfigMapList','apiVersion':'v1','metadata':{'resourceVersion':'12'},"
          "'items':[" ITEM("one", "10") "," ITEM("two", "11") "]}" },
        { 1,
          { .rev = 12, .token = STR("next"), .has_remaining = true, .remaining = 7 },
          "{'kind':'ConfigMapList','apiVersion':'v1','metadata':{'resourceVersion':'12',"
          "'continue':'next','remainingItemCount':7},'items':[" ITEM("one", "10") "]}" },
        { 0,
          { .rev = 12 },
          "{'kind':'ConfigMapList','apiVersion':'v1','metadata':{'resourceVersion':'12'},"
          "'items':[]}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
            struct encoder e = { .format = formats[k], .resource = maps, .stored = maps };
            struct value want;
            assert_int_equal(json_read(&arena, quoted(cases[i].want), NULL, &want, NULL), 0);
            if (e.format.media == FORMAT_PROTO && !cases[i].n) /* cannot tell none from nothing */
                value_put(&arena, &want, STR("items"), value_null());
            struct value got = read_back(&e, written(&e, cases[i].n, &cases[i].meta));
            if (!value_eq(&got, &want))
                fail_msg("case %zu, format %zu: %s", i, k, shown(&got));
        }
}

/* In JSON it is that very text. */
static void json_is_spliced(void **state)
{
    const struct list_meta meta = { .rev = 12 };
    struct encoder e = { .resource = maps, .stored = maps };
    (void)state;
    struct str text = written(&e, 2, &meta);
    assert_string_equal(
        str_cstr(&arena, text),
        str_cstr(&arena, quoted("{'kind':'ConfigMapList','apiVersion':'v1','metadata':"
                                "{'resourceVersion':'12'},'items':[" ITEM("one", "10") "," ITEM(
                                    "two", "11") "]}\n")));
    /* And with white space what json_write_pretty() makes of the whole. */
    e.format.pretty = true;
    struct value whole = read_back(&e, text);
    autobuf pretty = { 0 };
    json_write_pretty(&pretty, &whole);
    buf_byte(&pretty, '\n');
    assert_string_equal(str_cstr(&arena, written(&e, 2, &meta)),
                        str_cstr(&arena, buf_str(&pretty)));
}

static void metadata_alone(void **state)
{
    const struct list_meta meta = { .rev = 12 };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
        struct encoder e = { .format = formats[k], .resource = maps, .stored = maps };
        struct value want;
        e.format.as = FORMAT_PARTIAL_LIST;
        /* Protobuf items have no type of their own. */
        const char *one = e.format.media == FORMAT_PROTO
                              ? "{'metadata':{'name':'one','namespace':'a','resourceVersion':'10',"
                                "'creationTimestamp':'2030-01-02T03:04:05Z'}}"
                              : PARTIAL("one", "10");
        struct str text = arena_printf(&arena,
                                       "{'kind':'PartialObjectMetadataList','apiVersion':"
                                       "'meta.k8s.io/v1','metadata':{'resourceVersion':'12'},"
                                       "'items':[%s]}",
                                       one);
        assert_int_equal(json_read(&arena, quoted(str_cstr(&arena, text)), NULL, &want, NULL), 0);
        struct value got = read_back(&e, written(&e, 1, &meta));
        if (!value_eq(&got, &want))
            fail_msg("format %zu: %s", k, shown(&got));
        /* Without any, there is not even an empty list. */
        got = read_back(&e, written(&e, 0, &meta));
        assert_int_equal(value_get(&got, STR("items"))->type, VALUE_NULL);
    }
}

/* The older form has its metadata behind its items, which only the bytes show. */
static void the_first_form_of_metadata(void **state)
{
    struct encoder e = { .format = { .media = FORMAT_PROTO, .as = FORMAT_PARTIAL_LIST },
                         .resource = maps,
                         .stored = maps };
    const struct list_meta meta = { .rev = 12 };
    struct proto_envelope now, then;
    (void)state;
    assert_int_equal(proto_envelope_read(written(&e, 1, &meta), &now, NULL), 0);
    e.format.beta = true;
    assert_int_equal(proto_envelope_read(written(&e, 1, &meta), &then, NULL), 0);
    assert_string_equal(str_cstr(&arena, then.api_version), "meta.k8s.io/v1beta1");
    assert_int_equal(now.raw.n, then.raw.n);
    /* Field 1 is the metadata now and was the items then: the lengths in front tell. */
    assert_int_equal(now.raw.p[0], 0x0a);
    assert_int_equal(then.raw.p[0], 0x0a);
    assert_true(now.raw.p[1] < then.raw.p[1]);
}

/* ---- Tables ---- */

static void rows(void **state)
{
    const struct list_meta meta = { .rev = 12, .token = STR("next") };
    struct encoder e = { .format.as = FORMAT_TABLE,
                         .resource = maps,
                         .stored = maps,
                         .include = ENCODE_NONE,
                         .now_ns = INT64_C(1893553445) * NS_PER_SEC };
    struct value table;
    (void)state;
    assert_int_equal(json_read(&arena, written(&e, 2, &meta), NULL, &table, NULL), 0);
    assert_string_equal(shown(value_get(&table, STR("metadata"))),
                        "{'resourceVersion':'12','continue':'next'}");
    assert_string_equal(shown(value_dig(value_at(value_get(&table, STR("rows")), 0), "cells")),
                        "['one',1,'0s']");
    e.format.media = FORMAT_YAML;
    struct value yaml = read_yaml(written(&e, 2, &meta));
    assert_true(value_eq(&yaml, &table));
}

/* What is printed as a whole is the same as row by row, where rows do not depend on others. */
static void rows_as_a_whole(void **state)
{
    struct encoder e = { .format.as = FORMAT_TABLE, .resource = maps, .stored = maps };
    const struct value *trees[ARRAY_LEN(objects)];
    struct err err = ERR_INIT(&arena);
    autobuf one_by_one = { 0 }, whole = { 0 };
    (void)state;
    add_items(&one_by_one, &e, ARRAY_LEN(objects));
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct selection_subject s = subject_of(&e, objects[i], 10 + i);
        assert_int_equal(selection_stored(&s, &trees[i], &err), 0);
        struct value *copy = arena_new(&arena, struct value);
        *copy = *trees[i];
        trees[i] = copy;
    }
    assert_int_equal(list_writer_rows(&whole, &arena, &e, trees, ARRAY_LEN(objects), &err), 0);
    assert_string_equal(str_cstr(&arena, buf_str(&whole)), str_cstr(&arena, buf_str(&one_by_one)));
}

/* ---- What cannot be written ---- */

static void a_damaged_object_leaves_no_trace(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
        struct encoder e = { .format = formats[k], .resource = maps, .stored = maps };
        struct err err = ERR_INIT(&arena);
        autobuf out = { 0 };
        add_items(&out, &e, 1);
        const size_t before = out.n;
        struct selection_subject s = subject_of(&e, objects[1], 11);
        s.entry.value = STR("J nonsense");
        assert_int_equal(list_writer_item(&out, &e, &s, false, &err), -ERR_DAMAGED);
        assert_int_equal(out.n, before);
    }
}

static void heads_need_to_know(void **state)
{
    (void)state;
    static const struct {
        struct format format;
        unsigned needs;
    } cases[] = {
        { { .media = FORMAT_JSON }, LIST_WRITER_TOKEN },
        { { .media = FORMAT_YAML }, 0 },
        { { .media = FORMAT_YAML, .as = FORMAT_TABLE }, LIST_WRITER_TOKEN },
        { { .media = FORMAT_CBOR }, LIST_WRITER_COUNT },
        { { .media = FORMAT_PROTO }, LIST_WRITER_BYTES | LIST_WRITER_TOKEN },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        /* A head without what it need not know is the same head. */
        struct encoder e = { .format = cases[i].format, .resource = maps, .stored = maps };
        struct list_meta all = { .rev = 1, .token = STR("t"), .n_items = 3, .bytes = 30 },
                         least = { .rev = 1, .n_items = 1 };
        autobuf full = { 0 }, known = { 0 };
        assert_int_equal(list_writer_needs(&e.format), cases[i].needs);
        if (cases[i].needs & LIST_WRITER_TOKEN)
            least.token = all.token;
        if (cases[i].needs & LIST_WRITER_COUNT)
            least.n_items = all.n_items;
        if (cases[i].needs & LIST_WRITER_BYTES)
            least.bytes = all.bytes;
        list_writer_head(&full, &arena, &e, &all);
        list_writer_head(&known, &arena, &e, &least);
        assert_int_equal(full.n, known.n);
        assert_memory_equal(full.p, known.p, full.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_encoding_says_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(json_is_spliced, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_form_of_metadata, setup, teardown),
        cmocka_unit_test_setup_teardown(rows, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_as_a_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_object_leaves_no_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(heads_need_to_know, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
