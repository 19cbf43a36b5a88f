/* kinds_file.c - lines of kinds/ to types, fields and resources; tools/kindgen.c has the grammar.
 */
#include "generate/kinds_file.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/banned.h"

enum { FILE_MAX_BYTES = 1 << 20 };

struct kinds kinds;

static struct map groups; /* full names; filled before anything else is read */

/* A type that some line names. All are looked up at the end, for a file may name types of one that
 * is read after it. */
struct mention {
    struct mention *next;
    struct str key;
    const char *file;
    size_t line;
};
static struct mention *mentions;

/* Where the reader is, for messages. */
static struct {
    const char *file;
    size_t line;
    struct str group, version;
    int64_t order;
    bool is_old;
} at;

static _Noreturn void fail(const char *what, struct str about)
{
    fprintf(stderr, "%s:%zu: %s: " STR_FMT "\n", at.file, at.line, what, STR_ARG(about));
    exit(1);
}

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

static void add_word(struct kinds_words *w, struct str word)
{
    w->p = arena_grow(&kinds.arena, w->p, w->n * sizeof(*w->p), (w->n + 1) * sizeof(*w->p), 8);
    w->p[w->n++] = word;
}

static struct str unquoted(struct str s)
{
    s = str_trim(s);
    return s.n >= 2 && s.p[0] == '"' ? (struct str){ s.p + 1, s.n - 2 } : s;
}

static struct kinds_words split(struct str s, char sep)
{
    struct kinds_words w = { 0 };
    while (s.p && s.n + 1) {
        struct str piece = str_cut(&s, sep);
        add_word(&w, unquoted(piece));
        if (!s.p)
            break;
    }
    return w;
}

static struct kinds_words rest_words(struct str line)
{
    struct kinds_words w = { 0 };
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
            fail("unknown verb", word);
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
        fail("unknown group", short_name);
    return full;
}

/* "PodSpec", "core.PodSpec", "policy/v1.Eviction" → "group/version.Type". */
static struct str full_ref(struct str ref)
{
    struct str rest = ref;
    struct str owner = str_cut(&rest, '.');
    if (!rest.p)
        return arena_printf(&kinds.arena, STR_FMT "/" STR_FMT "." STR_FMT, STR_ARG(at.group),
                            STR_ARG(at.version), STR_ARG(ref));
    struct str version = owner;
    struct str group = str_cut(&version, '/');
    return arena_printf(&kinds.arena, STR_FMT "/" STR_FMT "." STR_FMT, STR_ARG(group_full(group)),
                        STR_ARG(version.p ? version : STR("v1")), STR_ARG(rest));
}

static struct str mention(struct str ref)
{
    struct mention *m = arena_new(&kinds.arena, struct mention);
    *m = (struct mention){ mentions, full_ref(ref), at.file, at.line };
    mentions = m;
    return m->key;
}

static void read_base(struct kinds_field *f, struct str name)
{
    static const char *const names[] = {
        "string",    "int32",    "int64",    "bool",        "bytes",        "double",   "Time",
        "MicroTime", "Duration", "Quantity", "IntOrString", "RawExtension", "FieldsV1", "any",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(name, str_of(names[i]))) {
            f->scalar = (enum kind_scalar)i;
            return;
        }
    f->scalar = KIND_STRUCT;
    f->ref = mention(name);
}

static void read_field_type(struct kinds_field *f, struct str text)
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

static bool fits(const struct kinds_field *f, const struct value *v)
{
    if (f->shape != KIND_SINGLE)
        return v->type == (f->shape == KIND_LIST ? VALUE_ARRAY : VALUE_OBJECT);
    switch (f->scalar) {
    case KIND_STRING:
        return v->type == VALUE_STRING;
    case KIND_INT32:
    case KIND_INT64:
        return v->type == VALUE_INT;
    case KIND_BOOL:
        return v->type == VALUE_BOOL;
    case KIND_STRUCT:
        return v->type == VALUE_OBJECT;
    default:
        return false;
    }
}

