#include "match.h"

#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

void match_done(struct match *m)
{
    map_done(&m->meanings);
    map_done(&m->marks);
}

/* ---- Text with marks ---- */

/* How many bytes from the front of `s` look like this kind of thing; -1: none. */
static ptrdiff_t span(struct str s, const char *allowed, size_t least)
{
    size_t n = 0;
    while (n < s.n && s.p[n] && strchr(allowed, s.p[n]))
        n++;
    return n >= least ? (ptrdiff_t)n : -1;
}

static ptrdiff_t span_time(struct match *m, struct str s)
{
    struct tm tm = { 0 };
    char text[32] = { 0 };
    if (s.n < 20)
        return -1;
    memcpy(text, s.p, 19);
    if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
        return -1;
    int64_t away = (int64_t)timegm(&tm) - m->now_sec;
    ptrdiff_t fraction = s.p[19] == '.' ? span(str_skip(s, 20), "0123456789", 1) + 1 : 0;
    size_t n = 19 + (size_t)fraction;
    bool near = away > -86400 && away < 86400;
    return near && n < s.n && s.p[n] == 'Z' ? (ptrdiff_t)n + 1 : -1;
}

static ptrdiff_t span_of(struct match *m, struct str kind, struct str s)
{
    static const char digits[] = "0123456789";
    if (str_eq(kind, STR("uid")))
        return s.n >= 36 && span(str_take(s, 36), "0123456789abcdef-", 36) == 36 ? 36 : -1;
    if (str_eq(kind, STR("rv")) || str_eq(kind, STR("nodePort")))
        return span(s, digits, 1);
    if (str_eq(kind, STR("ip")))
        return span(s, "0123456789abcdef.:", 2);
    if (str_eq(kind, STR("gen")))
        return span(str_take(s, 5), "bcdfghjklmnpqrstvwxz2456789", 5);
    if (str_eq(kind, STR("time")))
        return span_time(m, s);
    if (str_eq(kind, STR("sha256")))
        return span(str_take(s, 64), "0123456789abcdef", 64);
    if (str_eq(kind, STR("kid")))
        return s.n ? (ptrdiff_t)s.n : -1;
    if (str_eq(kind, STR("date")))
        return s.n >= 10 ? 10 : -1;
    if (str_eq(kind, STR("continue")))
        return s.n ? (ptrdiff_t)s.n : -1;
    return str_eq(kind, STR("any")) ? (ptrdiff_t)s.n : -1;
}

/* The same mark always means the same thing, and no other mark means it. */
static bool means(struct match *m, struct str mark, struct str kind, struct str thing)
{
    struct str named = arena_printf(m->arena, STR_FMT " " STR_FMT, STR_ARG(kind), STR_ARG(thing));
    const struct str *meaning = map_get(&m->meanings, mark), *owner = map_get(&m->marks, named);
    if (meaning || owner)
        return meaning && owner && str_eq(*meaning, thing) && str_eq(*owner, mark);
    struct str *kept = arena_array(m->arena, struct str, 2);
    kept[0] = arena_str(m->arena, mark);
    kept[1] = arena_str(m->arena, thing);
    (void)map_set(&m->meanings, kept[0], &kept[1]);
    (void)map_set(&m->marks, named, &kept[0]);
    return true;
}

/* Takes a mark off `*want` and what it stands for off `*got`. */
static bool match_mark(struct match *m, struct str *want, struct str *got)
{
    ptrdiff_t end = str_find(*want, '>');
    struct str mark = str_take(*want, (size_t)end + 1);
    struct str number = { mark.p + 1, mark.n - 2 };
    struct str kind = str_cut(&number, ':');
    ptrdiff_t n = span_of(m, kind, *got);
    if (n < 0)
        return false;
    struct str thing = str_take(*got, (size_t)n);
    *want = str_skip(*want, mark.n);
    *got = str_skip(*got, (size_t)n);
    return !number.p || means(m, mark, kind, thing);
}

static bool is_mark(struct str s)
{
    static const char *const kinds[] = { "<uid:",    "<rv",   "<ip:",       "<nodePort:",
                                         "<time>",   "<gen>", "<continue>", "<any>",
                                         "<sha256>", "<kid:", "<date>" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_starts(s, str_of(kinds[i])) && str_find(s, '>') > 0)
            return true;
    return false;
}

const struct match_name *match_name_at(const struct match *m, struct str text)
{
    for (size_t i = 0; text.n && text.p[0] == '{' && i < m->n_names; i++)
        if (str_starts(text, m->names[i].name))
            return &m->names[i];
    return NULL;
}

