/* From the text of a regular expression to its tree. The syntax is that of Go's regexp package with
 * the Perl extensions; so are the words of its errors, which say what part of the pattern is wrong.
 */
#include "base/idiom.h"
#include "base/limits.h"
#include "base/regexp_class.h"
#include "base/utf8.h"

#include "base/banned.h"

enum flags {
    FOLD = 1 << 0,   /* i */
    LINES = 1 << 1,  /* m: ^ and $ at lines, too */
    DOT_NL = 1 << 2, /* s: a dot takes a newline, too */
    LAZY = 1 << 3,   /* U: * is as *? and the other way round */
};

struct parser {
    struct arena *a;
    struct err *err;
    struct str whole, rest;
    unsigned flags, depth;
    bool quoted; /* after \\Q: all is text until \\E */
};

static int parse_either(struct parser *p, struct regexp_node **ret);

static int fault(struct parser *p, const char *what, struct str where)
{
    return err_set(p->err, ERR_INVALID, "error parsing regexp: %s: `" STR_FMT "`", what,
                   STR_ARG(where));
}

/* What was eaten since `from`. */
static struct str eaten(const struct parser *p, struct str from)
{
    return str_take(from, from.n - p->rest.n);
}

static bool eat(struct parser *p, struct str what)
{
    if (!str_starts(p->rest, what))
        return false;
    p->rest = str_skip(p->rest, what.n);
    return true;
}

static bool at(const struct parser *p, char c)
{
    return p->rest.n && *p->rest.p == c;
}

/* The pattern was checked to be valid UTF-8, and is not at its end. */
static uint32_t eat_char(struct parser *p)
{
    size_t n = utf8_step(p->rest.p, p->rest.n);
    uint32_t code = utf8_decode(p->rest.p, n);
    p->rest = str_skip(p->rest, n);
    return code;
}

static struct regexp_node *node(struct parser *p, enum regexp_op op)
{
    struct regexp_node *n = arena_new(p->a, struct regexp_node);
    n->op = op;
    n->nullable = op != REGEXP_CLASS;
    return n;
}

static struct regexp_node *class_node(struct parser *p, struct regexp_class *c)
{
    regexp_class_finish(p->a, c);
    struct regexp_node *n = node(p, REGEXP_CLASS);
    n->class = c;
    return n;
}

static struct regexp_class *new_class(struct parser *p)
{
    struct regexp_class *c = arena_new(p->a, struct regexp_class);
    c->fold = p->flags & FOLD;
    return c;
}

static struct regexp_node *literal(struct parser *p, uint32_t code)
{
    struct regexp_class *c = new_class(p);
    regexp_class_add(p->a, c, code, code);
    return class_node(p, c);
}

/* {"d", ranges}: \d and [:digit:] alike. */
struct named_class {
    struct str name;
    const struct regexp_range *ranges;
    size_t n;
};

#define RANGES(...)                               \
    (const struct regexp_range[]){ __VA_ARGS__ }, \
        sizeof((const struct regexp_range[]){ __VA_ARGS__ }) / sizeof(struct regexp_range)

static const struct named_class perl_classes[] = {
    { STR("d"), RANGES({ '0', '9' }) },
    { STR("s"), RANGES({ '\t', '\n' }, { '\f', '\r' }, { ' ', ' ' }) },
    { STR("w"), RANGES({ '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' }) },
};

static const struct named_class posix_classes[] = {
    { STR("alnum"), RANGES({ '0', '9' }, { 'A', 'Z' }, { 'a', 'z' }) },
    { STR("alpha"), RANGES({ 'A', 'Z' }, { 'a', 'z' }) },
    { STR("ascii"), RANGES({ 0, 0x7F }) },
    { STR("blank"), RANGES({ '\t', '\t' }, { ' ', ' ' }) },
    { STR("cntrl"), RANGES({ 0, 0x1F }, { 0x7F, 0x7F }) },
    { STR("digit"), RANGES({ '0', '9' }) },
    { STR("graph"), RANGES({ '!', '~' }) },
    { STR("lower"), RANGES({ 'a', 'z' }) },
    { STR("print"), RANGES({ ' ', '~' }) },
    { STR("punct"), RANGES({ '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' }) },
    { STR("space"), RANGES({ '\t', '\r' }, { ' ', ' ' }) },
    { STR("upper"), RANGES({ 'A', 'Z' }) },
    { STR("word"), RANGES({ '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' }) },
    { STR("xdigit"), RANGES({ '0', '9' }, { 'A', 'F' }, { 'a', 'f' }) },
};

