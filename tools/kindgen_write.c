/* kindgen_write.c - the tables of src/api/kind.h as C text. */
#include "kindgen.h"

#include <stdlib.h>

#include "base/banned.h"

static FILE *out;

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
    const struct type *t = map_get(&kinds.types_by_key, key);
    if (!t)
        kinds_fail("no such type", key);
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
    uint16_t *order = arena_array(&kinds.arena, uint16_t, t->n_fields + 1);
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
    const struct type *t = map_get(&kinds.types_by_key, r->ref);
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
                type_id(arena_printf(&kinds.arena, STR_FMT "List", STR_ARG(r->ref))));
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
    struct type **sorted = arena_array(&kinds.arena, struct type *, kinds.n_types);
    size_t n = 0;
    for (struct type *t = kinds.types; t; t = t->next)
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
    for (const struct resource *r = kinds.resources; r; r = r->next, n++) {
        n_columns = arena_grow(&kinds.arena, n_columns, n * sizeof(*n_columns),
                               (n + 1) * sizeof(*n_columns), 8);
        put_words("short", n, 0, r->short_names);
        put_words("categories", n, 0, r->categories);
        put_words("selectors", n, 0, r->selectors);
        put_words("aliases", n, 0, r->aliases);
        n_columns[n] = put_columns(r, n);
        put_subs(r, n);
    }
    fputs("static const struct kind_resource all_resources[] = {\n", out);
    n = 0;
    for (const struct resource *r = kinds.resources; r; r = r->next, n++)
        put_resource(r, n, n_columns[n]);
    fputs("};\n\n", out);
}

/* The resources of one version stand together. */
static void put_versions(void)
{
    size_t first = 0, n_versions = 0;
    fputs("const struct kind_version kind_versions[] = {\n", out);
    for (const struct resource *r = kinds.resources; r; n_versions++) {
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
void kinds_write(FILE *to)
{
    out = to;
    fputs("/* Made by tools/kindgen from kinds/. */\n#include \"api/kind.h\"\n\n", out);
    put_types();
    put_resources();
    put_versions();
}