bool match_text(struct match *m, struct str want, struct str got)
{
    while (want.n) {
        const struct match_name *name = match_name_at(m, want);
        if (name) {
            if (!str_starts(got, name->text))
                return false;
            want = str_skip(want, name->name.n);
            got = str_skip(got, name->text.n);
            continue;
        }
        if (is_mark(want)) {
            if (!match_mark(m, &want, &got))
                return false;
        } else if (m->ns.n && str_starts(want, STR("{ns}"))) {
            if (!str_starts(got, m->ns))
                return false;
            want = str_skip(want, 4);
            got = str_skip(got, m->ns.n);
        } else if (str_starts(want, STR("{advertised}"))) {
            if (!str_starts(got, m->advertised))
                return false;
            want = str_skip(want, 12);
            got = str_skip(got, m->advertised.n);
        } else {
            if (!got.n || got.p[0] != want.p[0])
                return false;
            want = str_skip(want, 1);
            got = str_skip(got, 1);
        }
    }
    return !got.n;
}

/* ---- Signed tokens ---- */

static bool read_part(struct match *m, struct str part, struct value *ret)
{
    struct err err = ERR_INIT(m->arena);
    autobuf text = { 0 };
    return base64url_decode(&text, part) &&
           json_read(m->arena, arena_str(m->arena, buf_str(&text)), NULL, ret, &err) == 0;
}

/* Times as the recorder wrote them: <iat>, <iat+N>, <iat-N>. */
static void relate_times(struct match *m, struct value *v, int64_t iat)
{
    for (size_t i = 0; v->type == VALUE_OBJECT && i < v->n; i++)
        relate_times(m, value_edit_nth(m->arena, v, i), iat);
    int64_t t;
    if (!value_to_int(v, &t) || t < iat - 100000000 || t > iat + INT64_C(10000000000))
        return;
    *v = value_string(t == iat ? STR("<iat>")
                               : arena_printf(m->arena, "<iat%+lld>", (long long)(t - iat)));
}

/* {"<jwt>": {header, claims}} stands for a token. */
static bool match_jwt(struct match *m, const struct value *want, const struct value *got,
                      struct str at)
{
    struct str rest = value_str(got), header = str_cut(&rest, '.'), claims = str_cut(&rest, '.');
    struct value both = value_object(), parts[2];
    int64_t iat = 0;
    if (!read_part(m, header, &parts[0]) || !read_part(m, claims, &parts[1]))
        return false;
    (void)value_to_int(value_get(&parts[1], STR("iat")), &iat);
    relate_times(m, &parts[1], iat);
    value_put(m->arena, &both, STR("header"), parts[0]);
    value_put(m->arena, &both, STR("claims"), parts[1]);
    return match_value(m, want, &both, at);
}

/* ---- Trees ---- */

static bool differ(struct match *m, struct str at, const struct value *want,
                   const struct value *got)
{
    if (m->diff) {
        buf_printf(m->diff, "      " STR_FMT "\n        want ", STR_ARG(at));
        if (want)
            json_write(m->diff, want);
        else
            buf_str_add(m->diff, STR("nothing"));
        buf_str_add(m->diff, STR("\n        got  "));
        if (got)
            json_write(m->diff, got);
        else
            buf_str_add(m->diff, STR("nothing"));
        buf_byte(m->diff, '\n');
    }
    return false;
}

/* Keys may hold {ns} and marks too, so they are matched, not looked up. */
static const struct value_field *find_field(struct match *m, const struct value *obj,
                                            struct str key)
{
    value_each_field (f, obj) {
        if (str_eq(f->key, key) || (str_find(key, '{') >= 0 && match_text(m, key, f->key)))
            return f;
    }
    return NULL;
}

/* The recorder knows a list by its items. Where those are null it took the revision for that of an
 * object and gave it a number, although it moves with every write anywhere. */
static struct value without_list_revision(struct match *m, const struct value *want)
{
    struct value out = value_borrow(want);
    if (!value_is(value_get(want, STR("items")), VALUE_NULL))
        return out;
    struct value *meta = value_edit(m->arena, &out, STR("metadata"));
    if (meta && value_get(meta, STR("resourceVersion")))
        value_put(m->arena, meta, STR("resourceVersion"), value_string(STR("<rv>")));
    return out;
}

