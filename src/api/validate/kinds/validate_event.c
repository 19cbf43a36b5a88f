/* Events. The core group has the old, lenient rules; events.k8s.io has more. The same object goes
 * by two sets of names there, and its faults by the core group's: these rules take either form. */
#include "api/inner.h"
#include "api/validate/validate_common.h"
#include "base/idiom.h"
#include "base/banned.h"

enum { SHORT_MAX = 128, NOTE_MAX = 1024 };

/* A field under its name in the core group, or in events.k8s.io. */
static const struct value *either(const struct value *obj, struct str core, struct str events)
{
    const struct value *v = validate__member(obj, core);
    return v ? v : validate__member(obj, events);
}

static const struct value *subject_of(const struct value *obj)
{
    return either(obj, STR("involvedObject"), STR("regarding"));
}

static void check_short(struct field_errors *e, const struct field_path *path, struct str text,
                        size_t max)
{
    if (text.n > max)
        fault_text(e, path, STR(""), "can have at most %zu characters", max);
}

/* What an event with a time of its own must tell. */
static void check_told(struct field_errors *e, const struct value *obj,
                       const struct field_path *controller_path)
{
    struct str controller =
        value_str(either(obj, STR("reportingComponent"), STR("reportingController")));
    struct str instance = value_text(obj, "reportingInstance"), action = value_text(obj, "action");
    struct str reason = value_text(obj, "reason");
    validate_required(e, controller_path, controller);
    validate_name(e, controller_path, NAME_QUALIFIED, controller);
    validate_required(e, path_root("reportingInstance"), instance);
    check_short(e, path_root("reportingInstance"), instance, SHORT_MAX);
    validate_required(e, path_root("action"), action);
    check_short(e, path_root("action"), action, SHORT_MAX);
    validate_required(e, path_root("reason"), reason);
    check_short(e, path_root("reason"), reason, SHORT_MAX);
    check_short(e, path_root("message"), value_str(either(obj, STR("message"), STR("note"))),
                NOTE_MAX);
}

static void check_event(struct field_errors *e, const struct value *obj,
                        const struct field_path *controller_path)
{
    struct str ns = value_str(value_dig(obj, "metadata", "namespace"));
    struct str subject = value_text(subject_of(obj), "namespace");
    bool timed = validate_member(obj, "eventTime") != NULL;
    bool fits = subject.n ? timed || str_eq(ns, subject)
                : !ns.n   ? !timed
                          : str_eq(ns, STR("default")) || (timed && str_eq(ns, STR("kube-system")));
    if (!fits)
        fault_text(e, path_at(path_root("involvedObject"), "namespace"), subject,
                   "does not match event.namespace");
    if (timed)
        check_told(e, obj, controller_path);
}

static void create_core_event(struct field_errors *e, const struct value *obj)
{
    check_event(e, obj, path_root("reportingComponent"));
}

static void update_core_event(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    (void)old_obj;
    create_core_event(e, obj);
}

/* ---- events.k8s.io ---- */

static void check_series(struct field_errors *e, const struct value *series)
{
    if (series && validate_int(series, "count") < 2)
        fault_text(e, path_root("series.count"), STR(""), "should be at least 2");
    if (series && !validate_member(series, "lastObservedTime"))
        fault_required(e, path_root("series.lastObservedTime"), "");
}

static void check_unset(struct field_errors *e, const struct field_path *path, bool set)
{
    if (set)
        fault_text(e, path, STR(""), "needs to be unset");
}

static void create_event(struct field_errors *e, const struct value *obj)
{
    static const struct str types[] = { STR("Normal"), STR("Warning") };
    struct str type = value_text(obj, "type");
    const struct value *source = either(obj, STR("source"), STR("deprecatedSource"));
    check_event(e, obj, path_root("reportingController"));
    check_series(e, validate_member(obj, "series"));
    if (!validate_member(obj, "eventTime"))
        fault_required(e, path_root("eventTime"), "");
    if (!words_have(type, WORDS(types)))
        fault_text(e, path_root("type"), STR(""), "has invalid value: " STR_FMT, STR_ARG(type));
    check_unset(e, path_root("firstTimestamp"),
                either(obj, STR("firstTimestamp"), STR("deprecatedFirstTimestamp")));
    check_unset(e, path_root("lastTimestamp"),
                either(obj, STR("lastTimestamp"), STR("deprecatedLastTimestamp")));
    check_unset(e, path_root("count"),
                validate__int(either(obj, STR("count"), STR("deprecatedCount"))) != 0);
    check_unset(e, path_root("source"),
                value_text(source, "component").n || value_text(source, "host").n);
}

/* Fields that stay, in upstream's order; structs by their type. */
static const struct {
    struct str core, events, type;
} kept[] = {
    { STR("involvedObject"), STR("regarding"), STR("ObjectReference") },
    { STR("reason"), STR("reason"), STR("") },
    { STR("message"), STR("note"), STR("") },
    { STR("source"), STR("deprecatedSource"), STR("EventSource") },
    { STR("firstTimestamp"), STR("deprecatedFirstTimestamp"), STR("") },
    { STR("lastTimestamp"), STR("deprecatedLastTimestamp"), STR("") },
    { STR("count"), STR("deprecatedCount"), STR("") },
    { STR("type"), STR("type"), STR("") },
    { STR("eventTime"), STR("eventTime"), STR("") },
    { STR("action"), STR("action"), STR("") },
    { STR("related"), STR("related"), STR("ObjectReference") },
    { STR("reportingComponent"), STR("reportingController"), STR("") },
    { STR("reportingInstance"), STR("reportingInstance"), STR("") },
};

static void update_event(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    const struct value *series = validate_member(obj, "series");
    check_event(e, obj, path_root("reportingController"));
    if (!validate_is_same(series, validate_member(old_obj, "series")))
        check_series(e, series);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        const struct value *v = either(obj, kept[i].core, kept[i].events);
        bool controller = str_eq(kept[i].events, STR("reportingController"));
        struct field_path path = { .name = controller ? kept[i].events : kept[i].core };
        if (!validate_is_same(v, either(old_obj, kept[i].core, kept[i].events)))
            field_error(e, FIELD_INVALID, &path,
                        kept[i].type.n ? inner_json(e, STR("v1"), kept[i].type, v)
                                       : field_json(e, v),
                        "field is immutable");
    }
}

const struct validate_rules validate__event[] = {
    { STR(""), STR("Event"), .create = create_core_event, .update = update_core_event },
    { STR("events.k8s.io"), STR("Event"), .create = create_event, .update = update_event },
    { STR("events.k8s.io"), STR("Event"), .create = create_core_event, .update = update_core_event,
      .version = STR("v1beta1") },
    { .kind = { NULL, 0 } },
};