static const struct named_class *find_class(const struct named_class *table, size_t n,
                                            struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(table[i].name, name))
            return &table[i];
    return NULL;
}

static void add_named(struct parser *p, struct regexp_class *c, const struct named_class *named,
                      bool negated)
{
    if (negated)
        regexp_class_add_others(p->a, c, named->ranges, named->n);
    else
        regexp_class_add_ranges(p->a, c, named->ranges, named->n);
}

/* \d, \W and the like. */
static bool perl_class(struct parser *p, struct regexp_class *c)
{
    if (p->rest.n < 2 || !at(p, '\\'))
        return false;
    char small = (char)(p->rest.p[1] | 0x20);
    const struct named_class *found =
        find_class(perl_classes, ARRAY_LEN(perl_classes), (struct str){ &small, 1 });
    if (!found)
        return false;
    add_named(p, c, found, p->rest.p[1] != small);
    p->rest = str_skip(p->rest, 2);
    return true;
}

/* \pL, \p{Greek}, \P{^Lu}. 1: that it was; 0: it is something else. */
static int unicode_class(struct parser *p, struct regexp_class *c)
{
    struct str from = p->rest;
    if (p->rest.n < 2 || !at(p, '\\') || (p->rest.p[1] | 0x20) != 'p')
        return 0;
    bool negated = p->rest.p[1] == 'P';
    p->rest = str_skip(p->rest, 2);
    if (!p->rest.n)
        return fault(p, "invalid character class range", from);
    struct str name = p->rest;
    if (!eat(p, STR("{"))) {
        eat_char(p);
        name = eaten(p, name);
    } else {
        ptrdiff_t end = str_find(p->rest, '}');
        if (end < 0)
            return fault(p, "invalid character class range", from);
        name = str_take(p->rest, (size_t)end);
        p->rest = str_skip(p->rest, name.n + 1);
    }
    if (name.n && *name.p == '^') {
        negated = !negated;
        name = str_skip(name, 1);
    }
    if (!regexp_class_add_property(p->a, c, name, negated))
        return fault(p, "invalid character class range", eaten(p, from));
    return 1;
}

/* [:alpha:] inside brackets. */
static int posix_class(struct parser *p, struct regexp_class *c)
{
    if (!str_starts(p->rest, STR("[:")))
        return 0;
    size_t end = 2;
    while (end + 1 < p->rest.n && (p->rest.p[end] != ':' || p->rest.p[end + 1] != ']'))
        end++;
    if (end + 1 >= p->rest.n)
        return 0;
    struct str all = str_take(p->rest, end + 2), name = str_take(str_skip(all, 2), end - 2);
    bool negated = name.n && *name.p == '^';
    const struct named_class *found =
        find_class(posix_classes, ARRAY_LEN(posix_classes), str_skip(name, negated));
    if (!found)
        return fault(p, "invalid character class range", all);
    add_named(p, c, found, negated);
    p->rest = str_skip(p->rest, all.n);
    return 1;
}

static int eat_hex_digit(struct parser *p)
{
    uint32_t c = p->rest.n ? eat_char(p) : 0;
    return c < 0x80 ? str_hex_digit((char)c) : -1;
}

/* \x41 and \x{1F600}, after the x. */
static bool hex_escape(struct parser *p, uint32_t *ret)
{
    if (!eat(p, STR("{"))) {
        int high = eat_hex_digit(p), low = eat_hex_digit(p);
        *ret = (uint32_t)(high * 16 + low);
        return high >= 0 && low >= 0;
    }
    *ret = 0;
    for (bool first = true; first || !eat(p, STR("}")); first = false) {
        int digit = eat_hex_digit(p);
        *ret = *ret * 16 + (uint32_t)digit;
        if (digit < 0 || *ret > 0x10FFFF)
            return false;
    }
    return true;
}

/* Up to three octal digits, `first` being eaten; a single one that is no 0 would be a
 * reference. */
static bool octal_escape(struct parser *p, uint32_t first, uint32_t *ret)
{
    if (first != '0' && (!p->rest.n || *p->rest.p < '0' || *p->rest.p > '7'))
        return false;
    *ret = first - '0';
    for (int i = 1; i < 3 && p->rest.n && *p->rest.p >= '0' && *p->rest.p <= '7'; i++)
        *ret = *ret * 8 + eat_char(p) - '0';
    return true;
}

