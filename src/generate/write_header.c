/* write_header.c - gen_FILE.h: structs, and what is declared. */
#include "generate/write_c.h"

#include "base/banned.h"

static void write_nested(struct buf *out, struct model *m, const struct model_field *f,
                         struct str base);

/* The type of one item. `base`: what a list or map in it is called. */
static struct str item_type(struct model *m, const struct model_field *f, struct str base);

/* The type of a list or map. */
static struct str container_type(struct model *m, const struct model_field *f, struct str base)
{
    static const char *const lists[] = {
        [SPN_IS_TEXT] = "spn_texts",     [SPN_IS_BYTES] = "spn_texts",
        [SPN_IS_BOOL] = "spn_bools",     [SPN_IS_INT] = "spn_ints",
        [SPN_IS_NUMBER] = "spn_numbers", [SPN_IS_INT_OR_TEXT] = "spn_ints_or_texts",
        [SPN_IS_VALUE] = "spn_values",
    };
    static const char *const maps[] = {
        [SPN_IS_TEXT] = "spn_pairs",        [SPN_IS_BYTES] = "spn_pairs",
        [SPN_IS_BOOL] = "spn_bool_map",     [SPN_IS_INT] = "spn_int_map",
        [SPN_IS_NUMBER] = "spn_number_map", [SPN_IS_INT_OR_TEXT] = "spn_int_or_text_map",
        [SPN_IS_VALUE] = "spn_value_map",
    };
    const char *more = f->shape == SPN_LIST ? "list" : "map";
    if (f->what == SPN_IS_STRUCT)
        return arena_printf(m->arena, "struct " STR_FMT "_%s", STR_ARG(f->type->name), more);
    if (f->what == SPN_IS_NESTED)
        return arena_printf(m->arena, "struct " STR_FMT "_%ss", STR_ARG(base), more);
    return arena_printf(m->arena, "struct %s", (f->shape == SPN_LIST ? lists : maps)[f->what]);
}

static struct str inner_base(struct model *m, struct str base)
{
    return arena_printf(m->arena, STR_FMT "_item", STR_ARG(base));
}

static struct str item_type(struct model *m, const struct model_field *f, struct str base)
{
    return container_type(m, f->inner, inner_base(m, base));
}

/* A list of lists and the like has a struct of its own for each level but the innermost. */
static void write_nested(struct buf *out, struct model *m, const struct model_field *f,
                         struct str base)
{
    if (f->what != SPN_IS_NESTED)
        return;
    write_nested(out, m, f->inner, inner_base(m, base));
    struct str item = item_type(m, f, base);
    if (f->shape == SPN_LIST)
        buf_printf(out,
                   "struct " STR_FMT "_lists {\n    " STR_FMT " *items;\n    size_t n;\n};\n\n",
                   STR_ARG(base), STR_ARG(item));
    else
        buf_printf(out,
                   "struct " STR_FMT "_maps {\n    struct " STR_FMT
                   "_maps_entry {\n        struct spn_text name;\n        " STR_FMT
                   " value;\n    } *items;\n    size_t n;\n};\n\n",
                   STR_ARG(base), STR_ARG(base), STR_ARG(item));
}

/* ---- Comments ---- */

/* In as many lines as it needs. */
static void write_comment(struct buf *out, struct str text, size_t indent)
{
    size_t column = indent + 3;
    buf_printf(out, "%*s/*", (int)indent, "");
    while (text.n) {
        struct str word = str_cut(&text, ' ');
        bool is_last = text.n == 0;
        if (column + word.n + (is_last ? 3 : 0) > WRITE_COLUMNS) {
            buf_printf(out, "\n%*s *", (int)indent, "");
            column = indent + 3;
        }
        buf_printf(out, " " STR_FMT, STR_ARG(word));
        column += word.n + 1;
    }
    buf_printf(out, " */\n");
}

/* A member as it is written. Comments that stand beside members in a row stand below each other. */
struct line {
    const struct model_field *f;
    struct str code;
    bool is_beside;
    size_t column; /* of a comment beside it */
};

static bool has_room(const struct line *l)
{
    return l->column + l->f->about.n + 6 <= WRITE_COLUMNS;
}

/* The lines that follow each other from `i` on with a comment beside them. */
static size_t run_length(const struct line *lines, size_t n, size_t i)
{
    size_t end = i;
    while (end < n && lines[end].is_beside)
        end++;
    return end - i;
}

/* Gives a run its column. A comment that has no room there goes above, and the run is parted. */
static bool align_run(struct line *run, size_t n)
{
    size_t column = 0;
    for (size_t i = 0; i < n; i++)
        column = run[i].code.n + 1 > column ? run[i].code.n + 1 : column;
    for (size_t i = 0; i < n; i++) {
        run[i].column = column;
        if (!has_room(&run[i])) {
            run[i].is_beside = false;
            return false;
        }
    }
    return true;
}

static void align_comments(struct line *lines, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t run = run_length(lines, n, i);
        if (run == 0)
            i++;
        else if (align_run(lines + i, run))
            i += run;
    }
}

static void write_line(struct buf *out, const struct line *l)
{
    if (l->f->about.n && !l->is_beside)
        write_comment(out, l->f->about, 4);
    buf_str_add(out, l->code);
    if (l->is_beside)
        buf_printf(out, "%*s/* " STR_FMT " */", (int)(l->column - l->code.n), "",
                   STR_ARG(l->f->about));
    buf_byte(out, '\n');
}

/* ---- Structs ---- */

