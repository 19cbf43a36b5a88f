/* wiregen OUT FILE... - turns the files of wire/ into the tables that src/wire/message_table.h
 * declares.
 *
 * A file is lines; # starts a comment. `package P` comes first, and again where another begins.
 * `message NAME [form]` and `enum NAME` open a block of indented lines. A field of a message is
 *
 *     name  number  type  [oneof]
 *
 * where the type is a scalar of protobuf, a message or an enum of the same package or by its full
 * name, then [] for a list, or `map T` for a map with text keys. A row of an enum is NAME number.
 * Forms are those of message_table.h: any, duration, wrapper, struct, list, value. Mistakes are
 * reported as file:line and end the build. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/map.h"
#include "wire/message_table.h"
#include "base/banned.h"

enum { FILE_BYTES_MAX = 16 << 20 };

struct row { /* of a message or an enum */
    struct str name, type;
    int64_t number;
    bool is_list, is_map, is_oneof;
    unsigned line;
};

struct block {
    struct str name; /* full */
    struct str package, form;
    const char *file;
    struct row *rows;
    size_t n_rows;
    bool is_enum;
    size_t index; /* among those of its kind */
};

static struct arena arena;
static struct block *blocks;
static size_t n_blocks;
static struct map by_name;

static void __attribute__((format(printf, 3, 4), noreturn))
complain(const char *file, unsigned line, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%u: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

/* ---- Reading ---- */

static struct str next_word(struct str *line)
{
    *line = str_trim(*line);
    size_t n = 0;
    while (n < line->n && line->p[n] != ' ' && line->p[n] != '\t')
        n++;
    const struct str word = str_take(*line, n);
    *line = str_skip(*line, n);
    return word;
}

static void open_block(const char *file, unsigned line, struct str package, struct str rest,
                       bool is_enum)
{
    const struct str name = next_word(&rest);
    blocks = arena_grow(&arena, blocks, n_blocks * sizeof(*blocks),
                        (n_blocks + 1) * sizeof(*blocks), alignof(struct block));
    struct block *b = &blocks[n_blocks++];
    *b = (struct block){ .package = package, .file = file, .is_enum = is_enum };
    b->name = arena_printf(&arena, STR_FMT "." STR_FMT, STR_ARG(package), STR_ARG(name));
    b->form = next_word(&rest);
    if (!package.n || !name.n)
        complain(file, line, "no package, or no name");
}

static void add_row(const char *file, unsigned line, struct str text)
{
    if (!n_blocks)
        complain(file, line, "this belongs to no message");
    struct block *b = &blocks[n_blocks - 1];
    struct row r = { .line = line };
    r.name = next_word(&text);
    if (!str_to_i64(next_word(&text), &r.number))
        complain(file, line, "\"" STR_FMT "\" has no number", STR_ARG(r.name));
    r.type = b->is_enum ? STR("") : next_word(&text);
    r.is_map = str_eq(r.type, STR("map"));
    if (r.is_map)
        r.type = next_word(&text);
    r.is_list = str_ends(r.type, STR("[]"));
    if (r.is_list)
        r.type = str_take(r.type, r.type.n - 2);
    const struct str flag = next_word(&text);
    r.is_oneof = str_eq(flag, STR("oneof"));
    if ((flag.n && !r.is_oneof) || (!b->is_enum && !r.type.n))
        complain(file, line, "\"" STR_FMT "\" is not as it should be", STR_ARG(r.name));
    b->rows = arena_grow(&arena, b->rows, b->n_rows * sizeof(r), (b->n_rows + 1) * sizeof(r),
                         alignof(struct row));
    b->rows[b->n_rows++] = r;
}

static void read_line(const char *file, unsigned number, struct str line, struct str *package)
{
    const ptrdiff_t comment = str_find(line, '#');
    if (comment >= 0)
        line = str_take(line, (size_t)comment);
    if (!str_trim(line).n)
        return;
    if (line.p[0] == ' ') {
        add_row(file, number, line);
        return;
    }
    const struct str word = next_word(&line);
    if (str_eq(word, STR("package")))
        *package = next_word(&line);
    else if (str_eq(word, STR("message")) || str_eq(word, STR("enum")))
        open_block(file, number, *package, line, str_eq(word, STR("enum")));
    else
        complain(file, number, "\"" STR_FMT "\" opens nothing", STR_ARG(word));
}

static void read_file(const char *path)
{
    struct err err = ERR_INIT(&arena);
    autobuf bytes = { 0 };
    struct str package = STR("");
    if (file_read(path, FILE_BYTES_MAX, &bytes, &err) < 0) {
        fprintf(stderr, "wiregen: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    struct str text = arena_str(&arena, buf_str(&bytes));
    for (unsigned line = 1; text.n; line++)
        read_line(path, line, str_cut(&text, '\n'), &package);
}

/* ---- Order ---- */

static int by_block_name(const void *a, const void *b)
{
    return str_cmp(((const struct block *)a)->name, ((const struct block *)b)->name);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = ((const struct row *)a)->number, y = ((const struct row *)b)->number;
    return x < y ? -1 : x > y;
}

static void put_in_order(void)
{
    size_t n_of[2] = { 0 };
    qsort(blocks, n_blocks, sizeof(*blocks), by_block_name);
    for (size_t i = 0; i < n_blocks; i++) {
        struct block *b = &blocks[i];
        b->index = n_of[b->is_enum]++;
        if (!b->is_enum && b->n_rows > MESSAGE_FIELDS_MAX)
            complain(b->file, b->rows[0].line, "more than %d fields", MESSAGE_FIELDS_MAX);
        if (!b->is_enum && b->n_rows)
            qsort(b->rows, b->n_rows, sizeof(*b->rows), by_number);
        if (map_get(&by_name, b->name))
            complain(b->file, b->n_rows ? b->rows[0].line : 0, STR_FMT " is there twice",
                     STR_ARG(b->name));
        (void)map_set(&by_name, b->name, b);
    }
}

/* ---- Writing ---- */

static const char *const scalars[] = { "double", "float", "int32",  "int64", "uint32",
                                       "uint64", "bool",  "string", "bytes" };
static const char *const scalar_names[] = { "DOUBLE", "FLOAT", "INT32",  "INT64", "UINT32",
                                            "UINT64", "BOOL",  "STRING", "BYTES" };

static const struct block *find_type(const struct block *b, const struct row *r)
{
    const struct str near =
        arena_printf(&arena, STR_FMT "." STR_FMT, STR_ARG(b->package), STR_ARG(r->type));
    const struct block *found = map_get(&by_name, near);
    if (!found)
        found = map_get(&by_name, r->type);
    if (!found)
        complain(b->file, r->line, "there is no type " STR_FMT, STR_ARG(r->type));
    return found;
}

static void write_type(FILE *out, const struct block *b, const struct row *r)
{
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
        if (str_eq(r->type, str_of(scalars[i]))) {
            fprintf(out, ".scalar = MESSAGE_%s", scalar_names[i]);
            return;
        }
    const struct block *t = find_type(b, r);
    if (t->is_enum)
        fprintf(out, ".scalar = MESSAGE_ENUM, .names = &enums[%zu]", t->index);
    else
        fprintf(out, ".scalar = MESSAGE_MESSAGE, .type = &message_types[%zu]", t->index);
}

static void write_rows(FILE *out, const struct block *b)
{
    if (!b->n_rows)
        return;
    fprintf(out, "static const struct %s %s_%zu[] = {\n",
            b->is_enum ? "message_enum_value" : "message_field", b->is_enum ? "names" : "fields",
            b->index);
    for (size_t i = 0; i < b->n_rows; i++) {
        const struct row *r = &b->rows[i];
        if (b->is_enum) {
            fprintf(out, "    { { \"" STR_FMT "\", %zu }, %lld },\n", STR_ARG(r->name), r->name.n,
                    (long long)r->number);
            continue;
        }
        fprintf(out, "    { .name = { \"" STR_FMT "\", %zu }, .number = %lld, ", STR_ARG(r->name),
                r->name.n, (long long)r->number);
        write_type(out, b, r);
        fprintf(out, "%s%s%s },\n", r->is_list ? ", .is_list = true" : "",
                r->is_map ? ", .is_map = true" : "", r->is_oneof ? ", .is_explicit = true" : "");
    }
    fprintf(out, "};\n");
}

static const char *form_name(const struct block *b)
{
    static const char *const forms[][2] = {
        { "", "PLAIN" },          { "any", "ANY" },       { "duration", "DURATION" },
        { "wrapper", "WRAPPER" }, { "struct", "STRUCT" }, { "list", "LIST" },
        { "value", "VALUE" },
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (str_eq(b->form, str_of(forms[i][0])))
            return forms[i][1];
    complain(b->file, 0, "there is no form " STR_FMT, STR_ARG(b->form));
}

static void write_blocks(FILE *out, bool enums)
{
    for (size_t i = 0; i < n_blocks; i++) {
        const struct block *b = &blocks[i];
        if (b->is_enum != enums)
            continue;
        const char *rows = b->n_rows ? enums ? "names" : "fields" : NULL;
        fprintf(out, "    { ");
        if (!enums)
            fprintf(out, "{ \"" STR_FMT "\", %zu }, MESSAGE_%s, ", STR_ARG(b->name), b->name.n,
                    form_name(b));
        if (rows)
            fprintf(out, "%s_%zu, %zu },\n", rows, b->index, b->n_rows);
        else
            fprintf(out, "0, 0 },\n");
    }
}

static void write_all(FILE *out)
{
    fprintf(out, "#include \"wire/message_table.h\"\n\n");
    for (size_t i = 0; i < n_blocks; i++)
        if (blocks[i].is_enum)
            write_rows(out, &blocks[i]);
    fprintf(out, "static const struct message_enum enums[] = {\n");
    write_blocks(out, true);
    fprintf(out, "};\n");
    for (size_t i = 0; i < n_blocks; i++)
        if (!blocks[i].is_enum)
            write_rows(out, &blocks[i]);
    fprintf(out, "const struct message_type message_types[] = {\n");
    write_blocks(out, false);
    fprintf(out, "};\nconst size_t n_message_types = sizeof(message_types) / "
                 "sizeof(message_types[0]);\n");
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("Usage: wiregen OUT FILE...\n", stderr);
        return 2;
    }
    arena_init(&arena);
    for (int i = 2; i < argc; i++)
        read_file(argv[i]);
    put_in_order();
    FILE *out = fopen(argv[1], "we");
    if (!out) {
        fprintf(stderr, "wiregen: open %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    write_all(out);
    const int bad = ferror(out) | fclose(out);
    map_done(&by_name);
    arena_done(&arena);
    return bad ? 1 : 0;
}
