/* kindgen OUT FILE... - turns the files of kinds/ into the C tables that src/api/kind.h declares.
 *
 * A file is lines. `group`, `version` and `order` (its place in discovery; without
 * it the version is not served) come first; `resource`, `kind` and `type` each open a block of
 * indented lines; # starts a comment. A kind is a type that stands alone (apiVersion, kind). A
 * field is
 *
 *     name  protobuf-number  type  flag...
 *
 * where the type may begin with * (pointer), [] (list) or be {T} (map), and refers to another
 * group as `core.PodSpec` or `scheduling/v1alpha3.X`. Kinds that a resource lists get their List
 * type without being asked. Mistakes are reported as file:line and end the build. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/kind.h"
#include "base/file.h"
#include "base/map.h"
#include "base/banned.h"

enum { FILE_MAX_BYTES = 1 << 20 };

struct words {
    struct str *p;
    size_t n;
};

struct field {
    struct field *next;
    struct str name, ref; /* ref: "group/version.Type" of a struct */
    int64_t number;
    enum kind_scalar scalar;
    enum kind_shape shape;
    enum kind_merge merge;
    unsigned flags;
    struct str default_json, patch_key, gate;
    struct words list_keys, values;
};

struct union_row {
    struct union_row *next;
    struct str discriminator;
    struct words members;
};

struct type {
    struct type *next;
    struct str name, group, version, key; /* key: "group/version.Name" */
    struct field *fields, **last_field;
    struct union_row *unions;
    size_t n_fields, n_unions, id;
    unsigned flags;
    enum kind_json_form form;
};

struct sub {
    struct sub *next;
    struct str name, ref;
    unsigned verbs;
};

struct resource {
    struct resource *next;
    int64_t order; /* of its version in discovery */
    struct str group, version, plural, singular, ref;
    bool namespaced;
    unsigned verbs;
    struct words short_names, categories, columns, selectors, aliases;
    struct str etcd_prefix, storage_version, storage_hash;
    struct sub *subs;
    size_t n_subs;
};

static struct arena arena;
static struct type *types;
static size_t n_types;
static struct resource *resources;
static struct map types_by_key;
static struct map groups; /* full names; filled before anything else is read */
static FILE *out;

/* Where the reader is, for messages. */
static struct {
    const char *file;
    size_t line;
    struct str group, version;
    int64_t order;
} at;

static _Noreturn void fail(const char *what, struct str about)
{
    fprintf(stderr, "%s:%zu: %s: " STR_FMT "\n", at.file, at.line, what, STR_ARG(about));
    exit(1);
}

/* ---- Reading ---- */

/* The next word: up to white space, except inside parentheses. */
static struct str next_word(struct str *line)
{
    *line = str_trim(*line);
    size_t n = 0;
    int depth = 0;
    while (n < line->n && (depth || (line->p[n] != ' ' && line->p[n] != '\t'))) {
        depth += (line->p[n] == '(') - (line->p[n] == ')');
        n++;
    }
    struct str word = str_take(*line, n);
    *line = str_trim(str_skip(*line, n));
    return word;
}

static void add_word(struct words *w, struct str word)
{
    w->p = arena_grow(&arena, w->p, w->n * sizeof(*w->p), (w->n + 1) * sizeof(*w->p), 8);
    w->p[w->n++] = word;
}

static struct str unquoted(struct str s)
{
    s = str_trim(s);
    return s.n >= 2 && s.p[0] == '"' ? (struct str){ s.p + 1, s.n - 2 } : s;
}

static struct words split(struct str s, char sep)
{
    struct words w = { 0 };
    while (s.p && s.n + 1) {
        struct str piece = str_cut(&s, sep);
        add_word(&w, unquoted(piece));
        if (!s.p)
            break;
    }
    return w;
}

static struct words rest_words(struct str line)
{
    struct words w = { 0 };
    while (line.n)
        add_word(&w, next_word(&line));
    return w;
}

/* "name(inside)" → true and the inside. */
static bool call(struct str word, const char *name, struct str *ret)
{
    struct str n = str_of(name);
    if (!str_starts(word, n) || word.n < n.n + 2 || word.p[n.n] != '(' || word.p[word.n - 1] != ')')
        return false;
    *ret = (struct str){ word.p + n.n + 1, word.n - n.n - 2 };
    return true;
}

