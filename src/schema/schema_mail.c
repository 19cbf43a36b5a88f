#include "schema/schema_mail.h"

#include "base/banned.h"

static bool is_atom_char(char c)
{
    bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z', digit = c >= '0' && c <= '9';
    return letter || digit || (c && strchr("!#$%&'*+-/=?^_`{|}~", c)) || (unsigned char)c >= 0x80;
}

static bool eat(struct str *s, char c)
{
    if (!s->n || *s->p != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* (like this (or this)). False if it does not end. */
static bool eat_comment(struct str *s)
{
    unsigned depth = 0;
    do {
        if (!s->n)
            return false;
        char c = *s->p;
        if (c == '\\' && s->n > 1)
            *s = str_skip(*s, 1);
        depth += c == '(';
        depth -= c == ')';
        *s = str_skip(*s, 1);
    } while (depth);
    return true;
}

static bool eat_space(struct str *s)
{
    for (;;) {
        while (s->n && strchr(" \t", *s->p) && *s->p)
            *s = str_skip(*s, 1);
        if (!s->n || *s->p != '(')
            return true;
        if (!eat_comment(s))
            return false;
    }
}

/* Atoms with single dots between them; `loose` is a word of a name, where dots may stand anywhere.
 */
static bool eat_atom(struct str *s, bool loose)
{
    size_t n = 0;
    while (n < s->n && (is_atom_char(s->p[n]) || s->p[n] == '.')) {
        bool edge = n == 0 || n + 1 == s->n || s->p[n - 1] == '.' ||
                    (!is_atom_char(s->p[n + 1]) && s->p[n + 1] != '.');
        if (s->p[n] == '.' && edge && !loose)
            return false;
        n++;
    }
    *s = str_skip(*s, n);
    return n > 0;
}

static bool eat_quoted(struct str *s)
{
    if (!eat(s, '"'))
        return false;
    while (s->n && *s->p != '"') {
        if ((unsigned char)*s->p < ' ' && *s->p != '\t')
            return false;
        *s = str_skip(*s, *s->p == '\\' ? 2 : 1);
    }
    return eat(s, '"');
}

static bool eat_domain(struct str *s)
{
    if (!eat(s, '['))
        return eat_atom(s, false);
    while (s->n && *s->p != ']' && *s->p != '[' && *s->p > ' ')
        *s = str_skip(*s, 1);
    return eat(s, ']');
}

/* local@domain */
static bool eat_spec(struct str *s)
{
    bool quoted = s->n && *s->p == '"';
    if (quoted ? !eat_quoted(s) : !eat_atom(s, false))
        return false;
    return eat_space(s) && eat(s, '@') && eat_space(s) && eat_domain(s);
}

static bool is_spec(struct str s)
{
    return eat_spec(&s) && eat_space(&s) && !s.n;
}

/* Words in front of <local@domain>. */
static bool is_named(struct str s)
{
    while (s.n && *s.p != '<') {
        if (*s.p == '"' ? !eat_quoted(&s) : !eat_atom(&s, true))
            return false;
        if (!eat_space(&s))
            return false;
    }
    return eat(&s, '<') && eat_spec(&s) && eat(&s, '>') && eat_space(&s) && !s.n;
}

bool schema_is_mail_address(struct arena *a, struct str text)
{
    (void)a;
    return eat_space(&text) && (is_spec(text) || is_named(text));
}
