/* The words of compile errors: position in code points, the line in question and a mark under the
 * place. Wide dots keep the mark under wide characters, as upstream has it. */
#include "cel/issues.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "cel/ast.h"

#include "base/banned.h"

enum { SNIPPET_MAX = 16384 };

void issues_add(struct issues *is, uint32_t at, const char *fmt, ...)
{
    if (++is->total > ISSUES_SHOWN_MAX)
        return;
    if (is->n == is->cap) {
        size_t cap = is->cap ? is->cap * 2 : 4;
        is->list = arena_grow(is->arena, is->list, is->cap * sizeof(*is->list),
                              cap * sizeof(*is->list), alignof(struct issue));
        is->cap = cap;
    }
    va_list ap;
    va_start(ap, fmt);
    is->list[is->n++] = (struct issue){ .at = at, .msg = arena_vprintf(is->arena, fmt, ap) };
    va_end(ap);
}

static size_t step(struct str s)
{
    size_t n = utf8_step(s.p, s.n);
    return n ? n : 1;
}

struct place {
    int line, column; /* from 1 and from 0 */
    struct str snippet;
};

static struct place place_of(struct str text, uint32_t at)
{
    if (at == AST_NOWHERE)
        return (struct place){ .line = -1, .column = -1 };
    if (at > text.n)
        at = (uint32_t)text.n;
    struct place place = { .line = 1 };
    size_t start = 0;
    for (size_t i = 0; i < at; i++)
        if (text.p[i] == '\n') {
            place.line++;
            start = i + 1;
        }
    struct str rest = str_skip(text, start);
    ptrdiff_t end = str_find(rest, '\n');
    place.snippet = end < 0 ? rest : str_take(rest, (size_t)end);
    for (size_t i = start; i < at; i += step(str_skip(text, i)))
        place.column++;
    return place;
}

static void add_mark(struct buf *out, struct place place)
{
    struct str rest = place.snippet;
    for (int i = 0; i < place.column && rest.n; i++) {
        size_t n = step(rest);
        buf_str_add(out, n > 1 ? STR("\uff0e") : STR("."));
        rest = str_skip(rest, n);
    }
    buf_str_add(out, rest.n && step(rest) > 1 ? STR("\uff3e") : STR("^"));
}

static void print_one(struct buf *out, struct str text, const struct issue *issue)
{
    struct place place = place_of(text, issue->at);
    /* Upstream's mark for an empty expression is one column early, and has no line under it. */
    int column = text.n ? place.column + 1 : 0;
    buf_printf(out, "ERROR: <input>:%d:%d: " STR_FMT, place.line, column, STR_ARG(issue->msg));
    if (issue->at == AST_NOWHERE || !text.n || place.snippet.n > SNIPPET_MAX)
        return;
    buf_str_add(out, STR("\n | "));
    for (size_t i = 0; i < place.snippet.n; i++)
        buf_byte(out, place.snippet.p[i] == '\t' ? ' ' : place.snippet.p[i]);
    buf_str_add(out, STR("\n | "));
    add_mark(out, place);
}

/* Insertion sort: there are few, and equal places keep their order. Nowhere comes first. */
static void sort_by_place(struct issues *is)
{
    for (size_t i = 1; i < is->n; i++) {
        struct issue moved = is->list[i];
        size_t j = i;
        while (j && is->list[j - 1].at + 1 > moved.at + 1) {
            is->list[j] = is->list[j - 1];
            j--;
        }
        is->list[j] = moved;
    }
}

struct str issues_print(struct issues *is)
{
    autobuf out = { 0 };
    sort_by_place(is);
    for (size_t i = 0; i < is->n; i++) {
        if (i)
            buf_byte(&out, '\n');
        print_one(&out, is->text, &is->list[i]);
    }
    if (is->total > is->n)
        buf_printf(&out, "\n%zu more errors were truncated", is->total - is->n);
    return arena_str(is->arena, buf_str(&out));
}