static unsigned read_verbs(struct str line)
{
    static const char *const names[] = { "create", "delete", "deletecollection", "get",
                                         "list",   "patch",  "update",           "watch" };
    if (str_eq(line, STR("all")))
        return 0xff;
    unsigned verbs = 0;
    while (line.n) {
        struct str word = next_word(&line);
        size_t i = 0;
        while (i < 8 && !str_eq(word, str_of(names[i])))
            i++;
        if (i == 8)
            fail("no such verb", word);
        verbs |= 1u << i;
    }
    return verbs;
}

/* "rbac" → "rbac.authorization.k8s.io": the group of an open file whose name starts so. */
static struct str group_full(struct str short_name)
{
    struct str full = { 0 };
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&groups, &pos, &key, &p))
        if (str_eq(key, short_name) || (str_starts(key, short_name) && key.p[short_name.n] == '.'))
            full = key;
    if (!full.p)
        fail("no such group", short_name);
    return full;
}

/* "PodSpec", "core.PodSpec", "policy/v1.Eviction" → "group/version.Type". */
static struct str full_ref(struct str ref)
{
    struct str rest = ref;
    struct str owner = str_cut(&rest, '.');
    if (!rest.p)
        return arena_printf(&arena, STR_FMT "/" STR_FMT "." STR_FMT, STR_ARG(at.group),
                            STR_ARG(at.version), STR_ARG(ref));
    struct str version = owner;
    struct str group = str_cut(&version, '/');
    return arena_printf(&arena, STR_FMT "/" STR_FMT "." STR_FMT, STR_ARG(group_full(group)),
                        STR_ARG(version.p ? version : STR("v1")), STR_ARG(rest));
}

static void read_base(struct field *f, struct str name)
{
    static const char *const names[] = {
        "string",    "int32",    "int64",    "bool",        "bytes",        "double",   "Time",
        "MicroTime", "Duration", "Quantity", "IntOrString", "RawExtension", "FieldsV1", "any",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_eq(name, str_of(names[i]))) {
            f->scalar = (enum kind_scalar)i;
            return;
        }
    f->scalar = KIND_STRUCT;
    f->ref = full_ref(name);
}

static void read_field_type(struct field *f, struct str text)
{
    if (str_starts(text, STR("*"))) {
        f->flags |= KIND_POINTER;
        text = str_skip(text, 1);
    }
    if (str_starts(text, STR("[]"))) {
        f->shape = KIND_LIST;
        text = str_skip(text, 2);
    } else if (str_starts(text, STR("{"))) {
        f->shape = KIND_MAP;
        text = (struct str){ text.p + 1, text.n - 2 };
    }
    read_base(f, text);
}

static void read_flag(struct field *f, struct str flag)
{
    struct str in;
    if (str_eq(flag, STR("required")))
        f->flags = (f->flags | KIND_REQUIRED) & ~(unsigned)KIND_OMIT_EMPTY;
    else if (str_eq(flag, STR("required-omitted")))
        f->flags |= KIND_REQUIRED;
    else if (str_eq(flag, STR("always")))
        f->flags &= ~(unsigned)KIND_OMIT_EMPTY;
    else if (str_eq(flag, STR("inline")))
        f->flags |= KIND_INLINE;
    else if (str_eq(flag, STR("retainKeys")))
        f->flags |= KIND_RETAIN_KEYS;
    else if (str_eq(flag, STR("merge")))
        f->flags |= KIND_PATCH_MERGE;
    else if (str_eq(flag, STR("atomic")))
        f->merge = KIND_MERGE_ATOMIC;
    else if (str_eq(flag, STR("granular")))
        f->merge = KIND_MERGE_GRANULAR;
    else if (str_eq(flag, STR("set")))
        f->merge = KIND_MERGE_SET;
    else if (call(flag, "map", &in)) {
        f->merge = KIND_MERGE_MAP;
        f->list_keys = split(in, ',');
    } else if (call(flag, "merge", &in)) {
        f->flags |= KIND_PATCH_MERGE;
        f->patch_key = in;
    } else if (call(flag, "default", &in))
        f->default_json = f->scalar == KIND_STRING && !str_starts(in, STR("\""))
                              ? arena_printf(&arena, "\"" STR_FMT "\"", STR_ARG(in))
                              : in;
    else if (call(flag, "enum", &in)) {
        f->flags |= KIND_CLOSED;
        f->values = split(in, ',');
    } else if (call(flag, "values", &in))
        f->values = split(in, ',');
    else if (call(flag, "gate", &in))
        f->gate = in;
    else if (str_eq(flag, STR("omitzero")))
        f->flags |= KIND_OMIT_ZERO;
    else if (str_eq(flag, STR("replace")))
        f->flags |= KIND_PATCH_REPLACE;
    else if (!call(flag, "proto", &in))
        fail("no such flag", flag);
}

