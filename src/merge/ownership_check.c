/* Whether an applied configuration fits its schema, in upstream's words. */
#include "merge/ownership_internal.h"

#include "api/go/quote.h"
#include "base/json.h"
#include "base/limits.h"
#include "merge/sorted.h"
#include "merge/unstructured.h"

#include "base/banned.h"

struct check {
    struct ownership_walk w;
    struct buf path;   /* of the place that is looked at, as text */
    struct buf faults; /* one per line, indented */
    size_t n;
};

static void check_done(struct check *c)
{
    buf_done(&c->path);
    buf_done(&c->faults);
}

static void fault(struct check *c, struct str msg)
{
    if (c->n++ >= LIMIT_FIELD_ERRORS || c->faults.n > LIMIT_FIELD_ERROR_BYTES)
        return;
    buf_str_add(&c->faults, STR("\n  "));
    buf_str_add(&c->faults, buf_str(&c->path));
    buf_str_add(&c->faults, c->path.n ? STR(": ") : STR(""));
    buf_str_add(&c->faults, msg);
}

/* As %#v prints it. */
static void add_go_syntax(struct arena *a, struct buf *out, const struct value *v, size_t depth)
{
    if (v->type == VALUE_STRING) {
        quote_go(out, value_str(v));
    } else if (v->type == VALUE_NULL) {
        buf_str_add(out, STR("interface {}(nil)"));
    } else if (v->type == VALUE_ARRAY && depth < LIMIT_FIELD_DEPTH) {
        buf_str_add(out, STR("[]interface {}{"));
        for (uint32_t i = 0; i < v->n; i++) {
            buf_str_add(out, i ? STR(", ") : STR(""));
            add_go_syntax(a, out, &v->items[i], depth + 1);
        }
        buf_byte(out, '}');
    } else if (v->type == VALUE_OBJECT && depth < LIMIT_FIELD_DEPTH) {
        struct sorted s = sorted_fields(a, v);
        buf_str_add(out, STR("map[string]interface {}{"));
        for (size_t i = 0; i < s.n; i++) {
            buf_str_add(out, i ? STR(", ") : STR(""));
            quote_go(out, s.fields[i]->key);
            buf_byte(out, ':');
            add_go_syntax(a, out, &s.fields[i]->val, depth + 1);
        }
        buf_byte(out, '}');
    } else {
        json_write(out, v);
    }
}

static void expected(struct check *c, const char *what, const struct value *v)
{
    autobuf msg = { 0 };
    buf_printf(&msg, "expected %s, got &{", what);
    unstructured_print(&msg, v);
    buf_byte(&msg, '}');
    fault(c, buf_str(&msg));
}

static void check_scalar(struct check *c, enum ownership_type type, const struct value *v)
{
    autobuf msg = { 0 };
    if (type == OWNERSHIP_NUMBER && v->type != VALUE_INT && v->type != VALUE_NUMBER) {
        buf_printf(&msg, "expected numeric (int or float), got %s", unstructured_type(v));
        fault(c, buf_str(&msg));
    } else if (type == OWNERSHIP_TEXT && v->type != VALUE_STRING) {
        buf_str_add(&msg, STR("expected string, got &value.valueUnstructured{Value:"));
        add_go_syntax(c->w.arena, &msg, v, 0);
        buf_byte(&msg, '}');
        fault(c, buf_str(&msg));
    } else if (type == OWNERSHIP_BOOLEAN && v->type != VALUE_BOOL) {
        expected(c, "boolean", v);
    } else if (type == OWNERSHIP_SCALAR && (v->type == VALUE_ARRAY || v->type == VALUE_OBJECT)) {
        expected(c, "any scalar", v);
    }
}

static int check(struct check *c, struct ownership_place place, const struct value *v);

static int check_below(struct check *c, struct fieldset_step step, struct ownership_place place,
                       const struct value *v)
{
    size_t before = c->path.n;
    fieldset_step_write(&c->path, &step);
    int r = check(c, place, v);
    c->path.n = before;
    return r;
}

/* Upstream looks no further in an object that has a field too many. */
static int check_fields(struct check *c, struct ownership_place place, const struct value *obj)
{
    value_each_field (f, obj) {
        struct ownership_place below;
        struct fieldset_step step = fieldset_name(f->key);
        (void)c->w.schema->field(place, f->key, &below);
        if (c->w.schema->type(below) == OWNERSHIP_NOWHERE) {
            size_t before = c->path.n;
            fieldset_step_write(&c->path, &step);
            fault(c, STR("field not declared in schema"));
            c->path.n = before;
            return 0;
        }
        int r = check_below(c, step, below, &f->val);
        if (r < 0)
            return r;
    }
    return 0;
}

static void report_repeated(struct check *c, const struct ownership_items *items)
{
    for (size_t i = 1; i < items->n; i++) {
        const struct ownership_item *item = items->sorted[i];
        if (fieldset_step_cmp(&items->sorted[i - 1]->step, &item->step))
            continue;
        autobuf msg = { 0 };
        buf_str_add(&msg, STR("duplicate entries for key "));
        fieldset_step_write(&msg, &item->step);
        fault(c, buf_str(&msg));
    }
}

static int check_items(struct check *c, struct ownership_place place, const struct value *list)
{
    struct ownership_shape shape = c->w.schema->shape(place, list);
    struct ownership_place below = c->w.schema->item(place);
    struct ownership_items items = { 0 };
    bool is_told_apart = shape.form == OWNERSHIP_KEYED || shape.form == OWNERSHIP_SET;
    if (is_told_apart) {
        struct err err = ERR_INIT(c->w.arena);
        struct ownership_walk w = { c->w.arena, c->w.schema, &err, 0 };
        if (ownership__items(&w, place, &shape, list, &items) < 0) {
            fault(c, err.msg);
            return 0;
        }
        report_repeated(c, &items);
    }
    for (uint32_t i = 0; i < list->n; i++) {
        struct fieldset_step step = { FIELDSET_INDEX, value_int(i) };
        int r = check_below(c, is_told_apart ? items.all[i].step : step, below, &list->items[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_container(struct check *c, struct ownership_place place, const struct value *v)
{
    int r = ownership__enter(&c->w);
    if (r < 0)
        return r;
    r = v->type == VALUE_OBJECT ? check_fields(c, place, v) : check_items(c, place, v);
    c->w.depth--;
    return r;
}

static int check(struct check *c, struct ownership_place place, const struct value *v)
{
    enum ownership_type type = c->w.schema->type(place);
    if (v->type == VALUE_NULL || type == OWNERSHIP_ANYTHING)
        return 0;
    if (type == (v->type == VALUE_OBJECT ? OWNERSHIP_MAP : OWNERSHIP_LIST) &&
        (v->type == VALUE_OBJECT || v->type == VALUE_ARRAY))
        return check_container(c, place, v);
    if (type == OWNERSHIP_MAP)
        expected(c, "map", v);
    else if (type == OWNERSHIP_LIST)
        expected(c, "list", v);
    else
        check_scalar(c, type, v);
    return 0;
}

int ownership_check(struct arena *a, const struct ownership_schema *schema,
                    struct ownership_place place, const struct value *v, struct err *err)
{
    __attribute__((cleanup(check_done))) struct check c = { .w = { a, schema, err, 0 } };
    int r = check(&c, place, v);
    if (r < 0 || !c.n)
        return r;
    struct str faults = buf_str(&c.faults);
    if (c.n == 1)
        return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(str_skip(faults, 3)));
    return err_set(err, ERR_UNKNOWN, "errors:" STR_FMT, STR_ARG(faults));
}
