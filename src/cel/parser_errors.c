/* Syntax errors as upstream's parser generator makes them: one token too many is dropped, one that
 * is missing is imagined, else the rule gives up and tokens are skipped until one fits a rule that
 * is still open. Clients see these words (kubectl prints them), so they are the same. */
#include "cel/parser_errors.h"

#include "base/buf.h"

#include "base/banned.h"

enum { RECOVERIES_MAX = 30, SKIPPED_MAX = 256, RECURSION_MAX = 250 };

void parser_stop(struct parser *p, const char *why)
{
    if (!p->stopped)
        issues_add(p->issues, AST_NOWHERE, "%s", why);
    p->stopped = true;
}

bool parser_deepen(struct parser *p, unsigned rule)
{
    if (++p->rule_depth[rule] > RECURSION_MAX)
        parser_stop(p, "expression recursion limit exceeded: 250");
    return !p->stopped;
}

bool parser_enter(struct parser *p, unsigned rule, uint64_t follow, bool open)
{
    struct parser_errors *e = p->errors;
    if (e->n == e->cap) {
        size_t cap = e->cap ? e->cap * 2 : 64;
        e->stack = arena_grow(p->scratch, e->stack, e->cap * sizeof(*e->stack),
                              cap * sizeof(*e->stack), alignof(struct parser_follow));
        e->cap = cap;
    }
    e->stack[e->n++] = (struct parser_follow){ follow, open };
    return parser_deepen(p, rule);
}

static struct str token_text(const struct parser *p, size_t i)
{
    const struct token *t = &p->tokens[i < p->n_tokens ? i : p->n_tokens - 1];
    return t->kind == TOKEN_EOF ? STR("<EOF>") : str_take(str_skip(p->text, t->at), t->n);
}

static uint32_t token_at(const struct parser *p, size_t i)
{
    return p->tokens[i < p->n_tokens ? i : p->n_tokens - 1].at;
}

static void add_quoted(struct buf *out, struct str s)
{
    buf_byte(out, '\'');
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\n' || c == '\t' || c == '\r')
            buf_printf(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else
            buf_byte(out, c);
    }
    buf_byte(out, '\'');
}

static void add_expected(struct buf *out, uint64_t set)
{
    bool many = set & (set - 1);
    const char *sep = many ? "{" : "";
    for (unsigned kind = 0; kind < TOKEN_KINDS; kind++) {
        if (!(set & TOKEN_BIT(kind)))
            continue;
        buf_printf(out, "%s%s", sep, lexer_name(kind));
        sep = ", ";
    }
    if (many)
        buf_byte(out, '}');
}

static void report(struct parser *p, size_t token, struct str msg)
{
    issues_add(p->issues, token_at(p, token), "Syntax error: " STR_FMT, STR_ARG(msg));
}

static void report_unwanted(struct parser *p, uint64_t expected)
{
    autobuf msg = { 0 };
    if (p->errors->recovering)
        return;
    p->errors->recovering = true;
    buf_str_add(&msg, STR("extraneous input "));
    add_quoted(&msg, token_text(p, p->next));
    buf_str_add(&msg, STR(" expecting "));
    add_expected(&msg, expected);
    report(p, p->next, buf_str(&msg));
}

static void report_missing(struct parser *p, unsigned kind)
{
    autobuf msg = { 0 };
    if (p->errors->recovering)
        return;
    p->errors->recovering = true;
    buf_printf(&msg, "missing %s at ", lexer_name(kind));
    add_quoted(&msg, token_text(p, p->next));
    report(p, p->next, buf_str(&msg));
}

/* The words true, false and null where a name should be are told as such. */
static bool is_reserved_field(const struct parser *p, size_t start, size_t offend)
{
    unsigned kind = p->tokens[offend].kind;
    return offend == start + 1 && p->tokens[start].n == 1 &&
           p->tokens[offend].at == p->tokens[start].at + 1 && kind >= TOKEN_TRUE &&
           kind <= TOKEN_NULL;
}

/* Tokens and the white space between them, without what was no token. */
static void add_tokens(struct buf *out, const struct parser *p, size_t first, size_t last)
{
    autobuf text = { 0 };
    for (size_t i = first; i <= last; i++) {
        const struct token *t = &p->tokens[i];
        buf_str_add(&text, str_take(str_skip(p->text, t->at), t->n));
        for (uint32_t k = t->at + t->n; i < last && k < p->tokens[i + 1].at; k++)
            if (str_find(STR(" \t\r\n\f"), p->text.p[k]) >= 0)
                buf_byte(&text, p->text.p[k]);
    }
    add_quoted(out, buf_str(&text));
}

