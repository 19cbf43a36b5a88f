/* openapi_proto.c - the Swagger document in the protobuf form (openapi.v2.Document) that kubectl
 * asks for wherever it does not use OpenAPI 3 yet.
 *
 * It is made from the JSON text: what has a field there is translated by the tables below, and
 * members that begin with "x-" become extensions, whose values are JSON, being YAML too. Who may
 * ask (security) is left out; nobody reads it in this form. */
#include "api/openapi/openapi.h"

#include <assert.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/banned.h"

enum how {
    AS_TEXT,
    AS_FLAG,
    AS_TEXTS, /* a list of text */
    AS_MESSAGE,
    AS_MAP,        /* an object: a message of pairs, name and message */
    AS_PARAMETERS, /* a list of them; each is one of three messages */
};

enum { WRAP_MAX = 4 };

struct message;

/* How one member is written. Field numbers lead from the message to the value, through messages
 * that hold nothing else; 0 ends them. */
struct row {
    const char *name;
    enum how how;
    uint8_t numbers[WRAP_MAX];
    const struct message *of;
    uint8_t pair;              /* AS_MAP: the number of a pair */
    uint8_t wrapped[WRAP_MAX]; /* AS_MAP: the way from a pair to its value */
};

struct message {
    const struct row *rows;
    size_t n_rows;
    uint8_t extension;
};
#define MESSAGE(list, number)                                             \
    {                                                                     \
        .rows = (list), .n_rows = ARRAY_LEN(list), .extension = (number), \
    }

static const struct message schema;

static const struct row schema_rows[] = {
    { "$ref", AS_TEXT, { 1 } },
    { "format", AS_TEXT, { 2 } },
    { "description", AS_TEXT, { 4 } },
    { "required", AS_TEXTS, { 19 } },
    { "additionalProperties", AS_MESSAGE, { 21, 1 }, &schema },
    { "type", AS_TEXT, { 22, 1 } },
    { "items", AS_MESSAGE, { 23, 1 }, &schema },
    { "properties", AS_MAP, { 25 }, &schema, 1, { 2 } },
};
static const struct message schema = MESSAGE(schema_rows, 31);

static const struct row body_rows[] = {
    { "name", AS_TEXT, { 2 } },
    { "in", AS_TEXT, { 3 } },
    { "required", AS_FLAG, { 4 } },
    { "schema", AS_MESSAGE, { 5 }, &schema },
};
static const struct message body_parameter = MESSAGE(body_rows, 6);

static const struct row query_rows[] = {
    { "required", AS_FLAG, { 1 } }, { "in", AS_TEXT, { 2 } },           { "name", AS_TEXT, { 4 } },
    { "type", AS_TEXT, { 6 } },     { "uniqueItems", AS_FLAG, { 20 } },
};
static const struct message query_parameter = MESSAGE(query_rows, 23);

static const struct row path_rows[] = {
    { "required", AS_FLAG, { 1 } }, { "in", AS_TEXT, { 2 } },           { "name", AS_TEXT, { 4 } },
    { "type", AS_TEXT, { 5 } },     { "uniqueItems", AS_FLAG, { 19 } },
};
static const struct message path_parameter = MESSAGE(path_rows, 22);

static const struct row response_rows[] = {
    { "description", AS_TEXT, { 1 } },
    { "schema", AS_MESSAGE, { 2, 1 }, &schema },
};
static const struct message response = MESSAGE(response_rows, 5);

static const struct row operation_rows[] = {
    { "tags", AS_TEXTS, { 1 } },
    { "operationId", AS_TEXT, { 5 } },
    { "produces", AS_TEXTS, { 6 } },
    { "consumes", AS_TEXTS, { 7 } },
    { "parameters", AS_PARAMETERS, { 8 } },
    { "responses", AS_MAP, { 9 }, &response, 1, { 2, 1 } },
    { "schemes", AS_TEXTS, { 10 } },
};
static const struct message operation = MESSAGE(operation_rows, 13);

static const struct row item_rows[] = {
    { "get", AS_MESSAGE, { 2 }, &operation },     { "put", AS_MESSAGE, { 3 }, &operation },
    { "post", AS_MESSAGE, { 4 }, &operation },    { "delete", AS_MESSAGE, { 5 }, &operation },
    { "options", AS_MESSAGE, { 6 }, &operation }, { "head", AS_MESSAGE, { 7 }, &operation },
    { "patch", AS_MESSAGE, { 8 }, &operation },   { "parameters", AS_PARAMETERS, { 9 } },
};
static const struct message path_item = MESSAGE(item_rows, 10);

static const struct row info_rows[] = {
    { "title", AS_TEXT, { 1 } },
    { "version", AS_TEXT, { 2 } },
};
static const struct message info = MESSAGE(info_rows, 7);

static const struct row document_rows[] = {
    { "swagger", AS_TEXT, { 1 } },
    { "info", AS_MESSAGE, { 2 }, &info },
    { "paths", AS_MAP, { 8 }, &path_item, 2, { 2 } },
    { "definitions", AS_MAP, { 9 }, &schema, 1, { 2 } },
};
static const struct message document = MESSAGE(document_rows, 16);