static bool is_zero(const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_BOOL:
        return !v->b;
    case VALUE_INT:
        return v->i == 0;
    case VALUE_STRING:
        return v->n == 0;
    default:
        return false;
    }
}

/* JSON, but a string needs no quotes. */
static void read_default(struct kinds_field *f, struct str text)
{
    bool is_plain = f->scalar == KIND_STRING && f->shape == KIND_SINGLE;
    if (is_plain && !str_starts(text, STR("\"")))
        f->default_value = value_string(text);
    else if (json_read(&kinds.arena, text, NULL, &f->default_value, NULL) < 0)
        fail("not valid JSON", text);
    if (!fits(f, &f->default_value))
        fail("the default has another type than the field", text);
    f->has_default = true;
    f->is_filled = f->flags & KIND_POINTER || !is_zero(&f->default_value);
}

static void read_flag(struct kinds_field *f, struct str flag)
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
    } else if (call(flag, "default", &in)) {
        f->flags |= KIND_DEFAULT_TOLD;
        read_default(f, in);
    } else if (call(flag, "fill", &in))
        read_default(f, in);
    else if (str_eq(flag, STR("milli")))
        f->flags |= KIND_MILLI;
    else if (str_eq(flag, STR("empty")))
        f->flags |= KIND_EMPTY_TOLD;
    else if (str_eq(flag, STR("old")))
        f->flags |= KIND_OLD;
    else if (call(flag, "enum", &in)) {
        f->flags |= KIND_CLOSED;
        f->values = split(in, ',');
    } else if (call(flag, "values", &in))
        f->values = split(in, ',');
    else if (call(flag, "gate", &in))
        f->gate = in;
    else if (call(flag, "go", &in))
        f->go_type = in;
    else if (str_eq(flag, STR("omitzero")))
        f->flags |= KIND_OMIT_ZERO;
    else if (str_eq(flag, STR("replace")))
        f->flags |= KIND_PATCH_REPLACE;
    else if (!call(flag, "proto", &in))
        fail("unknown flag", flag);
}

static void read_field(struct kinds_type *t, struct str line)
{
    struct kinds_field *f = arena_new(&kinds.arena, struct kinds_field);
    f->name = next_word(&line);
    f->flags = KIND_OMIT_EMPTY;
    struct str number = next_word(&line);
    if (!str_eq(number, STR("-")) && !str_to_i64(number, &f->number))
        fail("not a protobuf number", number);
    read_field_type(f, next_word(&line));
    while (line.n)
        read_flag(f, next_word(&line));
    *t->last_field = f;
    t->last_field = &f->next;
    t->n_fields++;
}

static void read_union(struct kinds_type *t, struct str line)
{
    struct kinds_union *u = arena_new(&kinds.arena, struct kinds_union);
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
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(text, str_of(rows[i].text)))
            return rows[i].form;
    fail("unknown JSON form", text);
}

static struct kinds_type *add_type(struct str name)
{
    struct kinds_type *t = arena_new(&kinds.arena, struct kinds_type);
    t->name = name;
    t->group = at.group;
    t->version = at.version;
    t->key = full_ref(name);
    t->last_field = &t->fields;
    t->next = kinds.types;
    kinds.types = t;
    kinds.n_types++;
    if (map_set(&kinds.types_by_key, t->key, t))
        fail("declared twice", t->key);
    return t;
}

static struct kinds_type *read_type(struct str line, bool is_kind)
{
    struct kinds_type *t = add_type(next_word(&line));
    t->flags = is_kind ? KIND_HAS_TYPE_META : 0;
    while (line.n) {
        struct str word = next_word(&line), in;
        if (str_eq(word, STR("atomic")))
            t->flags |= KIND_ATOMIC;
        else if (str_eq(word, STR("everywhere")))
            t->flags |= KIND_EVERYWHERE;
        else if (str_eq(word, STR("unversioned")))
            t->flags |= KIND_UNVERSIONED;
        else if (str_eq(word, STR("jsononly")))
            t->flags |= KIND_JSON_ONLY;
        else if (call(word, "json", &in))
            t->form = read_form(in);
        else if (call(word, "rule", &in))
            t->rule = in;
        else
            fail("unknown word after a type", word);
    }
    return t;
}

