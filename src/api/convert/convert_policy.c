/* PodDisruptionBudgets of policy/v1beta1, and RuntimeClasses of node.k8s.io/v1alpha1. */
#include "api/convert/convert_internal.h"
#include "base/banned.h"

/* ---- Selectors of a PodDisruptionBudget ---- */

/* An empty selector selects nothing in the old version and everything in the hub. What the other
 * version has no word for is said by an expression on this key, which no pod has. */
#define EMPTY_KEY STR("pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match")

static bool is_none(const struct value *list_or_map)
{
    return !convert__given(list_or_map) || !list_or_map->n;
}

static bool is_on_key(const struct value *expression)
{
    return str_eq(value_text(expression, "key"), EMPTY_KEY);
}

static bool is_empty(const struct value *selector)
{
    return is_none(value_get(selector, STR("matchLabels"))) &&
           is_none(value_get(selector, STR("matchExpressions")));
}

/* Whether it is one expression on that key, with this operator, and nothing else. */
static bool is_only(const struct value *selector, struct str operator)
{
    const struct value *list = value_get(selector, STR("matchExpressions")),
                       *first = value_at(list, 0);
    return is_none(value_get(selector, STR("matchLabels"))) && value_is(list, VALUE_ARRAY) &&
           list->n == 1 && is_on_key(first) && str_eq(value_text(first, "operator"), operator) &&
           is_none(value_get(first, STR("values")));
}

static struct value only(struct arena *a, struct str operator)
{
    struct value expression = value_object(), list = value_array(), selector = value_object();
    value_put_new(a, &expression, STR("key"), value_string(EMPTY_KEY));
    value_put_new(a, &expression, STR("operator"), value_string(operator));
    value_put_item(a, &list, expression);
    value_put_new(a, &selector, STR("matchExpressions"), list);
    return selector;
}

/* The key never stands among what people asked for. */
static struct value without_key(struct arena *a, const struct value *selector)
{
    struct value list = value_array(), out = value_borrow(selector);
    value_each_item (expression, value_get(selector, STR("matchExpressions")))
        if (!is_on_key(expression))
            value_put_item(a, &list, value_borrow(expression));
    value_put(a, &out, STR("matchExpressions"), list);
    return out;
}

int convert__disruption_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    const struct value *selector = value_get(spec, STR("selector"));
    if (!value_is(selector, VALUE_OBJECT))
        return 0;
    struct value changed = is_empty(selector)                       ? only(a, STR("Exists"))
                           : is_only(selector, STR("DoesNotExist")) ? value_object()
                                                                    : without_key(a, selector);
    value_put(a, spec, STR("selector"), changed);
    return 0;
}

int convert__disruption_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    const struct value *selector = value_get(spec, STR("selector"));
    if (!value_is(selector, VALUE_OBJECT))
        return 0;
    if (is_only(selector, STR("Exists")))
        value_put(a, spec, STR("selector"), value_object());
    else if (is_empty(selector))
        value_put(a, spec, STR("selector"), only(a, STR("DoesNotExist")));
    return 0;
}

/* ---- RuntimeClasses had a spec ---- */

int convert__runtime_class_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    const struct value *spec = value_get(obj, STR("spec"));
    convert__copy(a, obj, STR("handler"), spec, STR("runtimeHandler"));
    convert__copy(a, obj, STR("overhead"), spec, STR("overhead"));
    convert__copy(a, obj, STR("scheduling"), spec, STR("scheduling"));
    return 0;
}

int convert__runtime_class_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value spec = value_object();
    convert__copy(a, &spec, STR("runtimeHandler"), obj, STR("handler"));
    convert__copy(a, &spec, STR("overhead"), obj, STR("overhead"));
    convert__copy(a, &spec, STR("scheduling"), obj, STR("scheduling"));
    value_put(a, obj, STR("spec"), spec);
    return 0;
}