static void read_field(struct type *t, struct str line)
{
    struct field *f = arena_new(&arena, struct field);
    f->name = next_word(&line);
    f->flags = KIND_OMIT_EMPTY;
    struct str number = next_word(&line);
    if (!str_eq(number, STR("-")) && !str_to_i64(number, &f->number))
        fail("no protobuf number", number);
    read_field_type(f, next_word(&line));
    while (line.n)
        read_flag(f, next_word(&line));
    *t->last_field = f;
    t->last_field = &f->next;
    t->n_fields++;
}

static void read_union(struct type *t, struct str line)
{
    struct union_row *u = arena_new(&arena, struct union_row);
    u->discriminator = next_word(&line);
    if (str_eq(u->discriminator, STR("-")))
        u->discriminator = STR("");
    while (line.n) {
        struct str pair = next_word(&line);
        struct str field = str_cut(&pair, '=');
        add_word(&u->members, field);
        add_word(&u->members, pair);
    }
    u->next = t->unions;
    t->unions = u;
    t->n_unions++;
}

static enum kind_json_form read_form(struct str text)
{
    static const struct {
        const char *text;
        enum kind_json_form form;
    } rows[] = {
        { "[]string", KIND_FORM_STRINGS },
        { "any", KIND_FORM_ANY },
        { "JSONSchemaProps|[]JSONSchemaProps", KIND_FORM_SCHEMA_OR_ARRAY },
        { "JSONSchemaProps|bool", KIND_FORM_SCHEMA_OR_BOOL },
        { "JSONSchemaProps|[]string", KIND_FORM_SCHEMA_OR_STRINGS },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(text, str_of(rows[i].text)))
            return rows[i].form;
    fail("no such JSON form", text);
}

static struct type *add_type(struct str name)
{
    struct type *t = arena_new(&arena, struct type);
    t->name = name;
    t->group = at.group;
    t->version = at.version;
    t->key = full_ref(name);
    t->last_field = &t->fields;
    t->next = types;
    types = t;
    n_types++;
    if (map_set(&types_by_key, t->key, t))
        fail("declared twice", t->key);
    return t;
}

static struct type *read_type(struct str line, bool is_kind)
{
    struct type *t = add_type(next_word(&line));
    t->flags = is_kind ? KIND_HAS_TYPE_META : 0;
    while (line.n) {
        struct str word = next_word(&line), in;
        if (str_eq(word, STR("atomic")))
            t->flags |= KIND_ATOMIC;
        else if (str_eq(word, STR("everywhere")))
            t->flags |= KIND_EVERYWHERE;
        else if (str_eq(word, STR("jsononly")))
            t->flags |= KIND_JSON_ONLY;
        else if (call(word, "json", &in))
            t->form = read_form(in);
        else
            fail("no such word for a type", word);
    }
    return t;
}

static struct resource *read_resource(struct str line)
{
    struct resource *r = arena_new(&arena, struct resource);
    r->group = at.group;
    r->version = at.version;
    r->order = at.order;
    r->plural = next_word(&line);
    struct str kind = next_word(&line);
    r->ref = full_ref(kind);
    char *lower = arena_dup(&arena, kind.p, kind.n);
    for (size_t i = 0; i < kind.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] |= 0x20;
    r->singular = (struct str){ lower, kind.n };
    r->namespaced = str_eq(line, STR("namespaced"));
    if (!r->namespaced && !str_eq(line, STR("cluster")))
        fail("neither namespaced nor cluster", line);
    if (!r->order)
        return r;                         /* known, but not served */
    struct resource **place = &resources; /* by order, then as they come */
    while (*place && (*place)->order <= r->order)
        place = &(*place)->next;
    r->next = *place;
    *place = r;
    return r;
}