/* ---- Writing ---- */

static void add_varint(struct buf *out, size_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_byte(out, (char)(n | 0x80));
    buf_byte(out, (char)n);
}

/* Opens a field that has a length; `end` puts the length before what was written since. */
static size_t begin(struct buf *out, unsigned number)
{
    add_varint(out, number << 3 | 2);
    return out->n;
}

static void end(struct buf *out, size_t start)
{
    size_t n = out->n - start;
    add_varint(out, n);
    size_t width = out->n - start - n;
    char length[10];
    memcpy(length, out->p + start + n, width);
    memmove(out->p + start + width, out->p + start, n);
    memcpy(out->p + start, length, width);
}

struct nesting {
    size_t starts[WRAP_MAX];
    size_t n;
};

static struct nesting begin_all(struct buf *out, const uint8_t *numbers)
{
    struct nesting in = { 0 };
    for (; in.n < WRAP_MAX && numbers[in.n]; in.n++)
        in.starts[in.n] = begin(out, numbers[in.n]);
    return in;
}

static void end_all(struct buf *out, struct nesting in)
{
    while (in.n)
        end(out, in.starts[--in.n]);
}

static void add_text(struct buf *out, const uint8_t *numbers, struct str text)
{
    struct nesting in = begin_all(out, numbers);
    buf_str_add(out, text);
    end_all(out, in);
}

static void add_message(struct buf *out, const struct value *v, const struct message *m);

static void add_pair(struct buf *out, const struct value_field *f, const struct row *row)
{
    size_t start = begin(out, row->pair);
    add_text(out, (const uint8_t[WRAP_MAX]){ 1 }, f->key);
    struct nesting in = begin_all(out, row->wrapped);
    add_message(out, &f->val, row->of);
    end_all(out, in);
    end(out, start);
}

static void add_map(struct buf *out, const struct value *v, const struct row *row)
{
    struct nesting in = begin_all(out, row->numbers);
    for (size_t i = 0; v->type == VALUE_OBJECT && i < v->n; i++)
        add_pair(out, &v->fields[i], row);
    end_all(out, in);
}

static void add_parameters(struct buf *out, const struct value *list, uint8_t number)
{
    static const struct {
        struct str in;
        uint8_t numbers[WRAP_MAX];
        const struct message *of;
    } kinds[] = {
        { STR("body"), { 1, 1 }, &body_parameter },
        { STR("query"), { 1, 2, 3 }, &query_parameter },
        { STR("path"), { 1, 2, 4 }, &path_parameter },
    };
    value_each_item (it, list) {
        size_t start = begin(out, number);
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
            if (!str_eq(value_text(it, "in"), kinds[i].in))
                continue;
            struct nesting in = begin_all(out, kinds[i].numbers);
            add_message(out, it, kinds[i].of);
            end_all(out, in);
        }
        end(out, start);
    }
}

static void add_member(struct buf *out, const struct value *v, const struct row *row)
{
    struct nesting in;
    switch (row->how) {
    case AS_TEXT:
        add_text(out, row->numbers, value_str(v));
        break;
    case AS_FLAG:
        add_varint(out, (size_t)row->numbers[0] << 3);
        buf_byte(out, (char)(value_is(v, VALUE_BOOL) && v->b));
        break;
    case AS_TEXTS:
        for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n; i++)
            add_text(out, row->numbers, value_str(&v->items[i]));
        break;
    case AS_MESSAGE:
        in = begin_all(out, row->numbers);
        add_message(out, v, row->of);
        end_all(out, in);
        break;
    case AS_MAP:
        add_map(out, v, row);
        break;
    case AS_PARAMETERS:
        add_parameters(out, v, row->numbers[0]);
        break;
    }
}

static void add_extension(struct buf *out, const struct value_field *f, uint8_t number)
{
    size_t start = begin(out, number);
    add_text(out, (const uint8_t[WRAP_MAX]){ 1 }, f->key);
    struct nesting in = begin_all(out, (const uint8_t[WRAP_MAX]){ 2, 2 });
    json_write(out, &f->val);
    end_all(out, in);
    end(out, start);
}

static void add_message(struct buf *out, const struct value *v, const struct message *m)
{
    for (size_t i = 0; v->type == VALUE_OBJECT && i < v->n; i++) {
        const struct value_field *f = &v->fields[i];
        if (str_starts(f->key, STR("x-")))
            add_extension(out, f, m->extension);
        for (size_t r = 0; r < m->n_rows; r++)
            if (str_eq(f->key, str_of(m->rows[r].name)))
                add_member(out, &f->val, &m->rows[r]);
    }
}

void openapi_swagger_proto(struct buf *out, struct str swagger)
{
    struct arena a;
    arena_init(&a);
    struct value v;
    struct err err = ERR_INIT(&a);
    int r = json_read(&a, swagger, NULL, &v, &err);
    assert(r == 0);
    add_message(out, &v, &document);
    arena_done(&a);
}
