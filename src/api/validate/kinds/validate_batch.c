/* Job and CronJob. */
#include "api/validate/kinds/validate_batch.h"

#include "api/go/cron.h"
#include "api/inner.h"
#include "api/go/time_zone.h"
#include "api/keys.h"
#include "base/idiom.h"
#include "base/banned.h"

#define SPEC     path_root("spec")
#define TEMPLATE path_at(SPEC, "template")

#define JOB_NAME       STR(KEY_JOB_NAME)
#define CONTROLLER_UID STR(KEY_CONTROLLER_UID)

/* ---- Generated selectors ---- */

static void check_has_label(struct field_errors *e, const struct value *labels, struct str key,
                            struct str wanted)
{
    const struct value *label = validate_map_member(labels, key);
    const struct field_path *path = path_key(path_at(path_at(TEMPLATE, "metadata"), "labels"), key);
    if (!label)
        field_error(e, FIELD_REQUIRED, path, STR(""), "must be '" STR_FMT "'", STR_ARG(wanted));
    else if (!str_eq(value_str(label), wanted))
        fault_value(e, path, labels, "must be '" STR_FMT "'", STR_ARG(wanted));
}

/* Whether a selector would pick pods with the four labels that the server makes. */
static bool is_generated(const struct value *selector, struct str uid, struct str name)
{
    struct value_field fields[] = {
        { CONTROLLER_UID, value_string(uid) },
        { JOB_NAME, value_string(name) },
        { STR(KEY_OLD_CONTROLLER_UID), value_string(uid) },
        { STR(KEY_OLD_JOB_NAME), value_string(name) },
    };
    struct value labels = value_object();
    labels.n = ARRAY_LEN(fields);
    labels.fields = fields;
    return validate_selector_matches(selector, &labels);
}

static void check_generated(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = validate_member(obj, "spec"),
                       *selector = validate_member(spec, "selector"),
                       *meta = value_get(obj, STR("metadata")),
                       *labels = value_dig(spec, "template", "metadata", "labels");
    struct str uid = value_text(meta, "uid"), name = value_text(meta, "name");
    if (value_is_true(value_get(spec, STR("manualSelector"))) || !selector)
        return;
    if (!uid.n)
        fault_required(e, path_at(path_root("metadata"), "uid"), "");
    check_has_label(e, labels, STR(KEY_OLD_CONTROLLER_UID), uid);
    check_has_label(e, labels, STR(KEY_OLD_JOB_NAME), name);
    check_has_label(e, labels, CONTROLLER_UID, uid);
    check_has_label(e, labels, JOB_NAME, name);
    if (validate_is_label_selector(selector, 0) && !is_generated(selector, uid, name))
        fault_value(e, path_at(SPEC, "selector"), selector, "`selector` not auto-generated");
}

/* ---- Job ---- */

static void check_job(struct field_errors *e, const struct value *spec,
                      const struct value *old_spec)
{
    const struct value *selector = validate_member(spec, "selector"),
                       *labels = validate_member(
                           validate_member(validate_member(spec, "template"), "metadata"),
                           "labels");
    unsigned flags = validate_selector_has_bad_value(validate_member(old_spec, "selector"))
                         ? SELECTOR_ANY_VALUES
                         : 0;
    validate_job_spec(e, SPEC, spec, old_spec);
    if (!selector)
        fault_required(e, path_at(SPEC, "selector"), "");
    (void)validate_label_selector(e, path_at(SPEC, "selector"), selector, flags);
    if (validate_is_label_selector(selector, 0) && !validate_selector_matches(selector, labels))
        fault_value(e, path_at(path_at(TEMPLATE, "metadata"), "labels"), labels,
                    "`selector` does not match template `labels`");
}

/* The pods of an Indexed Job are named after it and their index. */
static void check_pod_names(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = validate_member(obj, "spec");
    struct str name = value_text(value_get(obj, STR("metadata")), "name");
    int64_t completions = validate_int(spec, "completions");
    if (!str_eq(value_text(spec, "completionMode"), STR("Indexed")) || completions <= 0)
        return;
    struct str last = arena_printf(e->arena, STR_FMT "-%ld", STR_ARG(name), (long)completions - 1);
    struct name_faults f = { 0 };
    if (!name_check(NAME_LABEL, last, &f))
        fault_text(e, path_at(path_root("metadata"), "name"), name,
                   "will not able to create pod with invalid DNS label: " STR_FMT, STR_ARG(last));
}

static void create_job(struct field_errors *e, const struct value *obj)
{
    check_generated(e, obj);
    check_job(e, validate_member(obj, "spec"), NULL);
    check_pod_names(e, obj);
}