static void read_sub(struct resource *r, struct str line)
{
    struct sub *s = arena_new(&arena, struct sub), **end = &r->subs;
    s->name = next_word(&line);
    s->ref = full_ref(next_word(&line));
    s->verbs = read_verbs(line);
    while (*end)
        end = &(*end)->next;
    *end = s;
    r->n_subs++;
}

static void read_resource_line(struct resource *r, struct str line)
{
    struct str word = next_word(&line);
    if (str_eq(word, STR("singular")))
        r->singular = line;
    else if (str_eq(word, STR("short")))
        r->short_names = rest_words(line);
    else if (str_eq(word, STR("categories")))
        r->categories = rest_words(line);
    else if (str_eq(word, STR("verbs")))
        r->verbs = read_verbs(line);
    else if (str_eq(word, STR("columns")))
        r->columns = split(line, ',');
    else if (str_eq(word, STR("select")))
        r->selectors = rest_words(line);
    else if (str_eq(word, STR("sub")))
        read_sub(r, line);
    else if (str_eq(word, STR("alias"))) {
        add_word(&r->aliases, next_word(&line));
        add_word(&r->aliases, line);
    } else if (str_eq(word, STR("stored"))) {
        r->etcd_prefix = next_word(&line);
        r->storage_version = next_word(&line);
        r->storage_hash = line;
    } else
        fail("no such line for a resource", word);
}

static void read_lines(struct str text)
{
    struct type *type = NULL;
    struct resource *resource = NULL;
    for (at.line = 1; text.p && text.n; at.line++) {
        struct str line = str_cut(&text, '\n');
        ptrdiff_t comment = str_find(line, '#');
        line = comment < 0 ? line : str_take(line, (size_t)comment);
        bool indented = line.n && line.p[0] == ' ';
        line = str_trim(line);
        if (!line.n)
            continue;
        struct str rest = line, word = next_word(&rest);
        if (indented && type && str_eq(word, STR("union")) && str_find(rest, '=') >= 0)
            read_union(type, rest);
        else if (indented && type)
            read_field(type, line);
        else if (indented && resource)
            read_resource_line(resource, line);
        else if (str_eq(word, STR("group")))
            at.group = rest;
        else if (str_eq(word, STR("version")))
            at.version = rest;
        else if (str_eq(word, STR("order"))) {
            if (!str_to_i64(rest, &at.order))
                fail("no number", rest);
        } else {
            type = NULL;
            resource = NULL;
            if (str_eq(word, STR("kind")) || str_eq(word, STR("type")))
                type = read_type(rest, str_eq(word, STR("kind")));
            else if (str_eq(word, STR("resource")))
                resource = read_resource(rest);
            else
                fail("what is this", line);
        }
    }
}

