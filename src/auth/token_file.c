#include "auth/token_file.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

enum { FIELDS_MAX = 4 }; /* more are allowed, and mean nothing */

struct token_file {
    struct arena arena;
    struct map users; /* by token */
};

/* ---- Comma-separated values ---- */

struct reader {
    struct arena *arena;
    struct str rest;
    struct str name;
    size_t line;
};

static int fail(const struct reader *r, const char *what, struct err *err)
{
    return err_set(err, ERR_INVALID, STR_FMT ": line %zu: %s", STR_ARG(r->name), r->line, what);
}

/* Behind its opening quote; two quotes are one of the text. */
static int read_quoted(struct reader *r, struct str *ret, struct err *err)
{
    char *out = arena_alloc(r->arena, r->rest.n, 1);
    size_t n = 0;
    for (;;) {
        if (!r->rest.n)
            return fail(r, "a quote is not closed", err);
        char c = r->rest.p[0];
        r->rest = str_skip(r->rest, 1);
        if (c == '"' && !str_starts(r->rest, STR("\"")))
            break;
        if (c == '"')
            r->rest = str_skip(r->rest, 1);
        r->line += c == '\n';
        out[n++] = c;
    }
    *ret = (struct str){ out, n };
    bool ends = !r->rest.n || r->rest.p[0] == ',' || r->rest.p[0] == '\r' || r->rest.p[0] == '\n';
    return ends ? 0 : fail(r, "text follows a closing quote", err);
}

static int read_field(struct reader *r, struct str *ret, struct err *err)
{
    if (str_starts(r->rest, STR("\""))) {
        r->rest = str_skip(r->rest, 1);
        return read_quoted(r, ret, err);
    }
    size_t n = 0;
    while (n < r->rest.n && r->rest.p[n] != ',' && r->rest.p[n] != '\n') {
        if (r->rest.p[n] == '"')
            return fail(r, "a quote within a field", err);
        n++;
    }
    *ret = str_take(r->rest, n);
    r->rest = str_skip(r->rest, n);
    if (!str_starts(r->rest, STR(",")) && str_ends(*ret, STR("\r")))
        ret->n--;
    return 0;
}

/* 1 and the fields of the next line that is not empty; 0 at the end. */
static int read_line(struct reader *r, struct str fields[FIELDS_MAX], size_t *ret_n,
                     struct err *err)
{
    while (str_starts(r->rest, STR("\n")) || str_starts(r->rest, STR("\r\n"))) {
        (void)str_cut(&r->rest, '\n');
        r->line++;
    }
    if (!r->rest.n)
        return 0;
    for (*ret_n = 0;;) {
        struct str field;
        int e = read_field(r, &field, err);
        if (e < 0)
            return e;
        if (*ret_n < FIELDS_MAX)
            fields[(*ret_n)++] = field;
        if (!str_starts(r->rest, STR(",")))
            break;
        r->rest = str_skip(r->rest, 1);
    }
    if (str_starts(r->rest, STR("\r")))
        r->rest = str_skip(r->rest, 1);
    if (r->rest.n)
        r->rest = str_skip(r->rest, 1);
    r->line++;
    return 1;
}

/* ---- Tokens ---- */

static void set_groups(struct arena *a, struct user *user, struct str list)
{
    size_t n = 1;
    for (size_t i = 0; i < list.n; i++)
        n += list.p[i] == ',';
    struct str *groups = arena_array(a, struct str, n + 1);
    while (list.n)
        groups[user->n_groups++] = str_cut(&list, ',');
    groups[user->n_groups++] = USER_AUTHENTICATED;
    user->groups = groups;
}

static int take_line(struct token_file *f, const struct reader *r, const struct str *fields,
                     size_t n, struct err *err)
{
    if (n < 3)
        return err_set(err, ERR_INVALID,
                       "token file '" STR_FMT "' must have at least 3 columns (token, user name, "
                       "user uid), found %zu",
                       STR_ARG(r->name), n);
    if (!fields[0].n) {
        log_warn("an empty token was left out", LOG_STR("file", r->name));
        return 0;
    }
    struct user *user = arena_new(&f->arena, struct user);
    user->name = arena_str(&f->arena, fields[1]);
    user->uid = arena_str(&f->arena, fields[2]);
    set_groups(&f->arena, user, arena_str(&f->arena, n > 3 ? fields[3] : STR("")));
    if (map_set(&f->users, arena_str(&f->arena, fields[0]), user))
        log_warn("a token stands twice; the last one counts", LOG_STR("file", r->name));
    return 0;
}

int token_file_read(struct str text, struct str name, struct token_file **ret, struct err *err)
{
    struct token_file *f = mem_new(struct token_file);
    arena_init(&f->arena);
    struct reader r = { .arena = &f->arena, .rest = text, .name = name, .line = 1 };
    struct str fields[FIELDS_MAX];
    size_t n;
    int e;
    while ((e = read_line(&r, fields, &n, err)) > 0 && (e = take_line(f, &r, fields, n, err)) == 0)
        continue;
    if (e < 0) {
        token_file_free(f);
        return e;
    }
    *ret = f;
    return 0;
}

struct token_file *token_file_free(struct token_file *f)
{
    if (!f)
        return NULL;
    map_done(&f->users);
    arena_done(&f->arena);
    free(f);
    return NULL;
}

const struct user *token_file_user(const struct token_file *f, struct str token)
{
    return map_get(&f->users, token);
}
