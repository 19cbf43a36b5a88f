#include "schema/schema_columns.h"

#include "api/columns/columns.h"
#include "api/go/gofloat.h"
#include "api/go/gotime.h"
#include "base/limits.h"

#include "base/banned.h"

enum {
    COLUMN_VALUES = 8,  /* looked at, as it were, for each column */
    PRINTED_VALUES = 8, /* and for each value of a list or object that is printed */
};

/* ---- Compiling ---- */

static struct str text_of(struct arena *a, const struct value *obj, struct str key)
{
    return arena_str(a, value_str(value_get(obj, key)));
}

/* False if the path is none. */
static bool compile(struct arena *a, const struct value *from, struct schema_column *ret)
{
    struct str path = value_str(value_get(from, STR("jsonPath")));
    struct jsonpath *parsed;
    if (jsonpath_parse(a, arena_printf(a, "{" STR_FMT "}", STR_ARG(path)), &parsed, NULL) < 0)
        return false;
    *ret = (struct schema_column){
        .name = text_of(a, from, STR("name")),
        .type = text_of(a, from, STR("type")),
        .format = text_of(a, from, STR("format")),
        .description = text_of(a, from, STR("description")),
        .path = parsed,
    };
    (void)value_to_int(value_get(from, STR("priority")), &ret->priority);
    if (!ret->description.n)
        ret->description = arena_printf(
            a, "Custom resource definition column (in JSONPath format): " STR_FMT, STR_ARG(path));
    return true;
}

static void add_age(struct arena *a, struct schema_columns *c)
{
    struct jsonpath *path;
    c->list = arena_new(a, struct schema_column);
    if (jsonpath_parse(a, STR("{.metadata.creationTimestamp}"), &path, NULL) < 0)
        return;
    c->list[c->n++] = (struct schema_column){
        .name = STR("Age"),
        .type = STR("date"),
        .format = STR(""),
        .description =
            STR("CreationTimestamp is a timestamp of when the server first stored the object."),
        .path = path,
    };
}

const struct schema_columns *schema_columns_compile(struct arena *a, const struct value *columns)
{
    struct schema_columns *c = arena_new(a, struct schema_columns);
    if (!value_is(columns, VALUE_ARRAY) || !columns->n) {
        add_age(a, c);
        return c;
    }
    c->list = arena_array(a, struct schema_column, columns->n);
    value_each_item (it, columns) {
        if (!compile(a, it, &c->list[c->n]))
            break;
        c->n++;
    }
    return c;
}

/* ---- Cells ---- */

/* What Go's conversion of a number that is too large gives, too. */
static int64_t to_integer(double d)
{
    return d >= -9223372036854775808.0 && d < 9223372036854775808.0 ? (int64_t)d : INT64_MIN;
}

static struct value date_cell(struct arena *a, struct str text, int64_t now_ns)
{
    struct gotime t = { .sec = GOTIME_ZERO_SEC };
    if (text.n && !str_eq(text, STR("null")) && gotime_parse(text, false, &t, NULL) < 0)
        return value_string(STR("<invalid>"));
    if (t.sec == GOTIME_ZERO_SEC && t.nanos == 0)
        return value_string(STR("<unknown>"));
    return value_string(columns_ago(a, t, now_ns));
}

/* What is left for the cells of a row: values that are looked at, and text. */
struct budget {
    size_t values, bytes;
};

static bool pay(size_t *left, size_t n)
{
    bool enough = n <= *left;
    *left = enough ? *left - n : 0;
    return enough;
}

/* A list or object is paid for before it is printed. */
static bool pay_for(struct budget *left, const struct value *v)
{
    bool enough = pay(&left->values, PRINTED_VALUES);
    value_each_field (f, v)
        enough = enough && pay_for(left, &f->val);
    value_each_item (it, v)
        enough = enough && pay_for(left, it);
    return enough;
}

/* Anything can be printed as a text, even null. */
static struct value text_cell(struct arena *a, const struct value *v, struct budget *left)
{
    if (v->type == VALUE_STRING)
        return pay(&left->bytes, v->n) ? value_borrow(v) : value_null();
    if (v->type == VALUE_NULL)
        return value_string(STR("<no value>"));
    autobuf out = { 0 };
    if (pay_for(left, v))
        jsonpath_print_value(&out, v);
    if (!out.n || !pay(&left->bytes, out.n))
        return value_null();
    return value_string(arena_str(a, buf_str(&out)));
}

/* Null where the value is not what the column's type says, or is too much. */
static struct value cell(struct arena *a, struct str type, const struct value *v, int64_t now_ns,
                         struct budget *left)
{
    double d;
    if (str_eq(type, STR("string")))
        return text_cell(a, v, left);
    if (str_eq(type, STR("integer")) && v->type == VALUE_INT)
        return *v;
    if (str_eq(type, STR("integer")) && value_to_double(v, &d))
        return value_int(to_integer(d));
    if (str_eq(type, STR("number")) && value_to_double(v, &d))
        return value_number(gofloat_text(a, d));
    if (str_eq(type, STR("boolean")) && v->type == VALUE_BOOL)
        return *v;
    if (str_eq(type, STR("date")) && v->type == VALUE_STRING)
        return date_cell(a, value_str(v), now_ns);
    return value_null();
}

/* What the path of a column leads to; of several values the first. NULL if to none. */
static const struct value *find(struct arena *scratch, const struct schema_column *column,
                                const struct value *obj, struct budget *left)
{
    struct jsonpath_results found;
    if (!pay(&left->values, COLUMN_VALUES) ||
        jsonpath_find(scratch, column->path, obj, true, &left->values, &found, NULL) < 0)
        return NULL;
    return found.n && found.list[0].n ? found.list[0].values[0] : NULL;
}

struct value schema_columns_row(struct arena *a, const struct schema_columns *c,
                                const struct value *obj, int64_t now_ns, size_t *work)
{
    struct value cells = value_array();
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    struct budget left = { LIMIT_TABLE_ROW_VALUES, LIMIT_TABLE_ROW_BYTES };
    struct arena scratch; /* for the path of one column */
    arena_init(&scratch);
    arena_allow(&scratch, a->allowance);
    value_put_item(a, &cells, value_string(name));
    for (size_t i = 0; i < c->n; i++) {
        const struct schema_column *column = &c->list[i];
        const struct value *v = find(&scratch, column, obj, &left);
        value_put_item(a, &cells, v ? cell(a, column->type, v, now_ns, &left) : value_null());
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    if (work)
        *work += LIMIT_TABLE_ROW_VALUES - left.values;
    return cells;
}

/* ---- Definitions ---- */

static void add_definition(struct arena *a, struct value *list, const struct schema_column *c)
{
    struct value def = value_object();
    value_put_new(a, &def, STR("name"), value_string(c->name));
    value_put_new(a, &def, STR("type"), value_string(c->type));
    value_put_new(a, &def, STR("format"), value_string(c->format));
    value_put_new(a, &def, STR("description"), value_string(c->description));
    value_put_new(a, &def, STR("priority"), value_int(c->priority));
    value_put_item(a, list, def);
}

struct value schema_columns_definitions(struct arena *a, const struct schema_columns *c)
{
    static const struct schema_column name = {
        .name = STR("Name"),
        .type = STR("string"),
        .format = STR("name"),
        .description = STR("Name must be unique within a namespace, among objects of one kind. "
                           "Cannot be changed."),
    };
    struct value list = value_array();
    add_definition(a, &list, &name);
    for (size_t i = 0; i < c->n; i++)
        add_definition(a, &list, &c->list[i]);
    return list;
}
