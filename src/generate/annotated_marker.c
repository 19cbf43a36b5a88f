#include "generate/annotated_marker.h"

#include "api/words.h"
#include "base/json.h"
#include "base/yaml.h"
#include "base/banned.h"

/* ---- Arguments ---- */

static bool is_quoted(struct str text)
{
    return text.n >= 2 && (text.p[0] == '"' || text.p[0] == '`') && text.p[text.n - 1] == text.p[0];
}

struct str annotated_unquoted(struct arena *a, struct str text)
{
    struct value v;
    if (!is_quoted(text))
        return text;
    if (text.p[0] == '"' && json_read(a, text, NULL, &v, NULL) == 0 && v.type == VALUE_STRING)
        return value_str(&v);
    return (struct str){ text.p + 1, text.n - 2 };
}

/* Up to the next comma that stands neither in quotes nor in braces. */
static size_t argument_length(struct str s)
{
    char quote = 0;
    int depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (quote) {
            if (c == '\\' && quote == '"')
                i++;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '`') {
            quote = c;
        } else if (c == ',' && depth <= 0) {
            return i;
        } else {
            depth += (c == '{') - (c == '}');
        }
    }
    return s.n;
}

bool annotated_next(struct arena *a, struct str *rest, struct str *ret_key, struct str *ret_value)
{
    if (!rest->n)
        return false;
    size_t n = argument_length(*rest);
    struct str value = str_take(*rest, n);
    *rest = str_skip(*rest, n + 1);
    *ret_key = str_trim(str_cut(&value, '='));
    *ret_value = value.p ? annotated_unquoted(a, str_trim(value)) : STR("");
    return true;
}

struct value annotated_list(struct arena *a, struct str text)
{
    struct value list = value_array();
    bool is_braced = text.n >= 2 && text.p[0] == '{' && text.p[text.n - 1] == '}';
    char separator = is_braced ? ',' : ';';
    if (is_braced)
        text = (struct str){ text.p + 1, text.n - 2 };
    while (text.n) {
        struct str item = str_trim(str_cut(&text, separator));
        value_put_item(a, &list, value_string(annotated_unquoted(a, item)));
    }
    return list;
}

struct str annotated_behind(const struct annotated_marker *m, struct str prefix)
{
    return str_starts(m->text, prefix) ? str_skip(m->text, prefix.n) : (struct str){ NULL, 0 };
}

/* ---- Schemas ---- */

enum rule_type { RULE_NUMBER, RULE_BOOL, RULE_TEXT, RULE_ANY, RULE_ENUM, RULE_NOTHING };

struct rule {
    struct str word; /* the marker, without kubebuilder:validation: */
    struct str key;  /* in the schema */
    enum rule_type type;
};

static const struct rule validations[] = {
    { STR("Minimum"), STR("minimum"), RULE_NUMBER },
    { STR("Maximum"), STR("maximum"), RULE_NUMBER },
    { STR("ExclusiveMinimum"), STR("exclusiveMinimum"), RULE_BOOL },
    { STR("ExclusiveMaximum"), STR("exclusiveMaximum"), RULE_BOOL },
    { STR("MultipleOf"), STR("multipleOf"), RULE_NUMBER },
    { STR("MinLength"), STR("minLength"), RULE_NUMBER },
    { STR("MaxLength"), STR("maxLength"), RULE_NUMBER },
    { STR("Pattern"), STR("pattern"), RULE_TEXT },
    { STR("MinItems"), STR("minItems"), RULE_NUMBER },
    { STR("MaxItems"), STR("maxItems"), RULE_NUMBER },
    { STR("UniqueItems"), STR("uniqueItems"), RULE_BOOL },
    { STR("MinProperties"), STR("minProperties"), RULE_NUMBER },
    { STR("MaxProperties"), STR("maxProperties"), RULE_NUMBER },
    { STR("Enum"), STR("enum"), RULE_ENUM },
    { STR("Format"), STR("format"), RULE_TEXT },
    { STR("Type"), STR("type"), RULE_TEXT },
    { STR("EmbeddedResource"), STR("x-kubernetes-embedded-resource"), RULE_BOOL },
    { STR("XEmbeddedResource"), STR("x-kubernetes-embedded-resource"), RULE_BOOL },
    { STR("XIntOrString"), STR("x-kubernetes-int-or-string"), RULE_BOOL },
    { STR("XPreserveUnknownFields"), STR("x-kubernetes-preserve-unknown-fields"), RULE_BOOL },
    { STR("Optional"), STR(""), RULE_NOTHING }, /* of the struct around it */
    { STR("Required"), STR(""), RULE_NOTHING },
};

