#include "generate/names.h"

#include <ctype.h>

#include "api/kind.h"
#include "base/buf.h"
#include "base/banned.h"

static bool is_upper(struct str s, size_t i)
{
    return i < s.n && s.p[i] >= 'A' && s.p[i] <= 'Z';
}

static bool is_lower(struct str s, size_t i)
{
    return i < s.n && s.p[i] >= 'a' && s.p[i] <= 'z';
}

/* "IPs", "URLs": the s belongs to the letters before it. */
static bool is_plural_s(struct str s, size_t i)
{
    return i < s.n && s.p[i] == 's' && !is_lower(s, i + 1);
}

static bool starts_word(struct str s, size_t i)
{
    if (i == 0 || !is_upper(s, i))
        return false;
    if (!is_upper(s, i - 1))
        return true;
    return is_lower(s, i + 1) && !is_plural_s(s, i + 1);
}

struct str names_snake(struct arena *a, struct str name)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < name.n; i++) {
        bool is_good = isalnum((unsigned char)name.p[i]);
        if ((starts_word(name, i) || !is_good) && out.n && out.p[out.n - 1] != '_')
            buf_byte(&out, '_');
        if (is_good)
            buf_byte(&out, (char)tolower((unsigned char)name.p[i]));
    }
    if (out.n && out.p[out.n - 1] == '_')
        out.n--;
    if (out.n == 0 || isdigit((unsigned char)out.p[0]))
        return arena_printf(a, "n" STR_FMT, STR_ARG(buf_str(&out)));
    return arena_str(a, buf_str(&out));
}

/* Words of C and C++, macros of compilers and of libc, and the last member of every struct. */
static const char kept_words[] =
    " alignas alignof and asm auto bool break case catch char class const constexpr"
    " continue default delete do double else enum explicit export extern false"
    " float for friend goto if inline int long mutable new noexcept not nullptr"
    " operator or private protected public register requires restrict return short"
    " signed sizeof static struct switch template this throw true try typedef"
    " typeid typename typeof union unsigned using virtual void volatile while xor"
    " concept thread_local static_assert namespace errno linux unix rest ";

static bool is_kept_word(struct str name)
{
    struct str rest = str_of(kept_words);
    while (rest.n)
        if (str_eq(str_cut(&rest, ' '), name))
            return true;
    return false;
}

struct str names_member(struct arena *a, struct str json)
{
    struct str name = names_snake(a, json);
    if (str_eq(name, STR("namespace")))
        return STR("ns");
    return is_kept_word(name) ? arena_printf(a, STR_FMT "_", STR_ARG(name)) : name;
}

static struct str joined(struct arena *a, struct str snake, bool is_first_large)
{
    autobuf out = { 0 };
    bool is_large = is_first_large;
    for (size_t i = 0; i < snake.n; i++) {
        if (snake.p[i] == '_') {
            is_large = out.n > 0 || is_first_large;
            continue;
        }
        buf_byte(&out, is_large ? (char)toupper((unsigned char)snake.p[i]) : snake.p[i]);
        is_large = false;
    }
    return arena_str(a, buf_str(&out));
}

struct str names_camel(struct arena *a, struct str snake)
{
    return joined(a, snake, false);
}

struct str names_pascal(struct arena *a, struct str snake)
{
    return joined(a, snake, true);
}

static bool hisses(struct str s)
{
    return str_ends(s, STR("s")) || str_ends(s, STR("x")) || str_ends(s, STR("z")) ||
           str_ends(s, STR("ch")) || str_ends(s, STR("sh"));
}

struct str names_singular(struct str plural, struct arena *a)
{
    if (plural.n > 4 && str_ends(plural, STR("ies")))
        return arena_printf(a, STR_FMT "y", (int)plural.n - 3, plural.p);
    if (plural.n > 4 && str_ends(plural, STR("es")) && hisses(str_take(plural, plural.n - 2)) &&
        !str_ends(plural, STR("ses")))
        return str_take(plural, plural.n - 2);
    if (str_ends(plural, STR("sses")))
        return str_take(plural, plural.n - 2);
    if (plural.n > 2 && str_ends(plural, STR("s")) && !str_ends(plural, STR("ss")) &&
        !str_ends(plural, STR("us")) && !str_ends(plural, STR("is")))
        return str_take(plural, plural.n - 1);
    return plural;
}

struct str names_plural(struct arena *a, struct str singular)
{
    bool has_vowel = singular.n > 1 && str_find(STR("aeiou"), singular.p[singular.n - 2]) >= 0;
    if (str_ends(singular, STR("y")) && !has_vowel)
        return arena_printf(a, STR_FMT "ies", (int)singular.n - 1, singular.p);
    return arena_printf(a, STR_FMT "%s", STR_ARG(singular), hisses(singular) ? "es" : "s");
}

struct str names_lower(struct arena *a, struct str s)
{
    char *lower = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        lower[i] = (char)tolower((unsigned char)lower[i]);
    return (struct str){ lower, s.n };
}

struct str names_version_prefix(struct arena *a, struct str group, struct str version)
{
    struct str first = str_cut(&group, '.');
    return arena_printf(a, STR_FMT "_" STR_FMT, STR_ARG(first.n ? first : STR("core")),
                        STR_ARG(version));
}

/* Cheap, because it is asked of all types. */
static bool may_be(const struct kind_type *t, struct str name)
{
    struct str group = t->group;
    struct str first = str_cut(&group, '.');
    return t->form == KIND_FORM_OBJECT && str_starts(name, first.n ? first : STR("core"));
}

const struct kind_type *names_built_in(struct arena *a, struct str name)
{
    for (size_t i = 0; i < n_kind_types; i++) {
        const struct kind_type *t = &kind_types[i];
        if (!may_be(t, name))
            continue;
        struct str prefix = names_version_prefix(a, t->group, t->version);
        struct str full =
            arena_printf(a, STR_FMT "_" STR_FMT, STR_ARG(prefix), STR_ARG(names_snake(a, t->name)));
        if (str_eq(full, name))
            return t;
    }
    return NULL;
}

bool names_is_identifier(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_')
            return false;
    return s.n && !isdigit((unsigned char)s.p[0]) && !is_kept_word(s);
}
