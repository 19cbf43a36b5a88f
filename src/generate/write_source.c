/* write_source.c - gen_FILE.c: tables, and functions that hand them to the library. */
#include "generate/write_c.h"

#include "base/banned.h"

static const char *const whats[] = {
    [SPN_IS_TEXT] = "SPN_IS_TEXT",     [SPN_IS_BYTES] = "SPN_IS_BYTES",
    [SPN_IS_BOOL] = "SPN_IS_BOOL",     [SPN_IS_INT] = "SPN_IS_INT",
    [SPN_IS_NUMBER] = "SPN_IS_NUMBER", [SPN_IS_INT_OR_TEXT] = "SPN_IS_INT_OR_TEXT",
    [SPN_IS_VALUE] = "SPN_IS_VALUE",   [SPN_IS_STRUCT] = "SPN_IS_STRUCT",
    [SPN_IS_NESTED] = "SPN_IS_NESTED",
};

static const char *const shapes[] = { "SPN_ONE", "SPN_LIST", "SPN_MAP" };

static struct str literal(struct model *m, struct str text)
{
    autobuf out = { 0 };
    write_literal(&out, text);
    return arena_str(m->arena, buf_str(&out));
}

/* What the items of a list of lists are. Innermost first. */
static void write_inner(struct buf *out, struct model *m, const struct model_field *inner,
                        struct str base)
{
    struct str below = arena_printf(m->arena, STR_FMT "_item", STR_ARG(base));
    if (inner->what == SPN_IS_NESTED)
        write_inner(out, m, inner->inner, below);
    buf_printf(out, "static const struct spn_field " STR_FMT "_inner = {\n    .what = %s,\n",
               STR_ARG(base), whats[inner->what]);
    buf_printf(out, "    .shape = %s,\n", shapes[inner->shape]);
    if (inner->what == SPN_IS_STRUCT)
        buf_printf(out, "    .type = &" STR_FMT "_table,\n", STR_ARG(inner->type->name));
    if (inner->what == SPN_IS_NESTED)
        buf_printf(out, "    .inner = &" STR_FMT "_inner,\n", STR_ARG(below));
    buf_printf(out, "};\n\n");
}

static void write_row(struct buf *out, struct model *m, const struct model_type *t,
                      const struct model_field *f)
{
    struct str args[5] = { t->name, f->member, literal(m, f->json), str_of(shapes[f->shape]) };
    const char *head = "    SPN_FIELDS";
    size_t n = 5;
    args[4] = str_of(whats[f->what]);
    if (f->what == SPN_IS_STRUCT) {
        head = "    SPN_STRUCT_FIELD";
        args[4] = f->type->name;
    } else if (f->what == SPN_IS_NESTED) {
        head = "    SPN_NESTED_FIELD";
        args[4] = arena_printf(m->arena, STR_FMT "_inner", STR_ARG(write_nested_base(m, t, f)));
    } else if (f->shape == SPN_ONE) {
        head = "    SPN_FIELD";
        args[3] = args[4];
        n = 4;
    }
    write_call(out, head, args, n, ",");
}

static void write_table(struct buf *out, struct model *m, const struct model_type *t)
{
    for (const struct model_field *f = t->fields; f; f = f->next)
        if (f->what == SPN_IS_NESTED)
            write_inner(out, m, f->inner, write_nested_base(m, t, f));
    if (!t->fields) {
        buf_printf(out,
                   "const struct spn_struct " STR_FMT "_table = SPN_STRUCT_EMPTY(" STR_FMT ");\n\n",
                   STR_ARG(t->name), STR_ARG(t->name));
        return;
    }
    buf_printf(out, "static const struct spn_field " STR_FMT "_fields[] = {\n", STR_ARG(t->name));
    for (const struct model_field *f = t->fields; f; f = f->next)
        write_row(out, m, t, f);
    buf_printf(out, "};\n");
    const struct str args[] = { t->name,
                                arena_printf(m->arena, STR_FMT "_fields", STR_ARG(t->name)) };
    struct str head =
        arena_printf(m->arena, "const struct spn_struct " STR_FMT "_table =", STR_ARG(t->name));
    bool is_long = head.n + strlen(" SPN_STRUCT(, );") + args[0].n + args[1].n > WRITE_COLUMNS;
    head = arena_printf(m->arena, STR_FMT "%sSPN_STRUCT", STR_ARG(head), is_long ? "\n    " : " ");
    write_call(out, str_cstr(m->arena, head), args, 2, ";");
    buf_byte(out, '\n');
}

static void write_kind(struct buf *out, struct model *m, const struct model_kind *k)
{
    const struct str args[] = {
        literal(m, k->group),  literal(m, k->version), literal(m, k->kind),
        literal(m, k->plural), k->type->name,          k->is_namespaced ? STR("true") : STR("false")
    };
    struct str head =
        arena_printf(m->arena, "static const struct spn_kind " STR_FMT "_kind =\n    SPN_KIND",
                     STR_ARG(k->type->name));
    write_call(out, str_cstr(m->arena, head), args, 6, ";");
    write_functions(out, m, k, true);
}

void write_source(struct buf *out, struct model *m)
{
    if (m->is_library)
        buf_printf(out, "/* Made by `sampan generate`. */\n#include <sampan/api/" STR_FMT ".h>\n\n",
                   STR_ARG(m->file));
    else
        buf_printf(out,
                   "/* gen_" STR_FMT
                   ".c - made by `sampan generate`, not to be edited. */\n#include \"gen_" STR_FMT
                   ".h\"\n\n",
                   STR_ARG(m->file), STR_ARG(m->file));
    for (const struct model_type *t = m->types; t; t = t->next)
        if (!t->header.n)
            write_table(out, m, t);
    bool is_first = true;
    for (const struct model_kind *k = m->kinds; k; k = k->next) {
        if (!is_first)
            buf_byte(out, '\n');
        is_first = false;
        write_kind(out, m, k);
    }
}
