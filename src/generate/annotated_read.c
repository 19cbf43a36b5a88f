/* annotated_read.c - the text of a header to structs, members and markers. */
#include "generate/annotated.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "generate/names.h"
#include "base/banned.h"

enum { MAX_STRUCTS = 4096 };

enum token_type { TOKEN_END, TOKEN_WORD, TOKEN_SIGN, TOKEN_STRING, TOKEN_COMMENT };

struct token {
    enum token_type type;
    struct str text; /* of a comment: what stands in it */
    size_t line, end_line;
};

/* Lines of comments that wait for what they are about. */
struct remark {
    struct buf about;
    size_t end_line; /* of the last one */
    struct annotated_marker *markers, **last_marker;
};

struct reader {
    struct annotated *in;
    struct str text; /* what is left */
    size_t line;
    struct token now;
    struct remark remark;
    struct annotated_struct **last_struct;
    size_t n_structs;
    struct annotated_marker **last_marker;
    struct err *err;
};

int annotated_error(const struct annotated *in, size_t line, struct err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str what = arena_vprintf(in->arena, fmt, ap);
    va_end(ap);
    return err_set(err, ERR_INVALID, "%s:%zu: " STR_FMT, in->file, line, STR_ARG(what));
}

/* ---- Tokens ---- */

static void skip(struct reader *r, size_t n)
{
    struct str gone = str_take(r->text, n);
    for (size_t i = 0; i < gone.n; i++)
        r->line += gone.p[i] == '\n';
    r->text = str_skip(r->text, n);
}

static size_t line_length(struct str s)
{
    ptrdiff_t n = str_find(s, '\n');
    return n < 0 ? s.n : (size_t)n;
}

/* A # line, with those that a \ ties to it. */
static void skip_directive(struct reader *r)
{
    size_t n = line_length(r->text);
    while (n && n < r->text.n && r->text.p[n - 1] == '\\')
        n += 1 + line_length(str_skip(r->text, n + 1));
    skip(r, n);
}

static void skip_space(struct reader *r)
{
    for (;;) {
        size_t n = 0;
        while (n < r->text.n && isspace((unsigned char)r->text.p[n]))
            n++;
        skip(r, n);
        if (!str_starts(r->text, STR("#")))
            return;
        skip_directive(r);
    }
}

static size_t block_length(struct str s)
{
    for (size_t i = 2; i + 1 < s.n; i++)
        if (s.p[i] == '*' && s.p[i + 1] == '/')
            return i + 2;
    return 0;
}

static int next_comment(struct reader *r)
{
    bool is_block = str_starts(r->text, STR("/*"));
    size_t n = is_block ? block_length(r->text) : line_length(r->text);
    if (n == 0)
        return annotated_error(r->in, r->line, r->err, "a comment does not end");
    r->now.type = TOKEN_COMMENT;
    r->now.text = str_take(str_skip(r->text, 2), n - (is_block ? 4 : 2));
    skip(r, n);
    r->now.end_line = r->line;
    return 0;
}

static int next_string(struct reader *r)
{
    size_t n = 1;
    while (n < r->text.n && r->text.p[n] != '"' && r->text.p[n] != '\n')
        n++;
    if (n == r->text.n || r->text.p[n] != '"')
        return annotated_error(r->in, r->line, r->err, "a text in quotes does not end");
    r->now.type = TOKEN_STRING;
    skip(r, n + 1);
    return 0;
}

static int next_token(struct reader *r)
{
    skip_space(r);
    r->now = (struct token){ .line = r->line, .end_line = r->line };
    if (!r->text.n)
        return 0;
    if (str_starts(r->text, STR("//")) || str_starts(r->text, STR("/*")))
        return next_comment(r);
    if (r->text.p[0] == '"')
        return next_string(r);
    size_t n = 0;
    while (n < r->text.n && (isalnum((unsigned char)r->text.p[n]) || r->text.p[n] == '_'))
        n++;
    r->now.type = n ? TOKEN_WORD : TOKEN_SIGN;
    r->now.text = str_take(r->text, n ? n : 1);
    skip(r, r->now.text.n);
    return 0;
}

/* ---- Comments ---- */

static void add_marker(struct reader *r, struct str text, size_t line)
{
    struct arena *a = r->in->arena;
    struct annotated_marker *of_all = arena_new(a, struct annotated_marker);
    struct annotated_marker *here = arena_new(a, struct annotated_marker);
    *of_all = *here = (struct annotated_marker){ .text = text, .line = line };
    *r->last_marker = of_all;
    r->last_marker = &of_all->next;
    *r->remark.last_marker = here;
    r->remark.last_marker = &here->next;
}