static int escape(struct parser *p, uint32_t *ret)
{
    struct str from = p->rest;
    p->rest = str_skip(p->rest, 1);
    if (!p->rest.n)
        return fault(p, "trailing backslash at end of expression", STR(""));
    uint32_t c = eat_char(p);
    static const char letters[] = "aftnrv", meant[] = "\a\f\t\n\r\v";
    const char *letter = c < 0x80 && c ? strchr(letters, (int)c) : NULL;
    bool good = true;
    if (letter)
        *ret = (uint32_t)meant[letter - letters];
    else if (c >= '0' && c <= '7')
        good = octal_escape(p, c, ret);
    else if (c == 'x')
        good = hex_escape(p, ret);
    else if (c < 0x80 && !(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
        *ret = c; /* punctuation stands for itself */
    else
        good = false;
    return good ? 0 : fault(p, "invalid escape sequence", eaten(p, from));
}

static int class_char(struct parser *p, struct str whole_class, uint32_t *ret)
{
    if (!p->rest.n)
        return fault(p, "missing closing ]", whole_class);
    if (at(p, '\\'))
        return escape(p, ret);
    *ret = eat_char(p);
    return 0;
}

static int class_range(struct parser *p, struct str whole_class, struct regexp_class *c)
{
    struct str from = p->rest;
    uint32_t low = 0, high;
    int r = class_char(p, whole_class, &low);
    if (r < 0)
        return r;
    high = low;
    if (p->rest.n >= 2 && at(p, '-') && p->rest.p[1] != ']') {
        p->rest = str_skip(p->rest, 1);
        r = class_char(p, whole_class, &high);
        if (r < 0)
            return r;
        if (high < low)
            return fault(p, "invalid character class range", eaten(p, from));
    }
    regexp_class_add(p->a, c, low, high);
    return 0;
}

/* What stands next in a class: a class by name, an escape that is one, or a range; 0 or 1. */
static int class_part(struct parser *p, struct str whole_class, struct regexp_class *c)
{
    int r = posix_class(p, c);
    if (r != 0)
        return r;
    r = unicode_class(p, c);
    if (r != 0)
        return r;
    return perl_class(p, c) ? 0 : class_range(p, whole_class, c);
}

static int parse_class(struct parser *p, struct regexp_node **ret)
{
    struct str whole = p->rest;
    struct regexp_class *c = new_class(p);
    p->rest = str_skip(p->rest, 1);
    c->negated = eat(p, STR("^"));
    for (bool first = true; first || !at(p, ']'); first = false) {
        int r = class_part(p, whole, c);
        if (r < 0)
            return r;
    }
    p->rest = str_skip(p->rest, 1);
    *ret = class_node(p, c);
    return 0;
}

static bool valid_group_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && c != '_' && !(c >= '0' && c <= '9'))
            return false;
    }
    return name.n > 0;
}

/* (?P<name> or (?<name>, at the "(?". */
static int group_name(struct parser *p, size_t start)
{
    ptrdiff_t end = str_find(p->rest, '>');
    if (end < 0)
        return fault(p, "invalid named capture", p->rest);
    struct str name = str_take(str_skip(p->rest, start), (size_t)end - start);
    if (!valid_group_name(name))
        return fault(p, "invalid named capture", str_take(p->rest, (size_t)end + 1));
    p->rest = str_skip(p->rest, (size_t)end + 1);
    return 0;
}

static unsigned flag_of(uint32_t c)
{
    switch (c) {
    case 'i':
        return FOLD;
    case 'm':
        return LINES;
    case 's':
        return DOT_NL;
    case 'U':
        return LAZY;
    default:
        return 0;
    }
}

/* (?i) and (?i-s:, after the "(?". `*ret_group` says whether a group begins. */
static int group_flags(struct parser *p, struct str from, bool *ret_group)
{
    unsigned flags = p->flags;
    bool minus = false, any = true;
    while (p->rest.n) {
        uint32_t c = eat_char(p);
        if ((c == ':' || c == ')') && any) {
            p->flags = flags;
            *ret_group = c == ':';
            return 0;
        }
        any = c != '-';
        if ((c == '-' && minus) || (c != '-' && !flag_of(c)))
            return fault(p, "invalid or unsupported Perl syntax", eaten(p, from));
        minus |= c == '-';
        flags = minus ? flags & ~flag_of(c) : flags | flag_of(c);
    }
    if (from.n == 2 || !any)
        return fault(p, "invalid or unsupported Perl syntax", from);
    return fault(p, "missing closing )", p->whole);
}

