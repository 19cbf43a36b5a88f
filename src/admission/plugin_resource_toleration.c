/* ExtendedResourceToleration: nodes with a rare resource can be tainted with its name; pods that
 * ask for it may go there. */
#include <stdlib.h>

#include "admission/plugins.h"
#include "admission/tolerations.h"
#include "api/text_set.h"
#include "api/validate/validate_resource_list.h"
#include "api/words.h"
#include "base/banned.h"

struct names {
    struct str *list; /* NULL: they are only counted */
    size_t n;
    struct text_set seen;
};

static void take_requests(struct names *to, const struct value *containers)
{
    value_each_item (container, containers)
        value_each_field (f, value_dig(container, "resources", "requests")) {
            bool is_new = validate_resource_is_extended(f->key) &&
                          (!to->list || text_set_add(&to->seen, f->key, f));
            if (is_new && to->list)
                to->list[to->n] = f->key;
            to->n += is_new;
        }
}

static void take_names(struct names *to, const struct value *spec)
{
    to->n = 0;
    take_requests(to, value_get(spec, STR("containers")));
    take_requests(to, value_get(spec, STR("initContainers")));
}

/* The same but for how long it holds. */
static bool matches(const struct value *x, const struct value *y)
{
    static const struct str fields[] = { STR("key"), STR("effect"), STR("operator"), STR("value") };
    for (size_t i = 0; i < 4; i++)
        if (!str_eq(value_str(value_get(x, fields[i])), value_str(value_get(y, fields[i]))))
            return false;
    return true;
}

static void tolerate(struct arena *a, struct value *spec, struct str resource)
{
    struct value *list = value_edit(a, spec, STR("tolerations"));
    struct value wanted = toleration_of(a, resource, STR("NoSchedule"));
    bool is_there = false;
    if (!value_is(list, VALUE_ARRAY))
        list = value_set(a, spec, STR("tolerations"), value_array());
    for (size_t i = 0; i < list->n; i++) {
        if (!matches(value_at(list, i), &wanted))
            continue;
        is_there = true;
        *value_edit_at(a, list, i) = value_share(&wanted);
    }
    if (!is_there)
        value_put_item(a, list, wanted);
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    struct names names = { 0 };
    struct value *spec = value_ensure(req->arena, pod, STR("spec"));
    (void)err;
    take_names(&names, spec);
    if (!names.n)
        return 0;
    names.list = arena_array(req->arena, struct str, names.n);
    text_set_init(&names.seen);
    take_names(&names, spec);
    text_set_done(&names.seen);
    qsort(names.list, names.n, sizeof(*names.list), words_compare);
    for (size_t i = 0; i < names.n; i++)
        tolerate(req->arena, spec, names.list[i]);
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_resource_toleration = {
    .name = "ExtendedResourceToleration",
    .is_off = true,
    .targets = targets,
    .mutate = mutate,
};
