/* As upstream compiles them (component-helpers, nodeaffinity), in its words. */
#include "scheduler/profile_terms.h"

#include "api/label_syntax.h"
#include "base/idiom.h"
#include "base/banned.h"

static bool is_one_of(struct str s, const struct str *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(s, all[i]))
            return true;
    return false;
}

static size_t length_of(const struct value *list)
{
    return value_is(list, VALUE_ARRAY) ? list->n : 0;
}

static void refuse_values(struct field_errors *e, const struct field_path *at,
                          const struct value *values, const char *words)
{
    const struct field_path path = field_child(at, STR("values"));
    field_error(e, FIELD_INVALID, &path, field_json(e, values), "%s", words);
}

static void check_number(struct field_errors *e, const struct field_path *at,
                         const struct value *values)
{
    int64_t n;
    const struct field_path path = field_child(at, STR("values"));
    const struct field_path first = field_index(&path, 0);
    if (length_of(values) != 1) {
        refuse_values(e, at, values, "for 'Gt', 'Lt' operators, exactly one value is required");
        return;
    }
    struct str text = value_str(&values->items[0]);
    if (!str_to_i64(text, &n))
        field_error(e, FIELD_INVALID, &first, field_quoted(e, text),
                    "for 'Gt', 'Lt' operators, the value must be an integer");
}

static void check_key(struct field_errors *e, const struct field_path *at, struct str key)
{
    autobuf why = { 0 };
    const struct field_path path = field_child(at, STR("key"));
    if (!label_key_check(key, &why))
        field_error(e, FIELD_INVALID, &path, field_quoted(e, key), STR_FMT, STR_ARG(buf_str(&why)));
}

static void check_label_values(struct field_errors *e, const struct field_path *at, struct str key,
                               const struct value *values)
{
    const struct field_path path = field_child(at, STR("values"));
    size_t i = 0;
    value_each_item (v, values) {
        autobuf why = { 0 };
        const struct field_path one = field_index(&path, i++);
        const struct field_path shown = field_key(&one, key);
        if (!label_value_check(value_str(v), &why))
            field_error(e, FIELD_INVALID, &shown, field_quoted(e, value_str(v)), STR_FMT,
                        STR_ARG(buf_str(&why)));
    }
}

static void check_label(struct field_errors *e, const struct field_path *at,
                        const struct value *req)
{
    static const struct str operators[] = { STR("In"),           STR("NotIn"), STR("Exists"),
                                            STR("DoesNotExist"), STR("Gt"),    STR("Lt") };
    const struct field_path path = field_child(at, STR("operator"));
    const struct value *values = value_get(req, STR("values"));
    struct str op = value_text(req, "operator"), key = value_text(req, "key");
    if (!is_one_of(op, operators, ARRAY_LEN(operators))) {
        field_not_supported(e, &path, field_quoted(e, op), operators, ARRAY_LEN(operators));
        return;
    }
    check_key(e, at, key);
    if (is_one_of(op, operators, 2)) {
        if (!length_of(values))
            refuse_values(e, at, values, "for 'in', 'notin' operators, values set can't be empty");
    } else if (is_one_of(op, operators + 2, 2)) {
        if (length_of(values))
            refuse_values(e, at, values, "values set must be empty for exists and does not exist");
    } else {
        check_number(e, at, values);
    }
    check_label_values(e, at, key, values);
}

static void check_field(struct field_errors *e, const struct field_path *at,
                        const struct value *req)
{
    static const struct str operators[] = { STR("In"), STR("NotIn") };
    const struct field_path path = field_child(at, STR("operator"));
    const struct value *values = value_get(req, STR("values"));
    struct str op = value_text(req, "operator");
    if (!is_one_of(op, operators, ARRAY_LEN(operators)))
        field_not_supported(e, &path, field_quoted(e, op), operators, ARRAY_LEN(operators));
    else if (length_of(values) != 1)
        refuse_values(e, at, values, "must have one element");
}

static void check_term(struct field_errors *e, const struct field_path *at,
                       const struct value *term)
{
    const struct field_path labels = field_child(at, STR("matchExpressions"));
    const struct field_path fields = field_child(at, STR("matchFields"));
    size_t i = 0, k = 0;
    value_each_item (req, value_get(term, STR("matchExpressions"))) {
        const struct field_path path = field_index(&labels, i++);
        check_label(e, &path, req);
    }
    value_each_item (req, value_get(term, STR("matchFields"))) {
        const struct field_path path = field_index(&fields, k++);
        check_field(e, &path, req);
    }
}

void profile_terms_check(struct field_errors *e, const struct field_path *path,
                         const struct value *list, bool weighted)
{
    const struct field_path terms = field_child(path, STR("nodeSelectorTerms"));
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path at = field_index(weighted ? path : &terms, i++);
        int64_t weight = 0;
        if (weighted && value_to_int(value_get(it, STR("weight")), &weight) && weight == 0)
            continue;
        check_term(e, &at, weighted ? value_get(it, STR("preference")) : it);
    }
}