static void check_completions(struct field_errors *e, const struct value *spec,
                              const struct value *old_spec)
{
    const struct value *now = validate_member(spec, "completions"),
                       *was = validate_member(old_spec, "completions");
    const struct field_path *path = path_at(SPEC, "completions");
    if (!str_eq(value_text(spec, "completionMode"), STR("Indexed")))
        (void)validate_immutable(e, path, now, was);
    else if (now && !validate_is_same(now, was) &&
             validate__int(now) != validate_int(spec, "parallelism"))
        fault_value(e, path, now, "can only be modified in tandem with spec.parallelism");
}

/* Suspended, and with nothing of it running. */
static bool may_change_template(const struct value *old_obj)
{
    return value_is_true(value_dig(old_obj, "spec", "suspend")) &&
           (!validate_member(validate_member(old_obj, "status"), "startTime") ||
            validate_job_has_condition(old_obj, STR("Suspended"), STR("True"))) &&
           validate_int(validate_member(old_obj, "status"), "active") == 0;
}

static void take(struct arena *a, struct value *to, const struct value *from, struct str field)
{
    const struct value *v = value_get(from, field);
    if (v)
        value_put(a, to, field, value_borrow(v));
    else
        value_drop(a, to, field);
}

static void take_affinity(struct arena *a, struct value *pod, const struct value *new_pod)
{
    const struct value *affinity = validate_member(new_pod, "affinity");
    struct value *old_affinity = value_ensure(a, pod, STR("affinity"));
    if (!old_affinity)
        return;
    take(a, old_affinity, affinity, STR("nodeAffinity"));
    if (!affinity && !old_affinity->n)
        value_drop(a, pod, STR("affinity"));
}

static void take_resources(struct arena *a, struct value *pod, const struct value *new_pod,
                           struct str list)
{
    const struct value *now = value_get(new_pod, list);
    struct value *was = value_edit(a, pod, list);
    if (!value_is(was, VALUE_ARRAY) || validate__count(now) != was->n)
        return;
    for (size_t i = 0; i < was->n; i++) {
        struct value *container = value_edit_at(a, was, i);
        const struct value *same = value_at(now, i);
        if (value_is(container, VALUE_OBJECT) &&
            str_eq(value_text(container, "name"), value_text(same, "name")))
            take(a, container, same, STR("resources"));
    }
}

/* The old template with what may change taken from the new one. */
static struct value changeable(struct arena *a, const struct value *template,
                               const struct value *old_template)
{
    static const struct str of_meta[] = { STR("annotations"), STR("labels") };
    static const struct str of_pod[] = { STR("nodeSelector"), STR("tolerations"),
                                         STR("schedulingGates") };
    struct value copy = old_template ? value_borrow(old_template) : value_object();
    struct value *meta = value_ensure(a, &copy, STR("metadata"));
    for (size_t i = 0; meta && i < 2; i++)
        take(a, meta, validate_member(template, "metadata"), of_meta[i]);
    struct value *pod = value_ensure(a, &copy, STR("spec"));
    const struct value *new_pod = validate_member(template, "spec");
    for (size_t i = 0; pod && i < 3; i++)
        take(a, pod, new_pod, of_pod[i]);
    if (!pod)
        return copy;
    take_affinity(a, pod, new_pod);
    take_resources(a, pod, new_pod, STR("containers"));
    take_resources(a, pod, new_pod, STR("initContainers"));
    return copy;
}

static void check_template_kept(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    const struct value *template = validate_member(validate_member(obj, "spec"), "template"),
                       *old_template =
                           validate_member(validate_member(old_obj, "spec"), "template");
    if (validate_is_same(template, old_template))
        return;
    if (!may_change_template(old_obj)) {
        field_error(e, FIELD_INVALID, TEMPLATE,
                    inner_json(e, STR("v1"), STR("PodTemplateSpec"), template),
                    "field is immutable");
        return;
    }
    struct value wanted = changeable(e->arena, template, old_template);
    if (!validate_is_same(validate_member(template, "spec"), validate_member(&wanted, "spec")))
        field_error(e, FIELD_INVALID, path_at(SPEC, "template.spec"),
                    inner_json(e, STR("v1"), STR("PodSpec"), validate_member(template, "spec")),
                    "field is immutable");
}

static void check_kept(struct field_errors *e, const struct value *spec,
                       const struct value *old_spec, struct str field, const char *type)
{
    const struct value *now = validate__member(spec, field);
    struct field_path at = field_child(SPEC, field);
    if (!validate_is_same(now, validate__member(old_spec, field)))
        field_error(e, FIELD_INVALID, &at,
                    type ? inner_json(e, STR("batch/v1"), str_of(type), now) : field_json(e, now),
                    "field is immutable");
}

