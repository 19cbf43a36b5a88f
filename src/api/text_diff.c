#include "api/text_diff.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/banned.h"

enum { CONTEXT = 3, MANY_LINES = 200 };

/* A run of `n` equal lines. */
struct run {
    size_t a, b, n;
};

struct line {
    struct str text;
    size_t at;
};

struct lines {
    struct str *text;
    size_t n;
};

struct differ {
    struct lines a, b;
    struct line *sorted; /* the lines of b that may start a run, by text and place */
    size_t n_sorted;
    size_t *length, *next; /* of the run that ends at a line of b, from 1; this row and the next */
    struct run *runs;
    size_t n_runs;
};

static struct lines split(struct arena *a, struct str text)
{
    size_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    struct lines lines = { arena_array(a, struct str, n), 0 };
    while (lines.n < n)
        lines.text[lines.n++] = str_cut(&text, '\n');
    return lines;
}

static int by_text(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    int c = str_cmp(a->text, b->text);
    return c ? c : a->at < b->at ? -1 : a->at > b->at;
}

/* The first of the sorted lines that is this one, or the end. */
static size_t find(const struct differ *d, struct str text)
{
    size_t low = 0, high = d->n_sorted;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(d->sorted[mid].text, text) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void index_lines(struct differ *d, struct arena *a)
{
    size_t n = d->b.n, kept = 0, most = n >= MANY_LINES ? n / 100 + 1 : n;
    d->sorted = arena_array(a, struct line, n);
    for (size_t i = 0; i < n; i++)
        d->sorted[i] = (struct line){ d->b.text[i], i };
    qsort(d->sorted, n, sizeof(d->sorted[0]), by_text);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && str_eq(d->sorted[end].text, d->sorted[i].text);)
            end++;
        if (end - i > most)
            continue;
        memmove(d->sorted + kept, d->sorted + i, (end - i) * sizeof(d->sorted[0]));
        kept += end - i;
    }
    d->n_sorted = kept;
}

/* Makes a row zero again that has the runs which end at a line of this text. */
static void clear(const struct differ *d, size_t *row, struct str text)
{
    for (size_t s = find(d, text); s < d->n_sorted && str_eq(d->sorted[s].text, text); s++)
        row[d->sorted[s].at + 1] = 0;
}

/* The longest run between the bounds; of equal ones the first in a, then in b. */
static struct run longest(struct differ *d, size_t a_low, size_t a_high, size_t b_low,
                          size_t b_high)
{
    struct run best = { a_low, b_low, 0 };
    for (size_t i = a_low; i < a_high; i++) {
        for (size_t s = find(d, d->a.text[i]);
             s < d->n_sorted && str_eq(d->sorted[s].text, d->a.text[i]); s++) {
            size_t j = d->sorted[s].at;
            if (j < b_low || j >= b_high)
                continue;
            size_t n = d->next[j + 1] = d->length[j] + 1;
            if (n > best.n)
                best = (struct run){ i + 1 - n, j + 1 - n, n };
        }
        size_t *row = d->length;
        d->length = d->next;
        d->next = row;
        if (i > a_low)
            clear(d, row, d->a.text[i - 1]);
    }
    if (a_high > a_low)
        clear(d, d->length, d->a.text[a_high - 1]);
    while (best.a > a_low && best.b > b_low &&
           str_eq(d->a.text[best.a - 1], d->b.text[best.b - 1])) {
        best.a--;
        best.b--;
        best.n++;
    }
    while (best.a + best.n < a_high && best.b + best.n < b_high &&
           str_eq(d->a.text[best.a + best.n], d->b.text[best.b + best.n]))
        best.n++;
    return best;
}

/* Finds the runs in order, after the one that is there; those that touch become one. */
static void find_runs(struct differ *d, size_t a_low, size_t a_high, size_t b_low, size_t b_high)
{
    struct run run = longest(d, a_low, a_high, b_low, b_high);
    if (run.n == 0)
        return;
    if (a_low < run.a && b_low < run.b)
        find_runs(d, a_low, run.a, b_low, run.b);
    struct run *last = &d->runs[d->n_runs - 1];
    if (last->a + last->n == run.a && last->b + last->n == run.b)
        last->n += run.n;
    else
        d->runs[d->n_runs++] = run;
    if (run.a + run.n < a_high && run.b + run.n < b_high)
        find_runs(d, run.a + run.n, a_high, run.b + run.n, b_high);
}

static void write_range(struct buf *out, char sign, size_t from, size_t to)
{
    size_t n = to - from;
    buf_printf(out, "%c%zu", sign, n ? from + 1 : from);
    if (n != 1)
        buf_printf(out, ",%zu", n);
}

static void write_lines(struct buf *out, char sign, const struct lines *lines, size_t from,
                        size_t to)
{
    for (size_t i = from; i < to; i++)
        buf_printf(out, "%c" STR_FMT "\n", sign, STR_ARG(lines->text[i]));
}

/* The changes between runs `first` and `last`, with what surrounds them. */
static void write_hunk(struct buf *out, const struct differ *d, size_t first, size_t last)
{
    const struct run *head = &d->runs[first], *tail = &d->runs[last];
    size_t lead = head->n < CONTEXT ? head->n : CONTEXT;
    size_t trail = tail->n < CONTEXT ? tail->n : CONTEXT;
    size_t a = head->a + head->n, b = head->b + head->n;
    buf_str_add(out, STR("@@ "));
    write_range(out, '-', a - lead, tail->a + trail);
    buf_byte(out, ' ');
    write_range(out, '+', b - lead, tail->b + trail);
    buf_str_add(out, STR(" @@\n"));
    write_lines(out, ' ', &d->a, a - lead, a);
    for (size_t i = first + 1; i <= last; i++) {
        const struct run *run = &d->runs[i];
        size_t end = i == last ? run->a + trail : run->a + run->n;
        write_lines(out, '-', &d->a, a, run->a);
        write_lines(out, '+', &d->b, b, run->b);
        write_lines(out, ' ', &d->a, run->a, end);
        a = run->a + run->n;
        b = run->b + run->n;
    }
}

void text_diff(struct buf *out, struct arena *a, struct str before, struct str after)
{
    if (str_eq(before, after))
        return;
    struct differ d = { .a = split(a, before), .b = split(a, after) };
    if (d.a.n > LIMIT_DIFF_LINES || d.b.n > LIMIT_DIFF_LINES)
        return;
    index_lines(&d, a);
    d.length = arena_array(a, size_t, d.b.n + 1);
    d.next = arena_array(a, size_t, d.b.n + 1);
    d.runs = arena_array(a, struct run, (d.a.n < d.b.n ? d.a.n : d.b.n) + 2);
    /* An empty run at the start and one at the end stand for the bounds of the texts. */
    d.runs[d.n_runs++] = (struct run){ 0, 0, 0 };
    find_runs(&d, 0, d.a.n, 0, d.b.n);
    struct run *last = &d.runs[d.n_runs - 1];
    if (last->a + last->n != d.a.n || last->b + last->n != d.b.n)
        d.runs[d.n_runs++] = (struct run){ d.a.n, d.b.n, 0 };
    size_t first = 0;
    for (size_t i = 1; i < d.n_runs; i++) {
        bool ends = i + 1 == d.n_runs || d.runs[i].n > (size_t)2 * CONTEXT;
        if (!ends)
            continue;
        write_hunk(out, &d, first, i);
        first = i;
    }
}
