/* Every object of the round-trip vectors, through CBOR and back: the tree is the same, and what is
 * written a second time has the same bytes, with the kind's type and without. */
#include "api/cbor.h"

#include "base/json.h"
#include "base/vectors_test.h"

/* Of "group/version" the parts; the core group has no slash. */
static const struct kind_type *type_of(const struct value *obj)
{
    struct str version = value_str(value_get(obj, STR("apiVersion")));
    struct str group = STR("");
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    return kind_type_find(group, version, value_str(value_get(obj, STR("kind"))));
}

static bool survives(struct arena *a, const struct kind_type *t, const struct value *obj)
{
    autobuf first = { 0 };
    autobuf second = { 0 };
    struct value again;
    struct err err = ERR_INIT(a);
    cbor_write(&first, t, obj);
    if (cbor_read(a, buf_str(&first), &again, &err) < 0) {
        printf(STR_FMT "\n", STR_ARG(err.msg));
        return false;
    }
    cbor_write(&second, t, &again);
    return value_eq(obj, &again) && str_eq(buf_str(&first), buf_str(&second));
}

int main(void)
{
    struct vectors_count counts[] = { { .name = "with the kind's type" }, { .name = "without" } };
    struct arena paths;
    arena_init(&paths);
    if (!vectors_are_there(&paths, "k8s-roundtrip")) {
        arena_done(&paths);
        return VECTORS_SKIPPED;
    }
    struct dirent **names;
    size_t n = vectors_list(vectors_path(&paths, "k8s-roundtrip", ""), &names);
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        struct value obj;
        const char *name = names[i]->d_name;
        arena_init(&a);
        if (str_ends(str_of(name), STR(".json"))) {
            struct str text = vectors_read(&a, vectors_path(&a, "k8s-roundtrip", name));
            bool read = json_read(&a, text, NULL, &obj, NULL) == 0;
            const struct kind_type *t = read ? type_of(&obj) : NULL;
            if (t)
                vectors_score(&counts[0], survives(&a, t, &obj), name);
            vectors_score(&counts[1], read && survives(&a, NULL, &obj), name);
        }
        arena_done(&a);
        free(names[i]);
    }
    free(names);
    arena_done(&paths);
    return vectors_report(counts, 2) ? 0 : 1;
}