/* Those with a name of their own. */
static const struct rule others[] = {
    { STR("kubebuilder:default"), STR("default"), RULE_ANY },
    { STR("default"), STR("default"), RULE_ANY },
    { STR("kubebuilder:example"), STR("example"), RULE_ANY },
    { STR("kubebuilder:title"), STR("title"), RULE_TEXT },
    { STR("kubebuilder:pruning:PreserveUnknownFields"), STR("x-kubernetes-preserve-unknown-fields"),
      RULE_BOOL },
    { STR("nullable"), STR("nullable"), RULE_BOOL },
    { STR("listType"), STR("x-kubernetes-list-type"), RULE_TEXT },
    { STR("mapType"), STR("x-kubernetes-map-type"), RULE_TEXT },
    { STR("structType"), STR("x-kubernetes-map-type"), RULE_TEXT },
};

/* JSON or nearly: YAML, and {a, b} for a list. */
static int read_any(struct arena *a, struct str text, bool is_list, struct value *ret)
{
    if (is_quoted(text)) {
        *ret = value_string(annotated_unquoted(a, text));
        return 0;
    }
    if (is_list && str_starts(text, STR("{")) && str_ends(text, STR("}")))
        text = arena_printf(a, "[" STR_FMT "]", (int)text.n - 2, text.p + 1);
    return yaml_read(a, text, NULL, ret, NULL);
}

static int read_number(struct arena *a, struct str text, struct value *ret)
{
    int r = json_read(a, text, NULL, ret, NULL);
    if (r < 0)
        return r;
    return ret->type == VALUE_INT || ret->type == VALUE_NUMBER ? 0 : -ERR_INVALID;
}

static int read_enum(struct arena *a, struct str text, const struct value *schema,
                     struct value *ret)
{
    struct str type = value_text(schema, "type");
    bool is_number = str_eq(type, STR("integer")) || str_eq(type, STR("number"));
    *ret = annotated_list(a, text);
    for (size_t i = 0; is_number && i < ret->n; i++)
        if (read_number(a, value_str(&ret->items[i]), &ret->items[i]) < 0)
            return -ERR_INVALID;
    return ret->n ? 0 : -ERR_INVALID;
}

static int read_rule(struct arena *a, const struct rule *rule, struct str text,
                     const struct value *schema, struct value *ret)
{
    switch (rule->type) {
    case RULE_NUMBER:
        return read_number(a, text, ret);
    case RULE_BOOL:
        *ret = value_bool(!str_eq(text, STR("false")));
        return !text.n || str_eq(text, STR("true")) || str_eq(text, STR("false")) ? 0
                                                                                  : -ERR_INVALID;
    case RULE_TEXT:
        *ret = value_string(annotated_unquoted(a, text));
        return text.n ? 0 : -ERR_INVALID;
    case RULE_ANY:
        return read_any(a, text, str_eq(value_text(schema, "type"), STR("array")), ret);
    case RULE_ENUM:
        return read_enum(a, text, schema, ret);
    case RULE_NOTHING:
        break;
    }
    return 0;
}