static bool match_object(struct match *m, const struct value *recorded, const struct value *got,
                         struct str at)
{
    struct value expected = without_list_revision(m, recorded);
    const struct value *want = &expected;
    bool same = true;
    value_each_field (f, want) {
        const struct value_field *other = find_field(m, got, f->key);
        struct str below =
            arena_printf(m->arena, STR_FMT "." STR_FMT, STR_ARG(at), STR_ARG(f->key));
        same &=
            other ? match_value(m, &f->val, &other->val, below) : differ(m, below, &f->val, NULL);
    }
    value_each_field (f, got) {
        bool known = false;
        value_each_field (w, want) {
            known |= str_eq(w->key, f->key) ||
                     (str_find(w->key, '{') >= 0 && match_text(m, w->key, f->key));
        }
        if (!known)
            same =
                differ(m, arena_printf(m->arena, STR_FMT "." STR_FMT, STR_ARG(at), STR_ARG(f->key)),
                       NULL, &f->val);
    }
    return same;
}

static bool match_silently(struct match *m, const struct value *want, const struct value *got,
                           struct str at)
{
    struct buf *diff = m->diff;
    m->diff = NULL;
    bool same = match_value(m, want, got, at);
    m->diff = diff;
    return same;
}

static bool same_manager(const struct value *a, const struct value *b)
{
    static const struct str names[] = { STR("manager"), STR("operation"), STR("subresource") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!str_eq(value_str(value_get(a, names[i])), value_str(value_get(b, names[i]))))
            return false;
    return true;
}

/* The order of managers depends on the second in which each came. */
static bool match_managers(struct match *m, const struct value *want, const struct value *got,
                           struct str at)
{
    bool *used = arena_array(m->arena, bool, got->n);
    bool same = true;
    for (size_t i = 0; i < want->n; i++) {
        const struct value *nearest = NULL;
        size_t found = got->n;
        for (size_t j = 0; j < got->n && found == got->n; j++) {
            if (used[j] || !same_manager(&want->items[i], &got->items[j]))
                continue;
            nearest = &got->items[j];
            if (match_silently(m, &want->items[i], nearest, at))
                found = j;
        }
        struct str below = arena_printf(m->arena, STR_FMT "[%zu]", STR_ARG(at), i);
        if (found < got->n)
            used[found] = true;
        else
            same = nearest ? match_value(m, &want->items[i], nearest, below)
                           : differ(m, below, &want->items[i], NULL);
    }
    return same;
}

static bool match_array(struct match *m, const struct value *want, const struct value *got,
                        struct str at)
{
    if (want->n != got->n)
        return differ(m, at, want, got);
    if (str_ends(at, STR("metadata.managedFields")))
        return match_managers(m, want, got, at);
    bool same = true;
    for (size_t i = 0; i < want->n; i++)
        same &= match_value(m, &want->items[i], &got->items[i],
                            arena_printf(m->arena, STR_FMT "[%zu]", STR_ARG(at), i));
    return same;
}

static bool is_column_help(struct str at)
{
    return str_ends(at, STR("].description")) && memmem(at.p, at.n, "columnDefinitions[", 18);
}

/* What a column of a built-in kind means is said in our own words. */
static bool is_own_word(const struct match *m, struct str text)
{
    struct str lines = m->words;
    while (text.n && lines.n)
        if (str_eq(str_cut(&lines, '\n'), text))
            return true;
    return false;
}

/* The number of the port that the server listens on. */
static bool is_port(const struct match *m, int64_t n)
{
    return str_ends(m->advertised, arena_printf(m->arena, ":%lld", (long long)n));
}

bool match_value(struct match *m, const struct value *want, const struct value *got, struct str at)
{
    if (is_column_help(at) && is_own_word(m, value_str(got)))
        return true;
    if (value_is(want, VALUE_STRING) && str_eq(value_str(want), STR("<any>")))
        return true;
    if (value_is(want, VALUE_STRING) && value_is(got, VALUE_INT) && is_mark(value_str(want)))
        return match_text(m, value_str(want), arena_printf(m->arena, "%lld", (long long)got->i)) ||
               differ(m, at, want, got);
    if (value_is(got, VALUE_INT) && match_name_at(m, value_str(want)))
        return match_text(m, value_str(want), arena_printf(m->arena, "%lld", (long long)got->i)) ||
               differ(m, at, want, got);
    if (value_is(got, VALUE_INT) && str_eq(value_str(want), STR("{serverPort}")))
        return is_port(m, got->i) || differ(m, at, want, got);
    const struct value *jwt = value_get(want, STR("<jwt>"));
    if (jwt && value_is(got, VALUE_STRING))
        return match_jwt(m, jwt, got, at) || differ(m, at, want, got);
    if (want->type != got->type)
        return differ(m, at, want, got);
    if (want->type == VALUE_OBJECT)
        return match_object(m, want, got, at);
    if (want->type == VALUE_ARRAY)
        return match_array(m, want, got, at);
    if (want->type == VALUE_STRING ? match_text(m, value_str(want), value_str(got))
                                   : value_eq(want, got))
        return true;
    return differ(m, at, want, got);
}
