/* kindgen_write.c - the tables of src/api/kind.h as C text.
 *
 * A row is text. The arrays that it points to are written before it. Equal arrays are written once,
 * which saves much, because versions of one group have much in common. */
#include "kindgen.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

static FILE *out;
static struct map arrays; /* their rows to their names */

static struct str copy(const struct buf *text)
{
    return arena_str(&kinds.arena, buf_str(text));
}

/* A struct str. */
static struct str c_str(struct str s)
{
    autobuf text = { 0 };
    buf_str_add(&text, STR("{ \""));
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            buf_byte(&text, '\\');
        buf_byte(&text, s.p[i]);
    }
    buf_printf(&text, "\", %zu }", s.n);
    return copy(&text);
}

/* One that is seldom there: without a pointer, which would have to be relocated at every start. */
static struct str c_str_or_none(struct str s)
{
    return s.n ? c_str(s) : STR("{ 0 }");
}

/* The name of an array of these rows. */
static struct str c_array(const char *type, struct str rows)
{
    if (!rows.n)
        return STR("0");
    struct str *name = map_get(&arrays, rows);
    if (!name) {
        name = arena_new(&kinds.arena, struct str);
        *name = arena_printf(&kinds.arena, "array_%zu", arrays.n);
        (void)map_set(&arrays, rows, name);
        fprintf(out, "static const %s " STR_FMT "[] = {\n" STR_FMT "};\n", type, STR_ARG(*name),
                STR_ARG(rows));
    }
    return *name;
}

static struct str c_words(struct kinds_words w)
{
    autobuf rows = { 0 };
    for (size_t i = 0; i < w.n; i++)
        buf_printf(&rows, "    " STR_FMT ",\n", STR_ARG(c_str(w.p[i])));
    return c_array("struct str", copy(&rows));
}

/* ---- Defaults ---- */

static struct str c_value(const struct value *v);

static struct str c_items(const struct value *v)
{
    autobuf rows = { 0 };
    value_each_item (item, v)
        buf_printf(&rows, "    " STR_FMT ",\n", STR_ARG(c_value(item)));
    value_each_field (f, v)
        buf_printf(&rows, "    { " STR_FMT ", " STR_FMT " },\n", STR_ARG(c_str(f->key)),
                   STR_ARG(c_value(&f->val)));
    return c_array(v->type == VALUE_ARRAY ? "struct value" : "struct value_field", copy(&rows));
}

/* A struct value. Containers are never changed in place, see value_borrow(). */
static struct str c_value(const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_BOOL:
        return arena_printf(&kinds.arena, "{ .type = VALUE_BOOL, .b = %d }", v->b);
    case VALUE_INT:
        return arena_printf(&kinds.arena, "{ .type = VALUE_INT, .i = %ld }", (long)v->i);
    case VALUE_STRING:
        return arena_printf(&kinds.arena,
                            "{ .type = VALUE_STRING, .n = %u, .text = \"" STR_FMT "\" }", v->n,
                            STR_ARG(value_str(v)));
    case VALUE_ARRAY:
        return arena_printf(
            &kinds.arena, "{ .type = VALUE_ARRAY, .n = %u, .items = (struct value *)" STR_FMT " }",
            v->n, STR_ARG(c_items(v)));
    case VALUE_OBJECT:
        return arena_printf(
            &kinds.arena,
            "{ .type = VALUE_OBJECT, .n = %u, .fields = (struct value_field *)" STR_FMT " }", v->n,
            STR_ARG(c_items(v)));
    default:
        return STR("{ .type = VALUE_NULL }");
    }
}

static struct str c_default(const struct kinds_field *f)
{
    if (!f->has_default)
        return STR("0");
    return c_array("struct value", arena_printf(&kinds.arena, "    " STR_FMT ",\n",
                                                STR_ARG(c_value(&f->default_value))));
}

static bool is_filled(const struct kinds_field *f)
{
    return f->is_filled;
}

static bool is_below(const struct kinds_field *f)
{
    const struct kinds_type *inner =
        f->scalar == KIND_STRUCT ? map_get(&kinds.types_by_key, f->ref) : NULL;
    return f->flags & KIND_MILLI || (inner && inner->has_defaults);
}

static struct str c_chosen(const struct kinds_type *t,
                           bool (*is_chosen)(const struct kinds_field *), size_t *ret_n)
{
    autobuf rows = { 0 };
    size_t i = 0;
    *ret_n = 0;
    for (const struct kinds_field *f = t->fields; f; f = f->next, i++)
        if (is_chosen(f)) {
            buf_printf(&rows, "    %zu,\n", i);
            ++*ret_n;
        }
    return c_array("uint16_t", copy(&rows));
}