static struct str member_type(struct model *m, const struct model_type *t,
                              const struct model_field *f)
{
    static const char *const singles[] = {
        [SPN_IS_TEXT] = "struct spn_text",
        [SPN_IS_BYTES] = "struct spn_text",
        [SPN_IS_BOOL] = "struct spn_bool",
        [SPN_IS_INT] = "struct spn_int",
        [SPN_IS_NUMBER] = "struct spn_number",
        [SPN_IS_INT_OR_TEXT] = "struct spn_int_or_text",
        [SPN_IS_VALUE] = "const struct spn_value *",
    };
    if (f->shape != SPN_ONE)
        return container_type(m, f, write_nested_base(m, t, f));
    if (f->what == SPN_IS_STRUCT)
        return arena_printf(m->arena, "struct " STR_FMT " *", STR_ARG(f->type->name));
    return str_of(singles[f->what]);
}

static struct str member_code(struct model *m, const struct model_type *t,
                              const struct model_field *f)
{
    struct str type = member_type(m, t, f);
    const char *gap = str_ends(type, STR("*")) ? "" : " ";
    return arena_printf(m->arena, "    " STR_FMT "%s" STR_FMT ";", STR_ARG(type), gap,
                        STR_ARG(f->member));
}

static void write_members(struct buf *out, struct model *m, const struct model_type *t)
{
    size_t n = 0;
    for (const struct model_field *f = t->fields; f; f = f->next)
        n++;
    struct line *lines = arena_array(m->arena, struct line, n);
    n = 0;
    for (const struct model_field *f = t->fields; f; f = f->next)
        lines[n++] = (struct line){ f, member_code(m, t, f), f->about.n > 0, 0 };
    align_comments(lines, n);
    for (size_t i = 0; i < n; i++)
        write_line(out, &lines[i]);
}

static void write_struct(struct buf *out, struct model *m, const struct model_type *t)
{
    for (const struct model_field *f = t->fields; f; f = f->next)
        if (f->shape != SPN_ONE)
            write_nested(out, m, f, write_nested_base(m, t, f));
    if (t->about.n)
        write_comment(out, t->about, 0);
    buf_printf(out, "struct " STR_FMT " {\n", STR_ARG(t->name));
    write_members(out, m, t);
    buf_printf(out, "    struct spn_value *rest;\n};\n");
    if (t->has_map)
        buf_printf(out,
                   "\nstruct " STR_FMT "_entry {\n    struct spn_text name;\n    struct " STR_FMT
                   " value;\n};\n",
                   STR_ARG(t->name), STR_ARG(t->name));
    buf_printf(out, "SPN_TYPED(" STR_FMT ")\n\n", STR_ARG(t->name));
}

static void write_containers(struct buf *out, const struct model_type *t)
{
    if (t->has_list)
        buf_printf(
            out, "struct " STR_FMT "_list {\n    struct " STR_FMT " *items;\n    size_t n;\n};\n\n",
            STR_ARG(t->name), STR_ARG(t->name));
    if (t->has_map)
        buf_printf(out,
                   "struct " STR_FMT "_map {\n    struct " STR_FMT
                   "_entry *items;\n    size_t n;\n};\n\n",
                   STR_ARG(t->name), STR_ARG(t->name));
}

/* Inner ones first. Lists and maps come before everything that a struct has in it: they only point,
 * and a struct may have lists of itself. */
static void write_type(struct buf *out, struct model *m, struct model_type *t)
{
    if (t->is_seen || t->header.n)
        return;
    t->is_seen = true;
    write_containers(out, t);
    for (const struct model_field *f = t->fields; f; f = f->next) {
        const struct model_field *inner = f;
        while (inner->inner)
            inner = inner->inner;
        if (inner->type)
            write_type(out, m, inner->type);
    }
    write_struct(out, m, t);
}

/* ---- The file ---- */

static bool is_included(const struct model *m, const struct model_type *t)
{
    for (const struct model_type *before = m->types; before != t; before = before->next)
        if (str_eq(before->header, t->header))
            return true;
    return false;
}

static void write_includes(struct buf *out, const struct model *m)
{
    for (const struct model_type *t = m->types; t; t = t->next)
        if (t->header.n && !is_included(m, t))
            buf_printf(out, "#include <" STR_FMT ">\n", STR_ARG(t->header));
    buf_printf(out, "#include <sampan/typed.h>\n");
}

static void write_kind(struct buf *out, struct model *m, const struct model_kind *k)
{
    buf_printf(out, "/* ---- " STR_FMT " (" STR_FMT "%s" STR_FMT ") ---- */\n", STR_ARG(k->kind),
               STR_ARG(k->group), k->group.n ? "/" : "", STR_ARG(k->version));
    write_functions(out, m, k, false);
    buf_byte(out, '\n');
}

void write_header(struct buf *out, struct model *m)
{
    const char *prefix = m->is_library ? "sampan/api/" : "gen_";
    buf_printf(out,
               "/* %s" STR_FMT ".h - made by `sampan generate`, not to be edited.\n *\n"
               " * sampan/typed.h says how to read the structs. */\n#pragma once\n\n",
               prefix, STR_ARG(m->file));
    write_includes(out, m);
    buf_printf(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (struct model_type *t = m->types; t; t = t->next)
        t->is_seen = false;
    for (struct model_type *t = m->types; t; t = t->next)
        write_type(out, m, t);
    for (const struct model_kind *k = m->kinds; k; k = k->next)
        write_kind(out, m, k);
    buf_printf(out, "#ifdef __cplusplus\n}\n#endif\n");
}