static struct str read_file(const char *path)
{
    struct err err = ERR_INIT(&arena);
    autobuf text = { 0 };
    if (file_read(path, FILE_MAX_BYTES, &text, &err) < 0) {
        fprintf(stderr, "kindgen: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    return arena_str(&arena, buf_str(&text));
}

/* The first line of every file names its group. */
static void note_group(struct str text)
{
    struct str line = str_cut(&text, '\n');
    if (!str_eq(next_word(&line), STR("group")) || !line.n)
        fail("the first line is not `group NAME`", line);
    (void)map_set(&groups, line, &groups);
}

/* Kinds that a resource lists have a List type of the usual form, unless kinds/ says otherwise. */
static void add_list_types(void)
{
    for (struct resource *r = resources; r; r = r->next) {
        if (!(r->verbs & KIND_LIST_VERB))
            continue;
        at.group = r->group;
        at.version = r->version;
        const struct type *item = map_get(&types_by_key, r->ref);
        if (!item)
            fail("no such type", r->ref);
        struct str name = arena_printf(&arena, STR_FMT "List", STR_ARG(item->name));
        if (map_get(&types_by_key, full_ref(name)))
            continue;
        struct type *t = add_type(name);
        t->flags = KIND_HAS_TYPE_META;
        read_field(t, STR("metadata 1 meta.ListMeta"));
        read_field(t, arena_printf(&arena, "items 2 []" STR_FMT " required", STR_ARG(item->name)));
    }
}

/* ---- Writing ---- */

static void put_str(struct str s)
{
    fputs("{ \"", out);
    for (size_t i = 0; i < s.n; i++)
        fprintf(out, s.p[i] == '"' || s.p[i] == '\\' ? "\\%c" : "%c", s.p[i]);
    fprintf(out, "\", %zu }", s.n);
}

static void put_words(const char *what, size_t a, size_t b, struct words w)
{
    if (!w.n)
        return;
    fprintf(out, "static const struct str %s_%zu_%zu[] = {", what, a, b);
    for (size_t i = 0; i < w.n; i++) {
        fputs(i ? ", " : " ", out);
        put_str(w.p[i]);
    }
    fputs(" };\n", out);
}

static void put_words_ref(const char *what, size_t a, size_t b, struct words w)
{
    if (w.n)
        fprintf(out, "%s_%zu_%zu", what, a, b);
    else
        fputs("0", out);
}

static size_t type_id(struct str key)
{
    const struct type *t = map_get(&types_by_key, key);
    if (!t)
        fail("no such type", key);
    return t->id;
}

static void put_field(const struct type *t, size_t i, const struct field *f)
{
    fputs("    { ", out);
    put_str(f->name);
    fprintf(out, ", %d, %d, %d, %d, %u, %zu, %zu, ", (int)f->number, (int)f->scalar, (int)f->shape,
            (int)f->merge, f->flags, f->list_keys.n, f->values.n);
    if (f->scalar == KIND_STRUCT)
        fprintf(out, "&kind_types[%zu], ", type_id(f->ref));
    else
        fputs("0, ", out);
    put_str(f->default_json);
    fputs(", ", out);
    put_words_ref("keys", t->id, i, f->list_keys);
    fputs(", ", out);
    put_str(f->patch_key);
    fputs(", ", out);
    put_words_ref("values", t->id, i, f->values);
    fputs(", ", out);
    put_str(f->gate);
    fputs(" },\n", out);
}

static struct field *field_at(const struct type *t, size_t i)
{
    struct field *f = t->fields;
    while (i--)
        f = f->next;
    return f;
}

static const struct type *sorting;

static int by_name(const void *a, const void *b)
{
    return str_cmp(field_at(sorting, *(const uint16_t *)a)->name,
                   field_at(sorting, *(const uint16_t *)b)->name);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = field_at(sorting, *(const uint16_t *)a)->number;
    int64_t y = field_at(sorting, *(const uint16_t *)b)->number;
    return x < y ? -1 : x > y;
}

static void put_order(const char *what, const struct type *t, bool numbered,
                      int (*cmp)(const void *, const void *))
{
    uint16_t *order = arena_array(&arena, uint16_t, t->n_fields + 1);
    size_t n = 0;
    for (size_t i = 0; i < t->n_fields; i++)
        if (!numbered || field_at(t, i)->number)
            order[n++] = (uint16_t)i;
    sorting = t;
    qsort(order, n, sizeof(*order), cmp);
    fprintf(out, "static const uint16_t %s_%zu[] = {", what, t->id);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %u,", order[i]);
    fputs(n ? " };\n" : " 0 };\n", out);
}

static void put_unions(const struct type *t)
{
    size_t i = 0;
    for (const struct union_row *u = t->unions; u; u = u->next)
        put_words("members", t->id, i++, u->members);
    if (!t->n_unions)
        return;
    fprintf(out, "static const struct kind_union unions_%zu[] = {\n", t->id);
    i = 0;
    for (const struct union_row *u = t->unions; u; u = u->next) {
        fputs("    { ", out);
        put_str(u->discriminator);
        fprintf(out, ", members_%zu_%zu, %zu },\n", t->id, i++, u->members.n / 2);
    }
    fputs("};\n", out);
}

static void put_type_parts(const struct type *t)
{
    size_t i = 0;
    for (const struct field *f = t->fields; f; f = f->next, i++) {
        put_words("keys", t->id, i, f->list_keys);
        put_words("values", t->id, i, f->values);
    }
    put_unions(t);
    put_order("by_name", t, false, by_name);
    put_order("by_number", t, true, by_number);
    if (!t->n_fields)
        return;
    fprintf(out, "static const struct kind_field fields_%zu[] = {\n", t->id);
    i = 0;
    for (const struct field *f = t->fields; f; f = f->next)
        put_field(t, i++, f);
    fputs("};\n\n", out);
}

/* The core group has no name in the API. */
static struct str api_group(struct str group)
{
    return str_eq(group, STR("core")) ? STR("") : group;
}

static void put_type(const struct type *t)
{
    size_t numbers = 0;
    for (const struct field *f = t->fields; f; f = f->next)
        numbers += f->number != 0;
    fputs("    { ", out);
    put_str(t->name);
    fputs(", ", out);
    put_str(api_group(t->group));
    fputs(", ", out);
    put_str(t->version);
    if (t->n_fields)
        fprintf(out, ", fields_%zu", t->id);
    else
        fputs(", 0", out);
    fprintf(out, ", by_name_%zu, by_number_%zu, ", t->id, t->id);
    if (t->n_unions)
        fprintf(out, "unions_%zu, ", t->id);
    else
        fputs("0, ", out);
    fprintf(out, "%zu, %zu, %zu, %u, %d },\n", t->n_fields, numbers, t->n_unions, t->flags,
            (int)t->form);
}

/* "Desired:integer", "Name=name", "+Count" (wide); everything after a '|' is wide too. */
static void put_column(struct str text, bool *wide)
{
    text = str_trim(text);
    bool alone = str_starts(text, STR("+"));
    text = str_trim(str_skip(text, alone));
    struct str format = text, type;
    text = str_cut(&format, '=');
    type = text;
    text = str_cut(&type, ':');
    fputs(" { ", out);
    put_str(text);
    fputs(", ", out);
    put_str(type.p ? type : STR("string"));
    fputs(", ", out);
    put_str(format.p ? format : str_eq(text, STR("Name")) ? STR("name") : STR(""));
    fprintf(out, ", %d },", alone || *wide);
}

static size_t put_columns(const struct resource *r, size_t id)
{
    size_t n = 0;
    bool wide = false;
    if (!r->columns.n)
        return 0;
    fprintf(out, "static const struct kind_column columns_%zu[] = {", id);
    for (size_t i = 0; i < r->columns.n; i++) {
        struct str piece = r->columns.p[i];
        while (piece.p) {
            put_column(str_cut(&piece, '|'), &wide);
            wide |= piece.p != NULL;
            n++;
        }
    }
    fputs(" };\n", out);
    return n;
}

static void put_subs(const struct resource *r, size_t id)
{
    if (!r->n_subs)
        return;
    fprintf(out, "static const struct kind_subresource subs_%zu[] = {\n", id);
    for (const struct sub *s = r->subs; s; s = s->next) {
        fputs("    { ", out);
        put_str(s->name);
        fprintf(out, ", &kind_types[%zu], %u },\n", type_id(s->ref), s->verbs);
    }
    fputs("};\n", out);
}

static void put_resource(const struct resource *r, size_t id, size_t n_columns)
{
    const struct type *t = map_get(&types_by_key, r->ref);
    fputs("    { ", out);
    put_str(api_group(r->group));
    fputs(", ", out);
    put_str(r->version);
    fputs(", ", out);
    put_str(r->plural);
    fputs(", ", out);
    put_str(r->singular);
    fprintf(out, ", &kind_types[%zu], ", t->id);
    if (r->verbs & KIND_LIST_VERB)
        fprintf(out, "&kind_types[%zu], ",
                type_id(arena_printf(&arena, STR_FMT "List", STR_ARG(r->ref))));
    else
        fputs("0, ", out);
    fprintf(out, "%d, %u, %zu, %zu, %zu, %zu, %zu, %zu, ", r->namespaced, r->verbs,
            r->short_names.n, r->categories.n, n_columns, r->n_subs, r->selectors.n,
            r->aliases.n / 2);
    put_words_ref("short", id, 0, r->short_names);
    fputs(", ", out);
    put_words_ref("categories", id, 0, r->categories);
    fprintf(out, n_columns ? ", columns_%zu, " : ", 0, ", id);
    fprintf(out, r->n_subs ? "subs_%zu, " : "0, ", id);
    put_words_ref("selectors", id, 0, r->selectors);
    fputs(", ", out);
    put_words_ref("aliases", id, 0, r->aliases);
    fputs(", ", out);
    put_str(r->etcd_prefix);
    fputs(", ", out);
    put_str(r->storage_version);
    fputs(", ", out);
    put_str(r->storage_hash);
    fputs(" },\n", out);
}

static int by_key(const void *a, const void *b)
{
    const struct type *x = *(struct type *const *)a, *y = *(struct type *const *)b;
    int c = str_cmp(api_group(x->group), api_group(y->group));
    if (!c)
        c = str_cmp(x->version, y->version);
    return c ? c : str_cmp(x->name, y->name);
}

static void put_types(void)
{
    struct type **sorted = arena_array(&arena, struct type *, n_types);
    size_t n = 0;
    for (struct type *t = types; t; t = t->next)
        sorted[n++] = t;
    qsort(sorted, n, sizeof(*sorted), by_key);
    for (size_t i = 0; i < n; i++)
        sorted[i]->id = i;
    for (size_t i = 0; i < n; i++)
        put_type_parts(sorted[i]);
    fputs("const struct kind_type kind_types[] = {\n", out);
    for (size_t i = 0; i < n; i++)
        put_type(sorted[i]);
    fprintf(out, "};\nconst size_t n_kind_types = %zu;\n\n", n);
}

static void put_resources(void)
{
    size_t *n_columns = NULL, n = 0;
    for (const struct resource *r = resources; r; r = r->next, n++) {
        n_columns =
            arena_grow(&arena, n_columns, n * sizeof(*n_columns), (n + 1) * sizeof(*n_columns), 8);
        put_words("short", n, 0, r->short_names);
        put_words("categories", n, 0, r->categories);
        put_words("selectors", n, 0, r->selectors);
        put_words("aliases", n, 0, r->aliases);
        n_columns[n] = put_columns(r, n);
        put_subs(r, n);
    }
    fputs("static const struct kind_resource all_resources[] = {\n", out);
    n = 0;
    for (const struct resource *r = resources; r; r = r->next, n++)
        put_resource(r, n, n_columns[n]);
    fputs("};\n\n", out);
}

/* The resources of one version stand together. */
static void put_versions(void)
{
    size_t first = 0, n_versions = 0;
    fputs("const struct kind_version kind_versions[] = {\n", out);
    for (const struct resource *r = resources; r; n_versions++) {
        const struct resource *end = r;
        size_t n = 0;
        for (; end && str_eq(end->group, r->group) && str_eq(end->version, r->version); n++)
            end = end->next;
        fputs("    { ", out);
        put_str(api_group(r->group));
        fputs(", ", out);
        put_str(r->version);
        fprintf(out, ", &all_resources[%zu], %zu },\n", first, n);
        first += n;
        r = end;
    }
    fprintf(out, "};\nconst size_t n_kind_versions = %zu;\n", n_versions);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("Usage: kindgen OUT FILE...\n", stderr);
        return 2;
    }
    arena_init(&arena);
    struct str *texts = arena_array(&arena, struct str, (size_t)argc);
    for (int i = 2; i < argc; i++) {
        at.file = argv[i];
        texts[i] = read_file(argv[i]);
        note_group(texts[i]);
    }
    for (int i = 2; i < argc; i++) {
        at.file = argv[i];
        at.order = 0;
        read_lines(texts[i]);
    }
    at.file = "kinds";
    add_list_types();

    out = fopen(argv[1], "we");
    if (!out) {
        fprintf(stderr, "kindgen: open %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    fputs("/* Made by tools/kindgen from kinds/. */\n#include \"api/kind.h\"\n\n", out);
    put_types();
    put_resources();
    put_versions();
    int bad = ferror(out) | fclose(out);
    map_done(&groups);
    map_done(&types_by_key);
    arena_done(&arena);
    return bad ? 1 : 0;
}
