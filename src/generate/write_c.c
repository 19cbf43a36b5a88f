/* write_c.c - what both files are written with. */
#include "generate/write_c.h"

#include "base/banned.h"

/* Columns of the line that is being written. */
static size_t column(const struct buf *out)
{
    size_t n = 0;
    while (n < out->n && out->p[out->n - 1 - n] != '\n')
        n++;
    return n;
}

/* Whether each argument has room behind the bracket, with what follows it. */
static bool fit_behind(size_t begin, const struct str *args, size_t n, const char *tail)
{
    for (size_t i = 0; i < n; i++)
        if (begin + args[i].n + (i + 1 < n ? 1 : strlen(tail) + 1) > WRITE_COLUMNS)
            return false;
    return true;
}

static size_t indent_of(const char *head)
{
    const char *line = strrchr(head, '\n');
    return strspn(line ? line + 1 : head, " ");
}

void write_call(struct buf *out, const char *head, const struct str *args, size_t n,
                const char *tail)
{
    buf_printf(out, "%s(", head);
    size_t begin = column(out);
    if (!fit_behind(begin, args, n, tail)) {
        begin = indent_of(head) + 4;
        buf_printf(out, "\n%*s", (int)begin, "");
    }
    for (size_t i = 0; i < n; i++) {
        size_t room = i + 1 < n ? 1 : strlen(tail) + 1;
        if (i && column(out) + 1 + args[i].n + room > WRITE_COLUMNS)
            buf_printf(out, "\n%*s", (int)begin, "");
        else if (i)
            buf_byte(out, ' ');
        buf_str_add(out, args[i]);
        if (i + 1 < n)
            buf_byte(out, ',');
    }
    buf_printf(out, ")%s\n", tail);
}

void write_literal(struct buf *out, struct str text)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < ' ' || c == 0x7f || c == '?')
            buf_printf(out, "\\%03o", c);
        else
            buf_byte(out, (char)c);
    }
    buf_byte(out, '"');
}

struct str write_nested_base(struct model *m, const struct model_type *t,
                             const struct model_field *f)
{
    return arena_printf(m->arena, STR_FMT "_" STR_FMT, STR_ARG(t->name), STR_ARG(f->member));
}
