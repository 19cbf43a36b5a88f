#include "server/watch/watch_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/codec/cbor.h"
#include "api/codec/proto.h"
#include "base/idiom.h"
#include "base/json.h"
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

static const char *shown(const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    for (size_t i = 0; i < out.n; i++)
        out.p[i] = out.p[i] == '"' ? '\'' : out.p[i];
    return str_cstr(&arena, buf_str(&out));
}

/* ---- An object ---- */

#define OBJECT                                                                              \
    "{'metadata':{'name':'one','namespace':'a','creationTimestamp':'2030-01-02T03:04:05Z'," \
    "'managedFields':[{'manager':'m'}]},'data':{'k':'v'}}"

static struct selection_subject subject_of(const struct encoder *e)
{
    struct value obj;
    autobuf bytes = { 0 };
    assert_int_equal(json_read(&arena, quoted(OBJECT), NULL, &obj, NULL), 0);
    stored_write(&bytes, NULL, &obj);
    return (struct selection_subject){
        .arena = &arena,
        .encoder = e,
        .entry = { .key = STR("/registry/configmaps/a/one"),
                   .value = arena_str(&arena, buf_str(&bytes)),
                   .mod_rev = 10 },
    };
}

static struct str event(const struct encoder *e, enum watch_type type, bool columns)
{
    struct selection_subject s = subject_of(e);
    struct err err = ERR_INIT(&arena);
    autobuf out = { 0 };
    if (watch_event_object(&out, e, type, &s, columns, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return arena_str(&arena, buf_str(&out));
}

/* ---- Reading it back ---- */

/* The bytes of field `number` in a message of length-delimited fields. */
static struct str field(struct str message, unsigned number)
{
    while (message.n > 1) {
        unsigned tag = (unsigned char)message.p[0];
        size_t n = 0, at = 1, shift = 0;
        do
            n |= (size_t)((unsigned char)message.p[at] & 0x7f) << (shift++ * 7);
        while ((unsigned char)message.p[at++] & 0x80);
        struct str bytes = str_take(str_skip(message, at), n);
        if (tag == (number << 3 | 2))
            return bytes;
        message = str_skip(message, at + n);
    }
    return STR("");
}

/* The frame, the event, the extension, the envelope. */
static struct value read_proto(struct str text, const struct kind_type *type)
{
    struct proto_envelope envelope;
    struct err err = ERR_INIT(&arena);
    size_t n = 0;
    for (size_t i = 0; i < WATCH_FRAME_BYTES; i++)
        n = n << 8 | (unsigned char)text.p[i];
    struct str message = str_skip(text, WATCH_FRAME_BYTES);
    assert_int_equal(n, message.n);
    struct value v = value_object(), obj;
    assert_int_equal(proto_envelope_read(field(field(message, 2), 1), &envelope, &err), 0);
    assert_int_equal(
        proto_read(&arena, type, envelope.raw, envelope.api_version, envelope.kind, &obj, &err), 0);
    value_put_new(&arena, &v, STR("type"), value_string(field(message, 1)));
    value_put_new(&arena, &v, STR("object"), obj);
    return v;
}

static struct value read_back(const struct encoder *e, struct str text,
                              const struct kind_type *type)
{
    struct value v;
    if (e->format.media == FORMAT_PROTO)
        return read_proto(text, type);
    if (e->format.media == FORMAT_CBOR)
        assert_int_equal(cbor_read(&arena, text, &v, NULL), 0);
    else
        assert_int_equal(json_read(&arena, text, NULL, &v, NULL), 0);
    return v;
}

static void expect(const struct encoder *e, struct str text, const struct kind_type *type,
                   const char *want)
{
    struct value wanted, got = read_back(e, text, type);
    assert_int_equal(json_read(&arena, quoted(want), NULL, &wanted, NULL), 0);
    if (!value_eq(&got, &wanted))
        fail_msg("encoding %d: %s", e->format.media, shown(&got));
}

static const enum format_media media[] = { FORMAT_JSON, FORMAT_PROTO, FORMAT_CBOR };

#define META                                                                               \
    "'metadata':{'name':'one','namespace':'a','resourceVersion':'10','creationTimestamp':" \
    "'2030-01-02T03:04:05Z'}"

static void every_encoding_says_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(media); i++) {
        struct encoder e = { .format = { .media = media[i], .managers = FORMAT_MANAGERS_HIDDEN },
                             .resource = maps,
                             .stored = maps };
        expect(&e, event(&e, WATCH_MODIFIED, false), maps->type,
               "{'type':'MODIFIED','object':{'kind':'ConfigMap','apiVersion':'v1'," META
               ",'data':{'k':'v'}}}");
        e.format.as = FORMAT_PARTIAL;
        expect(&e, event(&e, WATCH_DELETED, false),
               kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadata")),
               "{'type':'DELETED','object':{'kind':'PartialObjectMetadata','apiVersion':"
               "'meta.k8s.io/v1'," META "}}");
    }
}