static void report_thrown(struct parser *p)
{
    struct parser_errors *e = p->errors;
    autobuf msg = { 0 };
    if (e->recovering)
        return;
    e->recovering = true;
    if (e->expected || is_reserved_field(p, e->start, e->offend)) {
        buf_str_add(&msg, STR("mismatched input "));
        add_quoted(&msg, token_text(p, e->offend));
        buf_str_add(&msg, STR(" expecting "));
        add_expected(&msg, e->expected ? e->expected : TOKEN_BIT(TOKEN_IDENT));
    } else {
        buf_str_add(&msg, STR("no viable alternative at input "));
        add_tokens(&msg, p, e->start, e->offend);
    }
    report(p, e->offend, buf_str(&msg));
}

static bool count_attempt(struct parser *p)
{
    if (p->errors->attempts++ < RECOVERIES_MAX)
        return true;
    report(p, p->next, STR("error recovery attempt limit exceeded: 30"));
    p->stopped = true;
    return false;
}

static void skip_until(struct parser *p, uint64_t set)
{
    for (unsigned n = 0; !(set & TOKEN_BIT(parser_look(p, 0)));) {
        if (parser_look(p, 0) == TOKEN_EOF)
            return;
        if (n++ == SKIPPED_MAX) {
            parser_stop(p, "error recovery token lookahead limit exceeded: 256");
            return;
        }
        p->next++;
    }
}

static uint64_t open_rules(const struct parser *p)
{
    uint64_t set = 0;
    for (size_t i = 0; i < p->errors->n; i++)
        set |= p->errors->stack[i].set;
    return set;
}

static void recover(struct parser *p, unsigned rule)
{
    struct parser_errors *e = p->errors;
    if (!count_attempt(p))
        return;
    if (e->last_at == p->next && (e->last_rules & (1u << rule)) && p->next + 1 < p->n_tokens)
        p->next++;
    if (e->last_at != p->next)
        e->last_rules = 0;
    e->last_at = p->next;
    e->last_rules |= 1u << rule;
    skip_until(p, open_rules(p));
}

void parser_leave(struct parser *p, unsigned rule)
{
    struct parser_errors *e = p->errors;
    if (e->thrown && !p->stopped) {
        report_thrown(p);
        recover(p, rule);
    }
    e->thrown = false;
    e->n--;
    p->rule_depth[rule]--;
}

static void throw_mismatch(struct parser *p, uint64_t expected)
{
    p->errors->thrown = true;
    p->errors->expected = expected;
    p->errors->start = p->errors->offend = p->next;
}

void parser_no_alternative(struct parser *p, size_t ahead)
{
    p->errors->thrown = true;
    p->errors->expected = 0;
    p->errors->start = p->next;
    p->errors->offend = p->next + ahead < p->n_tokens ? p->next + ahead : p->n_tokens - 1;
}

bool parser_sync(struct parser *p, uint64_t set)
{
    if (parser_is_lost(p))
        return false;
    if (p->errors->recovering || (set & TOKEN_BIT(parser_look(p, 0))))
        return true;
    if (parser_look(p, 0) != TOKEN_EOF && (set & TOKEN_BIT(parser_look(p, 1)))) {
        report_unwanted(p, set);
        p->errors->recovering = false;
        p->next++;
        return true;
    }
    throw_mismatch(p, set);
    return false;
}

bool parser_sync_loop(struct parser *p, uint64_t set)
{
    if (parser_is_lost(p))
        return false;
    if (p->errors->recovering || (set & TOKEN_BIT(parser_look(p, 0))))
        return true;
    report_unwanted(p, set);
    skip_until(p, set | open_rules(p));
    return !p->stopped;
}

static uint64_t full_follow(const struct parser *p, uint64_t set, bool open)
{
    for (size_t i = p->errors->n; open && i > 0; i--) {
        set |= p->errors->stack[i - 1].set;
        open = p->errors->stack[i - 1].open;
    }
    return set;
}

bool parser_match(struct parser *p, unsigned kind, uint64_t after, bool open)
{
    if (parser_is_lost(p))
        return false;
    if (parser_look(p, 0) == kind) {
        p->errors->recovering = false;
        p->next++;
        return true;
    }
    if (!count_attempt(p))
        return false;
    if (parser_look(p, 0) != TOKEN_EOF && parser_look(p, 1) == kind) {
        report_unwanted(p, TOKEN_BIT(kind));
        p->errors->recovering = false;
        p->next += 2;
        return true;
    }
    if (full_follow(p, after, open) & TOKEN_BIT(parser_look(p, 0))) {
        report_missing(p, kind);
        return true;
    }
    throw_mismatch(p, TOKEN_BIT(kind));
    return false;
}
