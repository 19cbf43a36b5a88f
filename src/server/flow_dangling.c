#include "server/flow_dangling.h"

#include "base/banned.h"

static const struct str type = STR("Dangling");

static struct value condition(struct call *c, struct str level, bool has_level)
{
    struct value v = value_object();
    struct str message = arena_printf(
        c->arena,
        "This FlowSchema references the PriorityLevelConfiguration object named \"" STR_FMT "\" %s",
        STR_ARG(level), has_level ? "and it exists" : "but there is no such object");
    value_put(c->arena, &v, STR("type"), value_string(type));
    value_put(c->arena, &v, STR("status"), value_string(has_level ? STR("False") : STR("True")));
    value_put(c->arena, &v, STR("lastTransitionTime"), value_string(registry_now(c)));
    value_put(c->arena, &v, STR("reason"),
              value_string(has_level ? STR("Found") : STR("NotFound")));
    value_put(c->arena, &v, STR("message"), value_string(message));
    return v;
}

static bool says_the_same(const struct value *a, const struct value *b)
{
    return str_eq(value_text(a, "status"), value_text(b, "status")) &&
           str_eq(value_text(a, "reason"), value_text(b, "reason")) &&
           str_eq(value_text(a, "message"), value_text(b, "message"));
}

bool flow_dangling_status(struct call *c, const struct value *schema, bool has_level,
                          struct value *ret)
{
    struct str level = value_str(value_dig(schema, "spec", "priorityLevelConfiguration", "name"));
    const struct value wanted = condition(c, level, has_level);
    struct value list = value_array();
    value_each_item (it, value_dig(schema, "status", "conditions")) {
        bool is_it = str_eq(value_text(it, "type"), type);
        if (is_it && says_the_same(it, &wanted))
            return false;
        if (!is_it)
            value_put_item(c->arena, &list, value_borrow(it));
    }
    value_put_item(c->arena, &list, wanted);
    *ret = value_object();
    value_put(c->arena, ret, STR("conditions"), list);
    return true;
}