/* Bytes that are stored go out as they are, and what is parsed and written looks the same. */
static void json_is_a_line(void **state)
{
    struct encoder e = { .resource = maps, .stored = maps };
    (void)state;
    struct str text = event(&e, WATCH_ADDED, false);
    assert_int_equal(text.p[text.n - 1], '\n');
    assert_int_equal(str_find(text, '\n'), (ptrdiff_t)text.n - 1);
    assert_non_null(memmem(text.p, text.n, "managedFields", 13));
    struct value v = read_back(&e, text, NULL);
    autobuf again = { 0 };
    json_write(&again, &v);
    buf_byte(&again, '\n');
    assert_string_equal(str_cstr(&arena, buf_str(&again)), str_cstr(&arena, text));
}

static void a_table_names_its_columns_once(void **state)
{
    struct encoder e = { .format.as = FORMAT_TABLE,
                         .resource = maps,
                         .stored = maps,
                         .include = ENCODE_NONE,
                         .now_ns = INT64_C(1893553445) * NS_PER_SEC };
    (void)state;
    struct value first = read_back(&e, event(&e, WATCH_ADDED, true), NULL),
                 later = read_back(&e, event(&e, WATCH_ADDED, false), NULL);
    const struct value *table = value_get(&first, STR("object"));
    assert_int_equal(value_get(table, STR("columnDefinitions"))->n, 3);
    assert_string_equal(shown(value_get(table, STR("rows"))),
                        "[{'cells':['one',1,'0s'],'object':null}]");
    assert_int_equal(value_dig(&later, "object", "columnDefinitions")->type, VALUE_NULL);
    assert_true(value_eq(value_get(table, STR("rows")), value_dig(&later, "object", "rows")));
}

/* ---- The others ---- */

static struct str bookmark(const struct encoder *e, bool initial_end)
{
    autobuf out = { 0 };
    struct err err = ERR_INIT(&arena);
    assert_int_equal(watch_event_bookmark(&out, &arena, e, 99, initial_end, false, &err), 0);
    return arena_str(&arena, buf_str(&out));
}

static void bookmarks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(media); i++) {
        struct encoder e = { .format.media = media[i], .resource = maps, .stored = maps };
        struct value v = read_back(&e, bookmark(&e, false), maps->type);
        assert_string_equal(str_cstr(&arena, value_str(value_get(&v, STR("type")))), "BOOKMARK");
        assert_string_equal(
            str_cstr(&arena, value_str(value_dig(&v, "object", "metadata", "resourceVersion"))),
            "99");
        assert_null(value_dig(&v, "object", "metadata", "annotations"));
        v = read_back(&e, bookmark(&e, true), maps->type);
        assert_string_equal(shown(value_dig(&v, "object", "metadata", "annotations")),
                            "{'k8s.io/initial-events-end':'true'}");
    }
}

/* Whoever wants no objects in the rows still sees the end of the initial events. */
static void a_table_shows_the_mark(void **state)
{
    struct encoder e = {
        .format.as = FORMAT_TABLE, .resource = maps, .stored = maps, .include = ENCODE_NONE
    };
    (void)state;
    struct str plain = bookmark(&e, false), marked = bookmark(&e, true);
    assert_null(memmem(plain.p, plain.n, "PartialObjectMetadata", 21));
    assert_non_null(memmem(marked.p, marked.n, "initial-events-end", 18));
}

static void errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(media); i++) {
        struct encoder e = { .format.media = media[i], .resource = maps, .stored = maps };
        struct err err = ERR_INIT(&arena);
        autobuf out = { 0 };
        (void)err_set(&err, ERR_EXPIRED, "too old resource version: 1 (2)");
        watch_event_error(&out, &arena, &e, &err);
        expect(&e, buf_str(&out), kind_type_find(STR("meta"), STR("v1"), STR("Status")),
               "{'type':'ERROR','object':{'kind':'Status','apiVersion':'v1','metadata':{},"
               "'status':'Failure','message':'too old resource version: 1 (2)','reason':'Expired',"
               "'code':410}}");
    }
}

static void what_is_damaged_is_not_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(media); i++) {
        struct encoder e = { .format.media = media[i], .resource = maps, .stored = maps };
        struct selection_subject s = subject_of(&e);
        struct err err = ERR_INIT(&arena);
        autobuf out = { 0 };
        s.entry.value = STR("J nonsense");
        assert_int_equal(watch_event_object(&out, &e, WATCH_ADDED, &s, false, &err), -ERR_DAMAGED);
        assert_int_equal(out.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_encoding_says_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(json_is_a_line, setup, teardown),
        cmocka_unit_test_setup_teardown(a_table_names_its_columns_once, setup, teardown),
        cmocka_unit_test_setup_teardown(bookmarks, setup, teardown),
        cmocka_unit_test_setup_teardown(a_table_shows_the_mark, setup, teardown),
        cmocka_unit_test_setup_teardown(errors, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_not_shown, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
