/* The filled object of every kind, as Go wrote it: protobuf read becomes the JSON beside it, and
 * written again it is the same bytes. */
#include "api/proto.h"

#include "api/typed.h"
#include "base/json.h"
#include "base/vectors_test.h"

enum suite { SUITE_READ, SUITE_WRITE, SUITE_FROM_JSON, SUITE_COUNT };

static struct vectors_count counts[SUITE_COUNT] = {
    [SUITE_READ] = { .name = "protobuf read as JSON" },
    [SUITE_WRITE] = { .name = "protobuf written byte for byte" },
    [SUITE_FROM_JSON] = { .name = "JSON written as protobuf, byte for byte" },
};
static size_t not_served;

static const struct kind_type *type_of(const struct proto_envelope *e)
{
    struct str version = e->api_version, group = STR("");
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    return kind_type_find(group, version, e->kind);
}

static bool writes_as(const struct kind_type *t, const struct value *v, struct str bytes)
{
    autobuf out = { 0 };
    proto_envelope_write(&out, t, v);
    return str_eq(buf_str(&out), bytes);
}

/* Both written by us: Go writes < as an escape, we do not. */
static bool same_text(const struct value *a, const struct value *b)
{
    autobuf text_a = { 0 };
    autobuf text_b = { 0 };
    json_write(&text_a, a);
    json_write(&text_b, b);
    return str_eq(buf_str(&text_a), buf_str(&text_b));
}

static void check_file(const char *folder, const char *name)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str bytes = vectors_read(&a, vectors_path(&a, folder, name));
    struct str stem = str_take(str_of(name), strlen(name) - 3);
    const char *beside = str_cstr(&a, arena_printf(&a, STR_FMT ".json", STR_ARG(stem)));
    struct str json = str_trim(vectors_read(&a, vectors_path(&a, folder, beside)));

    struct proto_envelope e;
    struct value v, typed, tree;
    const struct kind_type *t = NULL;
    bool read = proto_envelope_read(bytes, &e, &err) == 0;
    if (read && !(t = type_of(&e))) {
        not_served++;
        arena_done(&a);
        return;
    }
    read = read && proto_read(&a, t, e.raw, e.api_version, e.kind, &v, &err) == 0;
    bool from_json = json_read(&a, json, NULL, &tree, &err) == 0 &&
                     typed_read(&a, t, &tree, NULL, &typed, &err) == 0;
    vectors_score(&counts[SUITE_READ], read && from_json && same_text(&v, &tree), name);
    vectors_score(&counts[SUITE_WRITE], read && writes_as(t, &v, bytes), name);
    vectors_score(&counts[SUITE_FROM_JSON], from_json && writes_as(t, &typed, bytes), name);
    if (err.code)
        printf("  " STR_FMT "\n", STR_ARG(err.msg));
    arena_done(&a);
}

static void check_folder(struct arena *a, const char *folder)
{
    struct dirent **names;
    size_t n = vectors_list(vectors_path(a, folder, ""), &names);
    for (size_t i = 0; i < n; i++) {
        if (str_ends(str_of(names[i]->d_name), STR(".pb")))
            check_file(folder, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

int main(void)
{
    struct arena a;
    arena_init(&a);
    if (!vectors_are_there(&a, "k8s-roundtrip"))
        return VECTORS_SKIPPED;
    check_folder(&a, "k8s-roundtrip");
    check_folder(&a, "k8s-roundtrip-apiextensions");
    bool good = vectors_report(counts, SUITE_COUNT);
    printf("of versions that are not served yet: %zu\n", not_served);
    arena_done(&a);
    return good ? 0 : 1;
}
