/* Events of events.k8s.io: the object of the core group under other names. */
#include "api/convert/convert_internal.h"
#include "base/idiom.h"
#include "base/banned.h"

static const struct {
    struct str core, events;
} names[] = {
    { STR("involvedObject"), STR("regarding") },
    { STR("message"), STR("note") },
    { STR("source"), STR("deprecatedSource") },
    { STR("firstTimestamp"), STR("deprecatedFirstTimestamp") },
    { STR("lastTimestamp"), STR("deprecatedLastTimestamp") },
    { STR("count"), STR("deprecatedCount") },
    { STR("reportingComponent"), STR("reportingController") },
};

static struct str other_name(struct str name, bool to_core)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(name, to_core ? names[i].events : names[i].core))
            return to_core ? names[i].core : names[i].events;
    return name;
}

static void rename_fields(struct arena *a, struct value *obj, bool to_core)
{
    struct value renamed = value_object();
    value_each_field (f, obj)
        value_put_new(a, &renamed, other_name(f->key, to_core), value_borrow(&f->val));
    *obj = renamed;
}

int convert__event_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    rename_fields(a, obj, true);
    return 0;
}

int convert__event_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    rename_fields(a, obj, false);
    return 0;
}
