#include "admission/tolerations.h"

#include "base/limits.h"
#include "base/banned.h"

struct value toleration_of(struct arena *a, struct str key, struct str effect)
{
    struct value ret = value_object();
    value_put_new(a, &ret, STR("key"), value_string(key));
    value_put_new(a, &ret, STR("operator"), value_string(STR("Exists")));
    value_put_new(a, &ret, STR("effect"), value_string(effect));
    return ret;
}

bool toleration_covers(const struct value *wide, const struct value *t)
{
    int64_t wide_seconds, seconds;
    struct str op = value_text(wide, "operator"), effect = value_text(wide, "effect"),
               key = value_text(wide, "key");
    bool exists = str_eq(op, STR("Exists"));
    if (value_eq(wide, t))
        return true;
    if (!str_eq(value_text(t, "key"), key) && (key.n || !exists))
        return false;
    if (!str_eq(value_text(t, "effect"), effect) && effect.n)
        return false;
    if (str_eq(effect, STR("NoExecute")) &&
        value_to_int(value_get(wide, STR("tolerationSeconds")), &wide_seconds) &&
        (!value_to_int(value_get(t, STR("tolerationSeconds")), &seconds) || seconds > wide_seconds))
        return false;
    if (exists)
        return true;
    return (!op.n || str_eq(op, STR("Equal"))) && str_eq(value_text(t, "operator"), STR("Equal")) &&
           str_eq(value_text(t, "value"), value_text(wide, "value"));
}

bool toleration_is_covered(const struct value *list, const struct value *t)
{
    value_each_item (it, list)
        if (toleration_covers(it, t))
            return true;
    return false;
}

static bool is_needed(const struct value *all, size_t i, const struct value *kept)
{
    const struct value *t = &all->items[i];
    if (toleration_is_covered(kept, t))
        return false;
    for (size_t j = i + 1; j < all->n; j++)
        if (!value_eq(t, &all->items[j]) && toleration_covers(&all->items[j], t))
            return false;
    return true;
}

void tolerations_merge(struct arena *a, struct value *pod, const struct value *more)
{
    struct value *spec = value_ensure(a, pod, STR("spec"));
    struct value all = value_array(), kept = value_array();
    value_each_item (it, value_get(spec, STR("tolerations")))
        value_put_item(a, &all, value_borrow(it));
    value_each_item (it, more)
        value_put_item(a, &all, value_borrow(it));
    bool is_long = all.n > LIMIT_TOLERATIONS_MERGED; /* what is needless there may stay */
    for (size_t i = 0; i < all.n && !is_long; i++)
        if (is_needed(&all, i, &kept))
            value_put_item(a, &kept, value_borrow(&all.items[i]));
    if (all.n)
        value_put(a, spec, STR("tolerations"), is_long ? all : kept);
}