/* One line of a comment: a marker, or words about what follows. */
static void note_line(struct reader *r, struct str line, size_t number)
{
    line = str_trim(line);
    if (str_starts(line, STR("+"))) {
        add_marker(r, str_trim(str_skip(line, 1)), number);
        return;
    }
    if (!line.n)
        return;
    if (r->remark.about.n)
        buf_byte(&r->remark.about, ' ');
    buf_str_add(&r->remark.about, line);
}

/* The words of a comment count for what stands directly below them, markers also further down. */
static void note_comment(struct reader *r)
{
    if (r->now.line > r->remark.end_line + 1)
        buf_reset(&r->remark.about);
    struct str rest = r->now.text;
    for (size_t number = r->now.line; rest.p; number++) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (number > r->now.line && str_starts(line, STR("*")))
            line = str_skip(line, 1);
        note_line(r, line, number);
    }
    r->remark.end_line = r->now.end_line;
}

static void forget_remark(struct reader *r)
{
    buf_reset(&r->remark.about);
    r->remark.markers = NULL;
    r->remark.last_marker = &r->remark.markers;
}

/* What stands above line `line`, if it does so directly. */
static struct str take_about(struct reader *r, size_t line)
{
    bool is_near = r->remark.end_line + 1 >= line;
    return is_near ? arena_str(r->in->arena, buf_str(&r->remark.about)) : STR("");
}

/* Goes to the next token that is no comment. */
static int advance(struct reader *r)
{
    int got = next_token(r);
    while (got == 0 && r->now.type == TOKEN_COMMENT) {
        note_comment(r);
        got = next_token(r);
    }
    return got;
}

/* ---- Declarations ---- */

static bool is_sign(const struct reader *r, char c)
{
    return r->now.type == TOKEN_SIGN && r->now.text.p[0] == c;
}

static bool is_word(const struct reader *r, const char *word)
{
    return r->now.type == TOKEN_WORD && str_eq(r->now.text, str_of(word));
}

static int unexpected(struct reader *r, const char *wanted)
{
    if (r->now.type == TOKEN_END)
        return annotated_error(r->in, r->now.line, r->err, "%s is missing at the end of the file",
                               wanted);
    return annotated_error(r->in, r->now.line, r->err, "found `" STR_FMT "` and expected %s",
                           STR_ARG(r->now.text), wanted);
}

static int expect_sign(struct reader *r, char c, const char *wanted)
{
    return is_sign(r, c) ? advance(r) : unexpected(r, wanted);
}

static int take_word(struct reader *r, const char *wanted, struct str *ret)
{
    if (r->now.type != TOKEN_WORD)
        return unexpected(r, wanted);
    *ret = r->now.text;
    return advance(r);
}

/* "const struct X *": the words before the name of a member. */
static int read_member_type(struct reader *r, struct annotated_member *m)
{
    int got = is_word(r, "const") ? advance(r) : 0;
    if (got < 0)
        return got;
    if (is_word(r, "size_t")) {
        m->type = STR("size_t");
        return advance(r);
    }
    if (!is_word(r, "struct"))
        return unexpected(r, "`struct`: members are structs of sampan/typed.h, or point to others");
    got = advance(r);
    if (got < 0)
        return got;
    return take_word(r, "the name of a struct", &m->type);
}

static int read_member_name(struct reader *r, struct annotated_member *m)
{
    if (is_sign(r, '*')) {
        m->is_pointer = true;
        int got = advance(r);
        if (got < 0)
            return got;
    }
    m->line = r->now.line;
    return take_word(r, "the name of a member", &m->name);
}

/* A comment in the same line, behind the ; of a member, is about that member. */
static int read_trailer(struct reader *r)
{
    size_t line = r->now.line;
    int got = next_token(r);
    while (got == 0 && r->now.type == TOKEN_COMMENT && r->now.line == line) {
        r->remark.end_line = line;
        note_comment(r);
        got = next_token(r);
    }
    return got;
}

static void finish_members(struct reader *r, struct annotated_member *first,
                           const struct annotated_member *end)
{
    for (struct annotated_member *m = first; m != end; m = m->next) {
        m->about = take_about(r, first->line);
        m->markers = r->remark.markers;
    }
    forget_remark(r);
}

