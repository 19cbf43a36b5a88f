#include "api/convert.h"

#include "api/convert_internal.h"
#include "api/typed.h"
#include "base/banned.h"

struct str convert_api_version(struct arena *a, const struct kind_type *t)
{
    if (!t->group.n)
        return t->version;
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(t->group), STR_ARG(t->version));
}

/* Events of the core group and of events.k8s.io: the same object under other names. */
static const struct {
    struct str core, events;
} event_names[] = {
    { { "involvedObject", 14 }, { "regarding", 9 } },
    { { "message", 7 }, { "note", 4 } },
    { { "source", 6 }, { "deprecatedSource", 16 } },
    { { "firstTimestamp", 14 }, { "deprecatedFirstTimestamp", 24 } },
    { { "lastTimestamp", 13 }, { "deprecatedLastTimestamp", 23 } },
    { { "count", 5 }, { "deprecatedCount", 15 } },
    { { "reportingComponent", 18 }, { "reportingController", 19 } },
};

static struct str event_name(struct str name, bool to_core)
{
    for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++) {
        struct str from = to_core ? event_names[i].events : event_names[i].core;
        if (str_eq(name, from))
            return to_core ? event_names[i].core : event_names[i].events;
    }
    return name;
}

static void rename_event(struct arena *a, const struct kind_type *to, struct value *obj)
{
    struct value renamed = value_object();
    value_each_field (f, obj)
        (void)value_add(a, &renamed, event_name(f->key, !to->group.n), value_borrow(&f->val));
    *obj = renamed;
}

static const struct {
    struct str group, kind; /* of the version that is converted to */
    void (*change)(struct arena *a, const struct kind_type *to, struct value *obj);
} changes[] = {
    { { "", 0 }, { "Event", 5 }, rename_event },
    { { "events.k8s.io", 13 }, { "Event", 5 }, rename_event },
    { { "autoscaling", 11 }, { "HorizontalPodAutoscaler", 23 }, convert__autoscaler },
};

int convert_object(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err)
{
    struct value obj = value_share(in);
    if (from == to) {
        *ret = obj;
        return 0;
    }
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (str_eq(changes[i].group, to->group) && str_eq(changes[i].kind, to->name))
            changes[i].change(a, to, &obj);
    (void)value_set(a, &obj, STR("apiVersion"), value_string(convert_api_version(a, to)));
    return typed_read(a, to, &obj, NULL, ret, err);
}