static struct kinds_resource *read_resource(struct str line)
{
    struct kinds_resource *r = arena_new(&kinds.arena, struct kinds_resource);
    r->group = at.group;
    r->version = at.version;
    r->order = at.order;
    r->is_old = at.is_old;
    r->plural = next_word(&line);
    struct str kind = next_word(&line);
    r->ref = mention(kind);
    char *lower = arena_dup(&kinds.arena, kind.p, kind.n);
    for (size_t i = 0; i < kind.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] |= 0x20;
    r->singular = (struct str){ lower, kind.n };
    r->namespaced = str_eq(line, STR("namespaced"));
    if (!r->namespaced && !str_eq(line, STR("cluster")))
        fail("expected `namespaced` or `cluster`", line);
    if (!r->order)
        return r;                                     /* known, but not served */
    struct kinds_resource **place = &kinds.resources; /* by order, then as they come */
    while (*place && (*place)->order <= r->order)
        place = &(*place)->next;
    r->next = *place;
    *place = r;
    return r;
}

static void read_sub(struct kinds_resource *r, struct str line)
{
    struct kinds_sub *s = arena_new(&kinds.arena, struct kinds_sub), **end = &r->subs;
    s->name = next_word(&line);
    s->ref = mention(next_word(&line));
    s->verbs = read_verbs(line);
    while (*end)
        end = &(*end)->next;
    *end = s;
    r->n_subs++;
}

/* "SINCE GONE GROUP/VERSION KIND": the releases that it is deprecated and gone since, and what
 * stands in its place; a - for what there is not. Upstream's words. */
static struct str read_deprecation(const struct kinds_resource *r, struct str line)
{
    struct str since = next_word(&line), gone = next_word(&line), kind = r->ref;
    autobuf text = { 0 };
    while (str_find(kind, '.') >= 0)
        (void)str_cut(&kind, '.');
    if (!since.n || !gone.n)
        fail("expected `deprecated SINCE GONE`", line);
    if (!str_eq(r->group, STR("core")))
        buf_printf(&text, STR_FMT "/", STR_ARG(r->group));
    buf_printf(&text, STR_FMT " " STR_FMT " is deprecated in v" STR_FMT "+", STR_ARG(r->version),
               STR_ARG(kind), STR_ARG(since));
    if (!str_eq(gone, STR("-")))
        buf_printf(&text, ", unavailable in v" STR_FMT "+", STR_ARG(gone));
    if (line.n)
        buf_printf(&text, "; use " STR_FMT, STR_ARG(line));
    return arena_str(&kinds.arena, buf_str(&text));
}

static void read_resource_line(struct kinds_resource *r, struct str line)
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
    } else if (str_eq(word, STR("deprecated")))
        r->deprecation = read_deprecation(r, line);
    else
        fail("unknown line of a resource", word);
}

static void read_lines(struct str text)
{
    struct kinds_type *type = NULL;
    struct kinds_resource *resource = NULL;
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
            if (!str_to_i64(next_word(&rest), &at.order))
                fail("not a number", line);
            at.is_old = str_eq(rest, STR("old"));
            if (rest.n && !at.is_old)
                fail("expected `old` or nothing", rest);
        } else {
            type = NULL;
            resource = NULL;
            if (str_eq(word, STR("kind")) || str_eq(word, STR("type")))
                type = read_type(rest, str_eq(word, STR("kind")));
            else if (str_eq(word, STR("resource")))
                resource = read_resource(rest);
            else
                fail("unknown line", line);
        }
    }
}

