#include "controllers/job/indexes.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"
#include "client/bridge.h"
#include "base/banned.h"

static void add(struct spans *s, struct span one)
{
    struct span *last = s->n ? &s->items[s->n - 1] : NULL;
    if (!last || one.first > last->last + 1)
        s->items[s->n++] = one;
    else if (last->last < one.last)
        last->last = one.last;
}

static struct spans room_for(struct spn_arena *a, size_t n)
{
    return (struct spans){ spn_arena_alloc(a, (n + 1) * sizeof(struct span)), 0 };
}

static size_t count_char(struct str s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == c;
    return n;
}

struct spans spans_parse(struct spn_arena *a, struct spn_text text, int64_t completions)
{
    struct str rest = str_in(text);
    struct spans s = room_for(a, count_char(rest, ',') + 1);
    while (rest.n) {
        struct str part = str_cut(&rest, ',');
        struct str first = str_cut(&part, '-');
        struct span one;
        if (!str_to_i64(first, &one.first))
            continue;
        one.last = one.first;
        if (part.n && !str_to_i64(part, &one.last))
            continue;
        if (one.first >= completions)
            break;
        one.last = one.last < completions ? one.last : completions - 1;
        add(&s, one);
    }
    return s;
}

struct spn_text spans_text(struct spn_arena *a, struct spans s)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < s.n; i++) {
        const struct span *one = &s.items[i];
        buf_printf(&out, "%s%lld", i ? "," : "", (long long)one->first);
        if (one->last > one->first)
            buf_printf(&out, "%s%lld", one->last == one->first + 1 ? "," : "-",
                       (long long)one->last);
    }
    return spn_arena_text(a, (struct spn_text){ out.n ? out.p : "", out.n });
}

struct spans spans_merge(struct spn_arena *a, struct spans x, struct spans y)
{
    struct spans s = room_for(a, x.n + y.n);
    for (size_t i = 0, k = 0; i < x.n || k < y.n;)
        if (k == y.n || (i < x.n && x.items[i].first < y.items[k].first))
            add(&s, x.items[i++]);
        else
            add(&s, y.items[k++]);
    return s;
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

struct spans spans_with(struct spn_arena *a, struct spans s, int64_t *indexes, size_t n)
{
    struct spans more = room_for(a, n);
    if (n)
        qsort(indexes, n, sizeof(*indexes), by_number);
    for (size_t i = 0; i < n; i++)
        add(&more, (struct span){ indexes[i], indexes[i] });
    return spans_merge(a, s, more);
}

int64_t spans_total(struct spans s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.items[i].last - s.items[i].first + 1;
    return n;
}

bool spans_has(struct spans s, int64_t index)
{
    size_t low = 0, high = s.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s.items[mid].last >= index)
            high = mid;
        else
            low = mid + 1;
    }
    return low < s.n && s.items[low].first <= index;
}

static int64_t overlap(const struct span *x, const struct span *y)
{
    int64_t first = x->first > y->first ? x->first : y->first;
    int64_t last = x->last < y->last ? x->last : y->last;
    return last >= first ? last - first + 1 : 0;
}

int64_t spans_common(struct spans x, struct spans y)
{
    int64_t n = 0;
    for (size_t i = 0, k = 0; i < x.n && k < y.n;) {
        n += overlap(&x.items[i], &y.items[k]);
        if (x.items[i].last < y.items[k].last)
            i++;
        else
            k++;
    }
    return n;
}

size_t spans_missing(struct spans s, int64_t completions, int64_t *ret, size_t max)
{
    size_t n = 0;
    int64_t next = 0;
    for (size_t i = 0; i <= s.n && n < max; i++) {
        const int64_t end =
            i < s.n && s.items[i].first < completions ? s.items[i].first : completions;
        for (; next < end && n < max; next++)
            ret[n++] = next;
        if (i < s.n && next <= s.items[i].last)
            next = s.items[i].last + 1;
    }
    return n;
}