static struct str c_defaults(const struct kinds_type *t)
{
    if (!t->has_defaults)
        return STR("0");
    size_t n_filled, n_below;
    struct str filled = c_chosen(t, is_filled, &n_filled);
    struct str below = c_chosen(t, is_below, &n_below);
    struct str rule = STR("0");
    if (t->rule.n)
        rule = arena_printf(&kinds.arena, "defaults__" STR_FMT, STR_ARG(t->rule));
    return c_array("struct kind_defaults",
                   arena_printf(&kinds.arena,
                                "    { " STR_FMT ", " STR_FMT ", " STR_FMT ", %zu, %zu },\n",
                                STR_ARG(rule), STR_ARG(filled), STR_ARG(below), n_filled, n_below));
}

static struct str c_type(struct str key)
{
    const struct kinds_type *t = map_get(&kinds.types_by_key, key);
    assert(t); /* the reader has looked */
    return arena_printf(&kinds.arena, "&kind_types[%zu]", t->id);
}

/* ---- Types ---- */

static void add_field(struct buf *rows, const struct kinds_field *f)
{
    buf_printf(rows, "    { " STR_FMT ", %d, %d, %d, %d, %u, %zu, %zu, ", STR_ARG(c_str(f->name)),
               (int)f->number, (int)f->scalar, (int)f->shape, (int)f->merge, f->flags,
               f->list_keys.n, f->values.n);
    struct str parts[] = {
        f->scalar == KIND_STRUCT ? c_type(f->ref) : STR("0"),
        c_default(f),
        c_words(f->list_keys),
        c_str_or_none(f->patch_key),
        c_words(f->values),
        c_str_or_none(f->gate),
        c_str_or_none(f->go_type),
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        buf_printf(rows, STR_FMT ", ", STR_ARG(parts[i]));
    buf_str_add(rows, STR("},\n"));
}

static struct str c_fields(const struct kinds_type *t)
{
    autobuf rows = { 0 };
    for (const struct kinds_field *f = t->fields; f; f = f->next)
        add_field(&rows, f);
    return c_array("struct kind_field", copy(&rows));
}

static struct kinds_field *field_at(const struct kinds_type *t, size_t i)
{
    struct kinds_field *f = t->fields;
    while (i--)
        f = f->next;
    return f;
}

static const struct kinds_type *sorting;

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

static struct str c_order(const struct kinds_type *t, bool numbered,
                          int (*cmp)(const void *, const void *))
{
    uint16_t *order = arena_array(&kinds.arena, uint16_t, t->n_fields + 1);
    size_t n = 0;
    for (size_t i = 0; i < t->n_fields; i++)
        if (!numbered || field_at(t, i)->number)
            order[n++] = (uint16_t)i;
    sorting = t;
    qsort(order, n, sizeof(*order), cmp);
    autobuf rows = { 0 };
    for (size_t i = 0; i < n; i++)
        buf_printf(&rows, "    %u,\n", order[i]);
    return c_array("uint16_t", copy(&rows));
}

static struct str c_unions(const struct kinds_type *t)
{
    autobuf rows = { 0 };
    for (const struct kinds_union *u = t->unions; u; u = u->next)
        buf_printf(&rows, "    { " STR_FMT ", " STR_FMT ", %zu },\n",
                   STR_ARG(c_str(u->discriminator)), STR_ARG(c_words(u->members)),
                   u->members.n / 2);
    return c_array("struct kind_union", copy(&rows));
}

/* The core group has no name in the API. */
static struct str api_group(struct str group)
{
    return str_eq(group, STR("core")) ? STR("") : group;
}

static void add_type(struct buf *rows, const struct kinds_type *t)
{
    size_t numbers = 0;
    for (const struct kinds_field *f = t->fields; f; f = f->next)
        numbers += f->number != 0;
    struct str parts[] = {
        c_str(t->name),
        c_str(api_group(t->group)),
        c_str(t->version),
        c_fields(t),
        c_order(t, false, by_name),
        c_order(t, true, by_number),
        c_unions(t),
        c_defaults(t),
    };
    buf_str_add(rows, STR("    { "));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        buf_printf(rows, STR_FMT ", ", STR_ARG(parts[i]));
    buf_printf(rows, "%zu, %zu, %zu, %u, %d },\n", t->n_fields, numbers, t->n_unions, t->flags,
               (int)t->form);
}

static int by_key(const void *a, const void *b)
{
    const struct kinds_type *x = *(struct kinds_type *const *)a,
                            *y = *(struct kinds_type *const *)b;
    int c = str_cmp(api_group(x->group), api_group(y->group));
    if (!c)
        c = str_cmp(x->version, y->version);
    return c ? c : str_cmp(x->name, y->name);
}

static void put_types(void)
{
    struct kinds_type **sorted = arena_array(&kinds.arena, struct kinds_type *, kinds.n_types);
    size_t n = 0;
    for (struct kinds_type *t = kinds.types; t; t = t->next)
        sorted[n++] = t;
    qsort(sorted, n, sizeof(*sorted), by_key);
    for (size_t i = 0; i < n; i++)
        sorted[i]->id = i;
    autobuf rows = { 0 };
    for (size_t i = 0; i < n; i++)
        add_type(&rows, sorted[i]);
    fprintf(out, "const struct kind_type kind_types[] = {\n" STR_FMT "};\n",
            STR_ARG(buf_str(&rows)));
    fprintf(out, "const size_t n_kind_types = %zu;\n\n", n);
}

/* ---- Resources ---- */

/* "Desired:integer", "Name=name", "+Count" (wide); everything after a '|' is wide too. */
static void add_column(struct buf *rows, struct str text, bool wide)
{
    text = str_trim(text);
    bool alone = str_starts(text, STR("+"));
    text = str_trim(str_skip(text, alone));
    struct str format = text, type;
    text = str_cut(&format, '=');
    type = text;
    text = str_cut(&type, ':');
    if (!format.p)
        format = str_eq(text, STR("Name")) ? STR("name") : STR("");
    buf_printf(rows, "    { " STR_FMT ", " STR_FMT ", " STR_FMT ", %d },\n", STR_ARG(c_str(text)),
               STR_ARG(c_str(type.p ? type : STR("string"))), STR_ARG(c_str(format)),
               alone || wide);
}

static struct str c_columns(const struct kinds_resource *r, size_t *ret_n)
{
    autobuf rows = { 0 };
    bool wide = false;
    *ret_n = 0;
    for (size_t i = 0; i < r->columns.n; i++) {
        struct str piece = r->columns.p[i];
        while (piece.p) {
            add_column(&rows, str_cut(&piece, '|'), wide);
            wide |= piece.p != NULL;
            ++*ret_n;
        }
    }
    return c_array("struct kind_column", copy(&rows));
}

static struct str c_subs(const struct kinds_resource *r)
{
    autobuf rows = { 0 };
    for (const struct kinds_sub *s = r->subs; s; s = s->next)
        buf_printf(&rows, "    { " STR_FMT ", " STR_FMT ", %u },\n", STR_ARG(c_str(s->name)),
                   STR_ARG(c_type(s->ref)), s->verbs);
    return c_array("struct kind_subresource", copy(&rows));
}

static void add_resource(struct buf *rows, const struct kinds_resource *r)
{
    size_t n_columns;
    struct str list = arena_printf(&kinds.arena, STR_FMT "List", STR_ARG(r->ref));
    struct str columns = c_columns(r, &n_columns);
    struct str names[] = {
        c_str(api_group(r->group)),
        c_str(r->version),
        c_str(r->plural),
        c_str(r->singular),
        c_type(r->ref),
        r->verbs & KIND_LIST_VERB ? c_type(list) : STR("0"),
    };
    struct str parts[] = {
        c_words(r->short_names),
        c_words(r->categories),
        columns,
        c_subs(r),
        c_words(r->selectors),
        c_words(r->aliases),
        c_str(r->etcd_prefix),
        c_str(r->storage_hash),
        r->stored ? arena_printf(&kinds.arena, "&all_resources[%zu]", r->stored->id) : STR("0"),
        c_str_or_none(r->deprecation),
    };
    buf_str_add(rows, STR("    { "));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        buf_printf(rows, STR_FMT ", ", STR_ARG(names[i]));
    buf_printf(rows, "%d, %u, %zu, %zu, %zu, %zu, %zu, %zu, ", r->namespaced, r->verbs,
               r->short_names.n, r->categories.n, n_columns, r->n_subs, r->selectors.n,
               r->aliases.n / 2);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        buf_printf(rows, STR_FMT ", ", STR_ARG(parts[i]));
    buf_str_add(rows, STR("},\n"));
}

static void put_resources(void)
{
    autobuf rows = { 0 };
    size_t n = 0;
    for (struct kinds_resource *r = kinds.resources; r; r = r->next)
        r->id = n++;
    for (const struct kinds_resource *r = kinds.resources; r; r = r->next)
        add_resource(&rows, r);
    fprintf(out, "static const struct kind_resource all_resources[] = {\n" STR_FMT "};\n\n",
            STR_ARG(buf_str(&rows)));
}

/* The resources of one version stand together. */
static void put_versions(void)
{
    size_t first = 0, n_versions = 0;
    fputs("const struct kind_version kind_versions[] = {\n", out);
    for (const struct kinds_resource *r = kinds.resources; r; n_versions++) {
        const struct kinds_resource *end = r;
        size_t n = 0;
        for (; end && str_eq(end->group, r->group) && str_eq(end->version, r->version); n++)
            end = end->next;
        fprintf(out, "    { " STR_FMT ", " STR_FMT ", %d, &all_resources[%zu], %zu },\n",
                STR_ARG(c_str(api_group(r->group))), STR_ARG(c_str(r->version)), r->is_old, first,
                n);
        first += n;
        r = end;
    }
    fprintf(out, "};\nconst size_t n_kind_versions = %zu;\n", n_versions);
}

void kinds_write(FILE *to)
{
    out = to;
    fputs("/* Made by tools/kindgen from kinds/. */\n#include \"api/kind.h\"\n\n"
          "#include \"api/defaults/defaults_rules.h\"\n\n",
          out);
    put_types();
    put_resources();
    put_versions();
    map_done(&arrays);
}