static void update_job(struct field_errors *e, const struct value *obj, const struct value *old_obj)
{
    const struct value *spec = validate_member(obj, "spec"),
                       *old_spec = validate_member(old_obj, "spec");
    check_job(e, spec, old_spec);
    check_completions(e, spec, old_spec);
    check_kept(e, spec, old_spec, STR("selector"), NULL);
    check_template_kept(e, obj, old_obj);
    check_kept(e, spec, old_spec, STR("completionMode"), NULL);
    check_kept(e, spec, old_spec, STR("podFailurePolicy"), "PodFailurePolicy");
    check_kept(e, spec, old_spec, STR("backoffLimitPerIndex"), NULL);
    check_kept(e, spec, old_spec, STR("managedBy"), NULL);
    check_kept(e, spec, old_spec, STR("successPolicy"), "SuccessPolicy");
    check_pod_names(e, obj);
}

/* Declared upstream, and so behind all that is checked by hand. */
static void check_declared(struct field_errors *e, const struct field_path *path,
                           const struct value *spec)
{
    if (validate_member(spec, "maxFailedIndexes") && !validate_member(spec, "backoffLimitPerIndex"))
        fault_required(e, path_at(path, "backoffLimitPerIndex"),
                       "when maxFailedIndexes is specified");
}

static void create_job_rules(struct field_errors *e, const struct value *obj)
{
    create_job(e, obj);
    check_declared(e, SPEC, validate_member(obj, "spec"));
}

static void update_job_rules(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj)
{
    update_job(e, obj, old_obj);
    check_declared(e, SPEC, validate_member(obj, "spec"));
}

/* ---- CronJob ---- */

static bool contains_zone(struct str schedule)
{
    return schedule.n && memmem(schedule.p, schedule.n, "TZ", 2);
}

