/* round_trip_test.h - the filled object of every kind, as Go wrote it in JSON, YAML and protobuf:
 * what the tests over k8s-roundtrip share. A file that belongs to no kind with a table is counted
 * as failed by whoever walks, never left out. */
#pragma once

#include "api/codec/proto.h"
#include "api/typed.h"
#include "base/json.h"
#include "base/vectors_test.h"
#include "base/yaml.h"

enum round_trip_form { ROUND_TRIP_JSON, ROUND_TRIP_YAML, ROUND_TRIP_PROTO, ROUND_TRIP_FORMS };

struct round_trip {
    struct arena arena;           /* for this kind alone */
    const char *name;             /* "apps.v1beta1.Deployment" */
    const struct kind_type *type; /* NULL: has no table */
    struct str files[ROUND_TRIP_FORMS];
};

/* "apps.v1beta1.Deployment" → the type; the names tell also what WatchEvent does not say itself. */
static inline const struct kind_type *round_trip_type(struct arena *a, struct str name)
{
    size_t kind = name.n, version;
    while (kind && name.p[kind - 1] != '.')
        kind--;
    version = kind ? kind - 1 : 0;
    while (version && name.p[version - 1] != '.')
        version--;
    if (!version)
        return NULL;
    struct str group = str_take(name, version - 1);
    struct str api_version = { name.p + version, kind - 1 - version };
    if (!str_eq(group, STR("core")))
        api_version = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(api_version));
    return kind_find(api_version, str_skip(name, kind));
}

static inline void round_trip_open(struct round_trip *r, const char *folder, struct str name)
{
    static const char *const endings[] = { "json", "yaml", "pb" };
    arena_init(&r->arena);
    r->name = str_cstr(&r->arena, name);
    r->type = round_trip_type(&r->arena, name);
    for (size_t i = 0; i < ROUND_TRIP_FORMS; i++) {
        struct str file = arena_printf(&r->arena, "%s.%s", r->name, endings[i]);
        r->files[i] =
            vectors_read(&r->arena, vectors_path(&r->arena, folder, str_cstr(&r->arena, file)));
    }
}

static inline void round_trips_in(const char *folder, void (*check)(struct round_trip *))
{
    struct arena a;
    struct dirent **names;
    size_t n_kinds = 0;
    arena_init(&a);
    size_t n = vectors_list(vectors_path(&a, folder, ""), &names);
    for (size_t i = 0; i < n; i++) {
        struct str file = str_of(names[i]->d_name), json = STR(".json");
        if (str_ends(file, json)) {
            struct round_trip r;
            round_trip_open(&r, folder, str_take(file, file.n - json.n));
            check(&r);
            arena_done(&r.arena);
            n_kinds++;
        }
        free(names[i]);
    }
    free(names);
    arena_done(&a);
    if (n != n_kinds * ROUND_TRIP_FORMS) {
        printf("%s: %zu files, but %zu of JSON\n", folder, n, n_kinds);
        exit(1);
    }
}

static inline void round_trips_each(void (*check)(struct round_trip *))
{
    round_trips_in("k8s-roundtrip", check);
    round_trips_in("k8s-roundtrip-apiextensions", check);
}

/* ---- Reading ---- */

static inline bool round_trip_names_itself(const struct round_trip *r, struct str api_version,
                                           struct str kind)
{
    if (!(r->type->flags & KIND_HAS_TYPE_META))
        return !api_version.n && !kind.n;
    return kind_find(api_version, kind) == r->type;
}

static inline int round_trip_read_tree(struct round_trip *r, enum round_trip_form form,
                                       struct value *ret, struct err *err)
{
    struct value tree;
    struct typed_notes notes;
    int e = form == ROUND_TRIP_JSON ? json_read(&r->arena, r->files[form], NULL, &tree, err)
                                    : yaml_read(&r->arena, r->files[form], NULL, &tree, err);
    if (e == 0)
        e = typed_read(&r->arena, r->type, &tree, &notes, ret, err);
    if (e == 0 && notes.n)
        e = err_set(err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(notes.notes[0]));
    if (e == 0 && !round_trip_names_itself(r, value_str(value_get(ret, STR("apiVersion"))),
                                           value_str(value_get(ret, STR("kind")))))
        e = err_set(err, ERR_BAD_REQUEST, "its name and its kind differ");
    return e;
}