static int parse_group(struct parser *p, struct regexp_node **ret)
{
    struct str from = p->rest;
    unsigned flags = p->flags;
    bool group = true;
    int r = 0;
    if (str_starts(p->rest, STR("(?P<")) && p->rest.n > 4)
        r = group_name(p, 4);
    else if (str_starts(p->rest, STR("(?<")) && p->rest.n > 3)
        r = group_name(p, 3);
    else if (eat(p, STR("(?")))
        r = group_flags(p, from, &group);
    else
        p->rest = str_skip(p->rest, 1);
    if (r < 0)
        return r;
    if (!group) /* the flags hold until the group around ends */
        return 0;
    if (++p->depth > LIMIT_REGEXP_DEPTH)
        return fault(p, "expression nests too deeply", p->whole);
    r = parse_either(p, ret);
    if (r < 0)
        return r;
    p->depth--;
    p->flags = flags;
    return eat(p, STR(")")) ? 0 : fault(p, "missing closing )", p->whole);
}

/* A class, or a character that is escaped, which is a class of one; 0 or 1. */
static int escaped_class(struct parser *p, struct regexp_class *c)
{
    int r = unicode_class(p, c);
    if (r != 0 || perl_class(p, c))
        return r;
    uint32_t code = 0;
    r = escape(p, &code);
    if (r < 0)
        return r;
    regexp_class_add(p->a, c, code, code);
    return 0;
}

static int parse_backslash(struct parser *p, struct regexp_node **ret)
{
    static const struct {
        struct str text;
        enum regexp_op op;
    } places[] = {
        { STR("\\A"), REGEXP_BEGIN_TEXT },
        { STR("\\b"), REGEXP_WORD_EDGE },
        { STR("\\B"), REGEXP_NO_WORD_EDGE },
        { STR("\\z"), REGEXP_END_TEXT },
    };
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (eat(p, places[i].text)) {
            *ret = node(p, places[i].op);
            return 0;
        }
    }
    p->quoted = eat(p, STR("\\Q"));
    if (p->quoted)
        return 0;
    struct regexp_class *c = new_class(p);
    int r = escaped_class(p, c);
    if (r < 0)
        return r;
    *ret = class_node(p, c);
    return 0;
}

static struct regexp_node *any_char(struct parser *p)
{
    struct regexp_class *c = arena_new(p->a, struct regexp_class);
    static const struct regexp_range newline = { '\n', '\n' };
    regexp_class_add_others(p->a, c, &newline, p->flags & DOT_NL ? 0 : 1);
    return class_node(p, c);
}

/* One thing that a repetition can follow. NULL stays where only the parser's state changed. */
static int parse_atom(struct parser *p, struct regexp_node **ret)
{
    if (p->quoted && eat(p, STR("\\E"))) {
        p->quoted = false;
        return 0;
    }
    if (p->quoted) {
        *ret = literal(p, eat_char(p));
        return 0;
    }
    bool lines = p->flags & LINES;
    switch (*p->rest.p) {
    case '(':
        return parse_group(p, ret);
    case '[':
        return parse_class(p, ret);
    case '\\':
        return parse_backslash(p, ret);
    case '.':
        *ret = any_char(p);
        break;
    case '^':
        *ret = node(p, lines ? REGEXP_BEGIN_LINE : REGEXP_BEGIN_TEXT);
        break;
    case '$':
        *ret = node(p, lines ? REGEXP_END_LINE : REGEXP_END_TEXT);
        break;
    default:
        *ret = literal(p, eat_char(p));
        return 0;
    }
    p->rest = str_skip(p->rest, 1);
    return 0;
}

/* Digits without a leading zero; too many become a number that is too large. */
static bool eat_count(struct parser *p, uint32_t *ret)
{
    size_t n = 0;
    uint32_t count = 0;
    while (n < p->rest.n && p->rest.p[n] >= '0' && p->rest.p[n] <= '9') {
        if (count <= LIMIT_REGEXP_REPEAT)
            count = count * 10 + (uint32_t)(p->rest.p[n] - '0');
        n++;
    }
    if (n == 0 || (n > 1 && *p->rest.p == '0'))
        return false;
    p->rest = str_skip(p->rest, n);
    *ret = count;
    return true;
}

/* {2}, {2,} or {2,5}; anything else is text, and nothing is eaten. */
static bool eat_counts(struct parser *p, uint32_t *ret_min, uint32_t *ret_max)
{
    struct parser ahead = *p;
    ahead.rest = str_skip(ahead.rest, 1);
    if (!eat_count(&ahead, ret_min))
        return false;
    *ret_max = *ret_min;
    if (eat(&ahead, STR(",")) && !eat_count(&ahead, ret_max))
        *ret_max = REGEXP_NO_MAX;
    if (!eat(&ahead, STR("}")))
        return false;
    p->rest = ahead.rest;
    return true;
}