static int apply_rule(struct annotated *in, const struct annotated_marker *m,
                      const struct rule *rule, struct value *schema, struct err *err)
{
    struct str text = m->text;
    (void)str_cut(&text, '=');
    struct value v = value_null();
    if (read_rule(in->arena, rule, str_trim(text), schema, &v) < 0)
        return annotated_error(in, m->line, err, "+" STR_FMT ": the value makes no sense here",
                               STR_ARG(m->text));
    if (rule->type != RULE_NOTHING)
        value_put(in->arena, schema, rule->key, v);
    return 0;
}

/* XValidation:rule="self.x > 0",message="..." */
static int apply_expression(struct annotated *in, const struct annotated_marker *m, struct str args,
                            struct value *schema, struct err *err)
{
    static const struct str keys[] = { STR("rule"), STR("message"), STR("messageExpression"),
                                       STR("reason"), STR("fieldPath") };
    struct arena *a = in->arena;
    struct value entry = value_object();
    struct str key, value;
    while (annotated_next(a, &args, &key, &value)) {
        if (str_eq(key, STR("optionalOldSelf")))
            value_put(a, &entry, key, value_bool(!str_eq(value, STR("false"))));
        else if (words_have(key, WORDS(keys)))
            value_put(a, &entry, key, value_string(value));
        else
            return annotated_error(in, m->line, err, "+" STR_FMT ": there is no `" STR_FMT "`",
                                   STR_ARG(m->text), STR_ARG(key));
    }
    struct value *list = value_edit(a, schema, STR("x-kubernetes-validations"));
    if (!list)
        list = value_set(a, schema, STR("x-kubernetes-validations"), value_array());
    value_put_item(a, list, entry);
    return 0;
}

static int apply_validation(struct annotated *in, const struct annotated_marker *m, struct str rest,
                            struct value *schema, struct err *err)
{
    struct str expression = rest;
    if (str_starts(expression, STR("XValidation:")))
        return apply_expression(in, m, str_skip(expression, 12), schema, err);
    struct str items = rest;
    if (str_starts(items, STR("items:"))) {
        struct value *inner = value_edit(in->arena, schema, STR("items"));
        if (!inner)
            return annotated_error(in, m->line, err, "+" STR_FMT ": this is no list",
                                   STR_ARG(m->text));
        return apply_validation(in, m, str_skip(items, 6), inner, err);
    }
    struct str name = str_trim(str_cut(&rest, '='));
    const struct rule *rule = words_row(name, validations);
    if (!rule)
        return annotated_error(in, m->line, err, "there is no marker +" STR_FMT, STR_ARG(m->text));
    return apply_rule(in, m, rule, schema, err);
}

static int apply_marker(struct annotated *in, const struct annotated_marker *m,
                        struct value *schema, struct err *err)
{
    struct arena *a = in->arena;
    struct str validation = annotated_behind(m, STR("kubebuilder:validation:"));
    if (validation.p)
        return apply_validation(in, m, validation, schema, err);
    struct str value = m->text;
    struct str name = str_trim(str_cut(&value, '='));
    if (str_eq(name, STR("listMapKey"))) {
        struct value *keys = value_edit(a, schema, STR("x-kubernetes-list-map-keys"));
        if (!keys)
            keys = value_set(a, schema, STR("x-kubernetes-list-map-keys"), value_array());
        value_put_item(a, keys, value_string(annotated_unquoted(a, str_trim(value))));
        return 0;
    }
    const struct rule *rule = words_row(name, others);
    if (rule)
        return apply_rule(in, m, rule, schema, err);
    if (str_starts(name, STR("kubebuilder:")))
        return annotated_error(in, m->line, err, "there is no marker +" STR_FMT " for a member",
                               STR_ARG(m->text));
    return 0;
}

int annotated_validation(struct annotated *in, const struct annotated_marker *markers,
                         struct value *schema, struct err *err)
{
    for (const struct annotated_marker *m = markers; m; m = m->next) {
        int r = apply_marker(in, m, schema, err);
        if (r < 0)
            return r;
    }
    return 0;
}