/* One line with one or more members of a type. */
static int read_members(struct reader *r, struct annotated_member ***last)
{
    struct annotated_member like = { 0 }, **first = *last;
    int got = read_member_type(r, &like);
    if (got < 0)
        return got;
    for (;;) {
        struct annotated_member *m = arena_new(r->in->arena, struct annotated_member);
        m->type = like.type;
        got = read_member_name(r, m);
        if (got < 0)
            return got;
        **last = m;
        *last = &m->next;
        if (!is_sign(r, ','))
            break;
        got = advance(r);
        if (got < 0)
            return got;
    }
    if (!is_sign(r, ';'))
        return unexpected(r, "`;`");
    got = read_trailer(r);
    if (got < 0)
        return got;
    finish_members(r, *first, NULL);
    if (r->now.type != TOKEN_COMMENT)
        return 0;
    note_comment(r);
    return advance(r);
}

static int read_body(struct reader *r, struct annotated_struct *s)
{
    struct annotated_member **last = &s->members;
    while (!is_sign(r, '}')) {
        int got = read_members(r, &last);
        if (got < 0)
            return got;
    }
    forget_remark(r);
    int got = advance(r);
    if (got < 0)
        return got;
    return expect_sign(r, ';', "`;` behind a struct");
}

static int read_struct(struct reader *r)
{
    struct annotated_struct *s = arena_new(r->in->arena, struct annotated_struct);
    s->line = r->now.line;
    int got = advance(r);
    if (got < 0)
        return got;
    got = take_word(r, "the name of a struct", &s->name);
    if (got < 0)
        return got;
    if (is_sign(r, ';'))
        return advance(r); /* only declared */
    if (annotated_find(r->in, s->name))
        return annotated_error(r->in, s->line, r->err, "struct " STR_FMT " is declared twice",
                               STR_ARG(s->name));
    if (++r->n_structs > MAX_STRUCTS)
        return annotated_error(r->in, s->line, r->err, "there are more than %d structs",
                               MAX_STRUCTS);
    if (!is_sign(r, '{'))
        return unexpected(r, "`{`");
    s->about = take_about(r, s->line);
    s->markers = r->remark.markers;
    forget_remark(r);
    got = advance(r);
    if (got < 0)
        return got;
    *r->last_struct = s;
    r->last_struct = &s->next;
    return read_body(r, s);
}

/* extern "C" { */
static int read_extern(struct reader *r)
{
    int got = advance(r);
    if (got < 0)
        return got;
    if (r->now.type != TOKEN_STRING)
        return unexpected(r, "\"C\"");
    got = advance(r);
    if (got < 0)
        return got;
    return expect_sign(r, '{', "`{`");
}

static int read_file(struct reader *r)
{
    int got = advance(r);
    while (got == 0 && r->now.type != TOKEN_END) {
        if (is_word(r, "struct"))
            got = read_struct(r);
        else if (is_word(r, "extern"))
            got = read_extern(r);
        else if (is_sign(r, '}') || is_sign(r, ';'))
            got = advance(r);
        else
            return unexpected(r, "a struct");
    }
    return got;
}

/* Bytes up to the first that is not UTF-8. */
static size_t utf8_length(struct str s)
{
    size_t n = 0, step;
    while (n < s.n && (step = utf8_step(s.p + n, s.n - n)) > 0)
        n += step;
    return n;
}

int annotated_read(struct arena *a, const char *file, struct str text, struct annotated *ret,
                   struct err *err)
{
    *ret = (struct annotated){ .arena = a, .file = file };
    struct reader r = { .in = ret, .text = text, .line = 1, .err = err };
    size_t n_good = utf8_length(text);
    if (n_good < text.n) {
        skip(&r, n_good);
        return annotated_error(ret, r.line, err, "the text is not UTF-8");
    }
    r.last_struct = &ret->structs;
    r.last_marker = &ret->markers;
    forget_remark(&r);
    int got = read_file(&r);
    buf_done(&r.remark.about);
    return got;
}

/* ---- Looking ---- */

struct annotated_struct *annotated_find(const struct annotated *in, struct str name)
{
    struct annotated_struct *s = in->structs;
    while (s && !str_eq(s->name, name))
        s = s->next;
    return s;
}

struct str annotated_value(const struct annotated_marker *markers, struct str name)
{
    for (const struct annotated_marker *m = markers; m; m = m->next) {
        struct str value = m->text;
        struct str key = str_cut(&value, '=');
        if (str_eq(str_trim(key), name))
            return value.p ? str_trim(value) : STR("");
    }
    return (struct str){ NULL, 0 };
}