/* A repetition at the front of the rest, if there is one. */
static bool eat_repetition(struct parser *p, uint32_t *ret_min, uint32_t *ret_max)
{
    *ret_min = 0;
    *ret_max = REGEXP_NO_MAX;
    if (at(p, '{'))
        return eat_counts(p, ret_min, ret_max);
    if (eat(p, STR("*")))
        return true;
    if (eat(p, STR("+"))) {
        *ret_min = 1;
        return true;
    }
    *ret_max = 1;
    return eat(p, STR("?"));
}

static bool too_often(const struct regexp_node *n)
{
    bool counted = n->max != REGEXP_NO_MAX || n->min > 1;
    return counted && (n->min >= 2 || n->max >= 2) && n->most > LIMIT_REGEXP_REPEAT;
}

static struct regexp_node *repeat(struct parser *p, struct regexp_node *what, uint32_t min,
                                  uint32_t max, bool lazy)
{
    struct regexp_node *n = node(p, REGEXP_REPEAT);
    n->child = what;
    n->min = min;
    n->max = max;
    n->lazy = lazy != !!(p->flags & LAZY);
    n->nullable = min == 0 || what->nullable;
    uint32_t times = max == REGEXP_NO_MAX ? min : max;
    n->most = (times ? times : 1) * (what->most ? what->most : 1);
    return n;
}

static int eat_valid_repetition(struct parser *p, uint32_t *ret_min, uint32_t *ret_max)
{
    struct str from = p->rest;
    if (!eat_repetition(p, ret_min, ret_max))
        return 0;
    bool endless = *ret_max == REGEXP_NO_MAX;
    if (*ret_min > LIMIT_REGEXP_REPEAT ||
        (!endless && (*ret_max > LIMIT_REGEXP_REPEAT || *ret_min > *ret_max)))
        return fault(p, "invalid repeat count", eaten(p, from));
    return 1;
}

/* 1: `*what`, the part before, is repeated; 0: it is not. Repetitions of repetitions need
 * parentheses. */
static int parse_repetition(struct parser *p, struct regexp_node **what)
{
    struct str from = p->rest;
    uint32_t min, max;
    int r = eat_valid_repetition(p, &min, &max);
    if (r <= 0)
        return r;
    bool lazy = eat(p, STR("?"));
    if (!*what)
        return fault(p, "missing argument to repetition operator", eaten(p, from));
    *what = repeat(p, *what, min, max, lazy);
    if (too_often(*what))
        return fault(p, "invalid repeat count", eaten(p, from));
    r = eat_valid_repetition(p, &min, &max);
    if (r < 0)
        return r;
    if (r == 0)
        return 1;
    eat(p, STR("?"));
    return fault(p, "invalid nested repetition operator", eaten(p, from));
}

static int parse_sequence(struct parser *p, struct regexp_node **ret)
{
    struct regexp_node *all = node(p, REGEXP_SEQUENCE), **last = &all->child;
    while (p->rest.n && (p->quoted || (!at(p, '|') && !at(p, ')')))) {
        struct regexp_node *part = NULL;
        int r = p->quoted ? 0 : parse_repetition(p, last);
        if (r < 0)
            return r;
        if (r > 0)
            continue;
        r = parse_atom(p, &part);
        if (r < 0)
            return r;
        if (part && *last)
            last = &(*last)->next;
        if (part)
            *last = part;
    }
    for (const struct regexp_node *n = all->child; n; n = n->next) {
        all->nullable &= n->nullable;
        all->most = n->most > all->most ? n->most : all->most;
    }
    *ret = all;
    return 0;
}

static int parse_either(struct parser *p, struct regexp_node **ret)
{
    struct regexp_node *all = node(p, REGEXP_EITHER), **last = &all->child;
    all->nullable = false;
    do {
        int r = parse_sequence(p, last);
        if (r < 0)
            return r;
        all->nullable |= (*last)->nullable;
        all->most = (*last)->most > all->most ? (*last)->most : all->most;
        last = &(*last)->next;
    } while (eat(p, STR("|")));
    *ret = all;
    return 0;
}

int regexp_parse(struct arena *a, struct str pattern, struct regexp_node **ret, struct err *err)
{
    struct parser p = { .a = a, .err = err, .whole = pattern, .rest = pattern };
    if (!utf8_valid(pattern))
        return fault(&p, "invalid UTF-8", pattern);
    int r = parse_either(&p, ret);
    if (r < 0)
        return r;
    return p.rest.n ? fault(&p, "unexpected )", pattern) : 0;
}