static struct str read_file(const char *path)
{
    struct err err = ERR_INIT(&kinds.arena);
    autobuf text = { 0 };
    if (file_read(path, FILE_MAX_BYTES, &text, &err) < 0) {
        fprintf(stderr, "kinds: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    return arena_str(&kinds.arena, buf_str(&text));
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
    for (struct kinds_resource *r = kinds.resources; r; r = r->next) {
        const struct kinds_type *item = map_get(&kinds.types_by_key, r->ref);
        if (!item || !(r->verbs & KIND_LIST_VERB))
            continue;
        at.group = r->group;
        at.version = r->version;
        struct str name = arena_printf(&kinds.arena, STR_FMT "List", STR_ARG(item->name));
        if (map_get(&kinds.types_by_key, full_ref(name)))
            continue;
        struct kinds_type *t = add_type(name);
        t->flags = KIND_HAS_TYPE_META;
        read_field(t, STR("metadata 1 meta.ListMeta"));
        read_field(
            t, arena_printf(&kinds.arena, "items 2 []" STR_FMT " required", STR_ARG(item->name)));
    }
}

/* Whether defaulting has anything to do with the field as such. */
static bool has_own_default(const struct kinds_field *f)
{
    return f->is_filled || f->flags & KIND_MILLI;
}

static bool finds_defaults(const struct kinds_type *t)
{
    bool found = t->rule.n;
    for (const struct kinds_field *f = t->fields; f && !found; f = f->next) {
        const struct kinds_type *inner =
            f->scalar == KIND_STRUCT ? map_get(&kinds.types_by_key, f->ref) : NULL;
        found = has_own_default(f) || (inner && inner->has_defaults);
    }
    return found;
}

/* Until nothing changes: types may hold themselves. */
static void mark_defaults(void)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (struct kinds_type *t = kinds.types; t; t = t->next)
            if (!t->has_defaults && finds_defaults(t))
                changed = t->has_defaults = true;
    }
}

static bool is_storage_version(const struct kinds_resource *r)
{
    return str_eq(r->version, r->storage_version);
}

/* Of those that share a prefix: the one that says of itself that it is stored, and rather a current
 * one than an old one. */
static const struct kinds_resource *find_stored(const struct kinds_resource *of)
{
    const struct kinds_resource *best = of;
    for (const struct kinds_resource *r = kinds.resources; r; r = r->next) {
        if (!str_eq(r->etcd_prefix, of->etcd_prefix))
            continue;
        bool better = best->is_old != r->is_old
                          ? best->is_old
                          : !is_storage_version(best) && is_storage_version(r);
        if (better)
            best = r;
    }
    return best;
}

static void look_up_stored(void)
{
    for (struct kinds_resource *one = kinds.resources; one; one = one->next) {
        const struct kinds_resource *stored = one->etcd_prefix.n ? find_stored(one) : one;
        if (stored == one)
            continue;
        one->stored = stored;
        one->storage_hash = stored->storage_hash;
    }
}

static void look_up_mentions(void)
{
    for (const struct mention *m = mentions; m; m = m->next)
        if (!map_get(&kinds.types_by_key, m->key)) {
            at.file = m->file;
            at.line = m->line;
            fail("unknown type", m->key);
        }
}

void kinds_read(int n_paths, char **paths)
{
    arena_init(&kinds.arena);
    struct str *texts = arena_array(&kinds.arena, struct str, (size_t)n_paths);
    for (int i = 0; i < n_paths; i++) {
        at.file = paths[i];
        texts[i] = read_file(paths[i]);
        note_group(texts[i]);
    }
    for (int i = 0; i < n_paths; i++) {
        at.file = paths[i];
        at.order = 0;
        at.is_old = false;
        read_lines(texts[i]);
    }
    at.file = "kinds";
    at.line = 0;
    add_list_types();
    look_up_stored();
    look_up_mentions();
    mark_defaults();
    map_done(&groups);
}

void kinds_done(void)
{
    map_done(&kinds.types_by_key);
    arena_done(&kinds.arena);
}
