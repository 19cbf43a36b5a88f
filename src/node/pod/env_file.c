#include "node/pod/env_file.h"

#include "base/buf.h"
#include "base/banned.h"

static struct str skip_blanks(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_skip(s, 1);
    return s;
}

static struct str next_line(struct str *file, size_t *number)
{
    struct str line = str_cut(file, '\n');
    ++*number;
    if (str_ends(line, STR("\r")))
        line.n--;
    return line;
}

static int fault(struct err *err, size_t number, const char *why)
{
    return err_set(err, ERR_INVALID, "invalid environment variable format at line %zu: %s", number,
                   why);
}

/* What stands between quotes, perhaps over several lines; `rest` is behind the opening one. */
static int read_quoted(struct str *file, struct str rest, size_t *number, struct buf *out,
                       struct err *err)
{
    const size_t start = *number;
    for (;;) {
        const ptrdiff_t end = str_find(rest, '\'');
        if (end >= 0) {
            buf_str_add(out, str_take(rest, (size_t)end));
            rest = skip_blanks(str_skip(rest, (size_t)end + 1));
            if (rest.n && rest.p[0] != '#')
                return fault(err, *number, "unexpected content after closing quote");
            return 0;
        }
        buf_str_add(out, rest);
        buf_byte(out, '\n');
        if (!file->n)
            return err_set(err, ERR_INVALID,
                           "invalid environment variable format starting at line %zu: unclosed "
                           "single quote",
                           start);
        rest = next_line(file, number);
    }
}

/* One line with a variable. 1: it is the one that was asked for. */
static int read_variable(struct str *file, struct str line, struct str name, size_t *number,
                         struct buf *out, struct err *err)
{
    const ptrdiff_t at = str_find(line, '=');
    if (at < 0)
        return fault(err, *number, "missing '='");
    struct str found = str_take(line, (size_t)at), rest = str_skip(line, (size_t)at + 1);
    if (!skip_blanks(found).n)
        return fault(err, *number, "empty variable name");
    if (found.p[found.n - 1] == ' ' || found.p[found.n - 1] == '\t')
        return fault(err, *number, "whitespace before '=' is not allowed");
    if (rest.n && (rest.p[0] == ' ' || rest.p[0] == '\t'))
        return str_eq(found, name); /* to a shell that is an empty value */
    if (!rest.n || rest.p[0] != '\'')
        return fault(err, *number, "value must be enclosed in single quotes");
    int r = read_quoted(file, str_skip(rest, 1), number, out, err);
    if (r < 0)
        return r;
    if (str_eq(found, name))
        return 1;
    buf_reset(out);
    return 0;
}

int env_file_get(struct arena *a, struct str file, struct str name, struct str *ret,
                 struct err *err)
{
    autobuf out = { 0 };
    size_t number = 0;
    while (file.n) {
        struct str line = skip_blanks(next_line(&file, &number));
        if (!line.n || line.p[0] == '#')
            continue;
        int r = read_variable(&file, line, name, &number, &out, err);
        if (r < 0)
            return r;
        if (r > 0)
            break;
    }
    *ret = arena_str(a, buf_str(&out));
    return 0;
}