static void check_schedule(struct field_errors *e, const struct value *spec,
                           const struct value *old_spec)
{
    struct str schedule = value_text(spec, "schedule");
    const struct field_path *path = path_at(SPEC, "schedule");
    struct cron cron;
    struct err err = ERR_INIT(e->arena);
    bool was_zoned = contains_zone(value_text(old_spec, "schedule"));
    if (!schedule.n)
        return;
    if (cron_parse(schedule, &cron, &err) < 0)
        fault_text(e, path, schedule, STR_FMT, STR_ARG(err.msg));
    if (!contains_zone(schedule))
        return;
    if (!was_zoned)
        fault_text(e, path, schedule,
                   "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    else if (validate_member(spec, "timeZone"))
        fault_text(e, path, schedule,
                   "cannot use both timeZone field and TZ or CRON_TZ in schedule");
}

/* Letters, digits and a few signs, up to 14 of them. */
static bool is_zone_part(struct str part)
{
    enum { PART_MAX = 14 };
    if (!part.n || part.n > PART_MAX || part.p[0] == '-' || str_eq(part, STR(".")) ||
        str_eq(part, STR("..")))
        return false;
    for (size_t i = 0; i < part.n; i++) {
        char c = part.p[i];
        bool alnum = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (!alnum && str_find(STR(".-_+"), c) < 0)
            return false;
    }
    return true;
}

static void check_time_zone(struct field_errors *e, const struct value *zone)
{
    struct str name = value_str(zone), rest = name;
    const struct field_path *path = path_at(SPEC, "timeZone");
    if (!zone)
        return;
    if (!name.n) {
        fault_text(e, path, name, "timeZone must be nil or non-empty string");
        return;
    }
    do {
        if (!is_zone_part(str_cut(&rest, '/'))) {
            fault_text(e, path, name, "unknown time zone " STR_FMT, STR_ARG(name));
            return;
        }
    } while (rest.p);
    if (str_eq_nocase(name, STR("Local")))
        fault_text(e, path, name,
                   "timeZone must be an explicit time zone as defined in "
                   "https://www.iana.org/time-zones");
    if (!str_eq(name, STR("Local")) && !time_zone_is_known(name))
        fault_text(e, path, name, "unknown time zone " STR_FMT, STR_ARG(name));
}

static void check_job_template(struct field_errors *e, const struct value *template,
                               const struct value *old_template)
{
    const struct value *spec = validate_member(template, "spec"),
                       *selector = validate_member(spec, "selector"),
                       *manual = validate_member(spec, "manualSelector");
    const struct field_path *path = path_at(path_at(SPEC, "jobTemplate"), "spec");
    static const struct str manual_values[] = { STR("nil"), STR("false") };
    validate_job_spec(e, path, spec, validate_member(old_template, "spec"));
    if (selector)
        fault_value(e, path_at(path, "selector"), selector, "`selector` will be auto-generated");
    if (value_is_true(manual))
        field_not_supported(e, path_at(path, "manualSelector"), field_json(e, manual),
                            WORDS(manual_values));
}

static void check_optional_limit(struct field_errors *e, const struct value *spec, struct str field)
{
    const struct value *limit = validate__member(spec, field);
    struct field_path at = field_child(SPEC, field);
    if (limit)
        (void)validate_nonnegative(e, &at, validate__int(limit));
}

static void check_cron_job(struct field_errors *e, const struct value *spec,
                           const struct value *old_spec)
{
    static const struct str policies[] = { STR("Allow"), STR("Forbid"), STR("Replace") };
    struct str policy = value_text(spec, "concurrencyPolicy");
    check_schedule(e, spec, old_spec);
    check_optional_limit(e, spec, STR("startingDeadlineSeconds"));
    if (!old_spec ||
        !validate_is_same(validate_member(spec, "timeZone"), validate_member(old_spec, "timeZone")))
        check_time_zone(e, validate_member(spec, "timeZone"));
    if (validate_required(e, path_at(SPEC, "concurrencyPolicy"), policy))
        (void)validate_one_of(e, path_at(SPEC, "concurrencyPolicy"), policy, WORDS(policies));
    check_job_template(e, validate_member(spec, "jobTemplate"),
                       validate_member(old_spec, "jobTemplate"));
    check_optional_limit(e, spec, STR("successfulJobsHistoryLimit"));
    check_optional_limit(e, spec, STR("failedJobsHistoryLimit"));
}

static void check_cron_declared(struct field_errors *e, const struct value *spec)
{
    (void)validate_required(e, path_at(SPEC, "schedule"), value_text(spec, "schedule"));
    check_declared(e, path_at(path_at(SPEC, "jobTemplate"), "spec"),
                   validate_member(validate_member(spec, "jobTemplate"), "spec"));
}

static void create_cron_job(struct field_errors *e, const struct value *obj)
{
    enum { NAME_MAX_BYTES = 52 }; /* its jobs' names have eleven more */
    struct str name = value_text(value_get(obj, STR("metadata")), "name");
    check_cron_job(e, validate_member(obj, "spec"), NULL);
    if (name.n > NAME_MAX_BYTES)
        fault_text(e, path_at(path_root("metadata"), "name"), name,
                   "must be no more than 52 characters");
    check_cron_declared(e, validate_member(obj, "spec"));
}

static void update_cron_job(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    check_cron_job(e, validate_member(obj, "spec"), validate_member(old_obj, "spec"));
    check_cron_declared(e, validate_member(obj, "spec"));
}

/* ---- Warnings ---- */

static bool is_newer(const struct value *obj, const struct value *old_obj)
{
    return !old_obj || validate_int(value_get(obj, STR("metadata")), "generation") !=
                           validate_int(value_get(old_obj, STR("metadata")), "generation");
}

static void warn_of_own_name(struct validate_warnings *w, const struct value *obj,
                             const struct value *old_obj)
{
    if (!old_obj)
        validate_warn_name(
            w, value_text(value_get(obj, STR("metadata")), "name"),
            "this is used in Pod names and hostnames, which can result in surprising "
            "behavior; a DNS label is recommended");
}

static void warn_job(struct validate_warnings *w, const struct value *obj,
                     const struct value *old_obj)
{
    warn_of_own_name(w, obj, old_obj);
    if (is_newer(obj, old_obj))
        validate_warn_job_spec(w, SPEC, validate_member(obj, "spec"));
}

static void warn_cron_job(struct validate_warnings *w, const struct value *obj,
                          const struct value *old_obj)
{
    const struct value *spec = validate_member(obj, "spec");
    warn_of_own_name(w, obj, old_obj);
    if (is_newer(obj, old_obj))
        validate_warn_job_spec(w, path_at(path_at(SPEC, "jobTemplate"), "spec"),
                               validate_member(validate_member(spec, "jobTemplate"), "spec"));
    if (old_obj && contains_zone(value_text(spec, "schedule")))
        validate_add_warning(
            w, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
               "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more "
               "details");
}

const struct validate_rules validate__batch[] = {
    { STR("batch"), STR("Job"), create_job_rules, update_job_rules, validate_job_status, warn_job },
    { STR("batch"), STR("CronJob"), create_cron_job, update_cron_job, NULL, warn_cron_job },
    { .kind = { NULL, 0 } },
};
