#include "api/validate/initializers.h"

#include "api/validate/validate_webhook.h"
#include "base/banned.h"

static const struct field_path metadata = { .name = STR("metadata") };

const struct value *initializers_of(const struct value *obj)
{
    const struct value *it = value_dig(obj, "metadata", "initializers");
    return value_is(it, VALUE_OBJECT) ? it : NULL;
}

static bool are_pending(const struct value *initializers)
{
    const struct value *pending = value_get(initializers, STR("pending"));
    return value_is(pending, VALUE_ARRAY) && pending->n;
}

static const struct value *result_of(const struct value *initializers)
{
    const struct value *result = value_get(initializers, STR("result"));
    return value_is(result, VALUE_OBJECT) ? result : NULL;
}

bool initializers_are_done(const struct value *initializers)
{
    return !are_pending(initializers) && !result_of(initializers);
}

bool initializers_are_pending(const struct value *obj)
{
    return are_pending(initializers_of(obj));
}

const struct value *initializers_result(const struct value *obj)
{
    return result_of(initializers_of(obj));
}

static void check_result(struct field_errors *e, const struct field_path *at,
                         const struct value *result)
{
    struct str status = value_text(result, "status");
    struct field_path path = field_child(at, STR("result")),
                      status_path = field_child(&path, STR("status"));
    if (result && !str_eq(status, STR("Failure")))
        field_error(e, FIELD_INVALID, &status_path, field_quoted(e, status), "must be 'Failure'");
}

void initializers_validate(struct field_errors *e, const struct value *obj)
{
    const struct value *it = initializers_of(obj);
    struct field_path at = field_child(&metadata, STR("initializers")),
                      pending = field_child(&at, STR("pending"));
    size_t i = 0;
    value_each_item (one, value_get(it, STR("pending"))) {
        struct field_path item = field_index(&pending, i++), name = field_child(&item, STR("name"));
        validate_hook_name(e, &name, value_text(one, "name"));
    }
    check_result(e, &at, result_of(it));
}

void initializers_validate_update(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    const struct value *now = initializers_of(obj), *was = initializers_of(old_obj),
                       *result = result_of(now), *old_result = result_of(was);
    struct field_path at = field_child(&metadata, STR("initializers")),
                      path = field_child(&at, STR("result"));
    if (now && !was)
        field_error(e, FIELD_INVALID, &at, STR("null"),
                    "field is immutable once initialization has completed");
    if (!now || !was)
        return;
    if (!old_result)
        check_result(e, &at, result);
    else if (!result || !value_eq(result, old_result))
        field_error(e, FIELD_INVALID, &path, result ? field_json(e, result) : STR("null"),
                    "field is immutable");
}