static inline int round_trip_read_proto(struct round_trip *r, struct value *ret, struct err *err)
{
    struct proto_envelope envelope;
    int e = proto_envelope_read(r->files[ROUND_TRIP_PROTO], &envelope, err);
    if (e == 0 && !round_trip_names_itself(r, envelope.api_version, envelope.kind))
        e = err_set(err, ERR_BAD_REQUEST, "its name and its envelope differ");
    return e < 0 ? e
                 : proto_read(&r->arena, r->type, envelope.raw, envelope.api_version, envelope.kind,
                              ret, err);
}

/* The object as its kind; false, and says why, if it cannot be read or something in it is not
 * known. */
static inline bool round_trip_read(struct round_trip *r, enum round_trip_form form,
                                   struct value *ret)
{
    struct err err = ERR_INIT(&r->arena);
    int e;
    if (!r->type)
        e = err_set(&err, ERR_NOT_FOUND, "there is no table of its kind");
    else if (form == ROUND_TRIP_PROTO)
        e = round_trip_read_proto(r, ret, &err);
    else
        e = round_trip_read_tree(r, form, ret, &err);
    if (e < 0)
        printf("%s: " STR_FMT "\n", r->name, STR_ARG(err.msg));
    return e == 0;
}

/* ---- Writing ---- */

/* Go's encoder escapes what HTML could mistake for its own; ours does not. */
static inline void round_trip_write_json(struct buf *out, const struct value *v)
{
    autobuf text = { 0 };
    json_write_pretty(&text, v);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '<' || text.p[i] == '>' || text.p[i] == '&')
            buf_printf(out, "\\u00%02x", (unsigned)text.p[i]);
        else
            buf_byte(out, text.p[i]);
    }
}

static inline int round_trip_by_key(const void *a, const void *b)
{
    return str_cmp(((const struct value_field *)a)->key, ((const struct value_field *)b)->key);
}

/* Go writes YAML by way of maps, whose keys it sorts. */
static inline struct value round_trip_sorted(struct arena *a, const struct value *v)
{
    if (v->type == VALUE_ARRAY) {
        struct value list = value_array();
        value_each_item (item, v)
            value_put_item(a, &list, round_trip_sorted(a, item));
        return list;
    }
    if (v->type != VALUE_OBJECT || !v->n)
        return value_borrow(v);
    struct value_field *fields = arena_dup(a, v->fields, v->n * sizeof(*fields));
    qsort(fields, v->n, sizeof(*fields), round_trip_by_key);
    struct value map = value_object();
    for (size_t i = 0; i < v->n; i++)
        value_put_new(a, &map, fields[i].key, round_trip_sorted(a, &fields[i].val));
    return map;
}

/* Whether the object is written as the file that Go wrote, byte for byte. */
static inline bool round_trip_writes(struct round_trip *r, enum round_trip_form form,
                                     const struct value *v)
{
    autobuf out = { 0 };
    if (form == ROUND_TRIP_JSON) {
        round_trip_write_json(&out, v);
    } else if (form == ROUND_TRIP_YAML) {
        struct value sorted = round_trip_sorted(&r->arena, v);
        yaml_write(&out, &sorted);
    } else {
        proto_envelope_write(&out, r->type, v);
    }
    return str_eq(buf_str(&out), r->files[form]);
}

static inline bool round_trip_passes(struct round_trip *r, enum round_trip_form from,
                                     enum round_trip_form to)
{
    struct value v;
    return round_trip_read(r, from, &v) && round_trip_writes(r, to, &v);
}
