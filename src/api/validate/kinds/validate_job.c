/* The spec of a Job, by itself and in a CronJob. */
#include "api/inner.h"
#include "api/validate/kinds/validate_batch.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

enum {
    PARALLELISM_MAX = 100000,
    FAILED_INDEXES_MAX = 100000,
    COMPLETIONS_SOFT = 100000, /* above it other limits are tighter */
    HIGH_PARALLELISM_MAX = 10000,
    HIGH_FAILED_MAX = 10000,
    POLICY_RULES_MAX = 20,
    EXIT_CODES_MAX = 255,
    CONDITIONS_MAX = 20,
    MANAGED_BY_MAX = 63,
    INDEXES_BYTES_MAX = 64 * 1024,
};

static void check_optional_count(struct field_errors *e, const struct field_path *path,
                                 const struct value *spec, struct str field)
{
    const struct value *n = validate__member(spec, field);
    struct field_path at = field_child(path, field);
    if (n)
        (void)validate_nonnegative(e, &at, validate__int(n));
}

/* ---- Failure policy ---- */

/* As Go prints a list with %q: ["In" "NotIn"]. */
static void require_one_of(struct field_errors *e, const struct field_path *path, struct str text,
                           const struct str *values, size_t n)
{
    if (text.n) {
        (void)validate_one_of(e, path, text, values, n);
        return;
    }
    autobuf list = { 0 };
    for (size_t i = 0; i < n; i++)
        buf_printf(&list, "%s\"" STR_FMT "\"", i ? " " : "", STR_ARG(values[i]));
    field_error(e, FIELD_REQUIRED, path, STR(""), "valid values: [" STR_FMT "]",
                STR_ARG(buf_str(&list)));
}

static bool has_container(const struct value *spec, struct str name)
{
    const struct value *pod = validate_member(validate_member(spec, "template"), "spec");
    for (size_t k = 0; k < 2; k++)
        value_each_item (it, value_get(pod, pod_container_lists[k]))
            if (str_eq(value_text(it, "name"), name))
                return true;
    return false;
}

static void check_exit_values(struct field_errors *e, const struct field_path *path,
                              const struct value *codes, bool is_in)
{
    bool ordered = true, seen[EXIT_CODES_MAX + 1] = { 0 };
    size_t i = 0;
    int64_t before = INT64_MIN;
    if (!validate__count(codes))
        fault_value(e, path, codes, "at least one value is required");
    else if (codes->n > EXIT_CODES_MAX)
        fault_too_many(e, path, codes->n, EXIT_CODES_MAX);
    value_each_item (it, codes) {
        const struct field_path *at = path_item(path, i++);
        int64_t code = validate__int(it);
        if (is_in && code == 0)
            fault_int(e, at, code, "must not be 0 for the In operator");
        bool *was = code >= 0 && code <= EXIT_CODES_MAX ? &seen[code] : NULL;
        if (was ? *was : code == before) /* codes beyond a byte do not occur */
            field_error(e, FIELD_DUPLICATE, at, field_json(e, it), "%s", "");
        if (was)
            *was = true;
        ordered = ordered && before <= code;
        before = code;
    }
    if (!ordered)
        fault_value(e, path, codes, "must be ordered");
}

static void check_exit_codes(struct field_errors *e, const struct field_path *path,
                             const struct value *on_exit, const struct value *spec)
{
    static const struct str operators[] = { STR("In"), STR("NotIn") };
    struct str operator_ = value_text(on_exit, "operator");
    const struct value *container = validate_member(on_exit, "containerName");
    require_one_of(e, path_at(path, "operator"), operator_, WORDS(operators));
    if (container && !has_container(spec, value_str(container)))
        fault_text(e, path_at(path, "containerName"), value_str(container),
                   "must be one of the container or initContainer names in the pod template");
    check_exit_values(e, path_at(path, "values"), value_get(on_exit, STR("values")),
                      str_eq(operator_, operators[0]));
}

static void check_patterns(struct field_errors *e, const struct field_path *path,
                           const struct value *patterns)
{
    static const struct str states[] = { STR("False"), STR("True"), STR("Unknown") };
    if (validate__count(patterns) > CONDITIONS_MAX)
        fault_too_many(e, path, patterns->n, CONDITIONS_MAX);
    size_t i = 0;
    value_each_item (it, patterns) {
        const struct field_path *at = path_item(path, i++);
        (void)validate_name(e, path_at(at, "type"), NAME_QUALIFIED, value_text(it, "type"));
        require_one_of(e, path_at(at, "status"), value_text(it, "status"), WORDS(states));
    }
}

static void check_failure_rule(struct field_errors *e, const struct field_path *path,
                               const struct value *rule, const struct value *spec)
{
    static const struct str actions[] = { STR("Count"), STR("FailIndex"), STR("FailJob"),
                                          STR("Ignore") };
    struct str action = value_text(rule, "action");
    const struct value *on_exit = validate_member(rule, "onExitCodes"),
                       *patterns = value_get(rule, STR("onPodConditions"));
    require_one_of(e, path_at(path, "action"), action, WORDS(actions));
    if (str_eq(action, actions[1]) && !validate_member(spec, "backoffLimitPerIndex"))
        fault_text(e, path_at(path, "action"), action,
                   "requires the backoffLimitPerIndex to be set");
    if (on_exit)
        check_exit_codes(e, path_at(path, "onExitCodes"), on_exit, spec);
    check_patterns(e, path_at(path, "onPodConditions"), patterns);
    if (on_exit && validate__count(patterns))
        field_error(e, FIELD_INVALID, path, STR(""),
                    "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!on_exit && !validate__count(patterns))
        field_error(e, FIELD_INVALID, path, STR(""),
                    "specifying one of OnExitCodes and OnPodConditions is required");
}

static void check_failure_policy(struct field_errors *e, const struct field_path *path,
                                 const struct value *policy, const struct value *spec)
{
    const struct value *rules = value_get(policy, STR("rules"));
    const struct field_path *list = path_at(path, "rules");
    if (validate__count(rules) > POLICY_RULES_MAX)
        fault_too_many(e, list, rules->n, POLICY_RULES_MAX);
    size_t i = 0;
    value_each_item (it, rules)
        check_failure_rule(e, path_item(list, i++), it, spec);
}

/* ---- Success policy ---- */

static void check_success_rule(struct field_errors *e, const struct field_path *path,
                               const struct value *rule, int64_t completions)
{
    const struct value *count = validate_member(rule, "succeededCount"),
                       *indexes = validate_member(rule, "succeededIndexes");
    int64_t total = 0, n = validate__int(count);
    struct str why = STR("");
    if (!count && !indexes)
        fault_required(e, path,
                       "at least one of succeededCount or succeededIndexes must be specified");
    const struct field_path *at = path_at(path, "succeededIndexes");
    if (value_str(indexes).n > INDEXES_BYTES_MAX)
        field_too_long(e, at, INDEXES_BYTES_MAX);
    if (indexes &&
        !validate_job_indexes_check(e->arena, value_str(indexes), completions, &total, &why))
        fault_text(e, at, value_str(indexes), "error parsing succeededIndexes: " STR_FMT,
                   STR_ARG(why));
    if (!count)
        return;
    at = path_at(path, "succeededCount");
    (void)validate_nonnegative(e, at, n);
    if (n > completions)
        fault_int(e, at, n,
                  "must be less than or equal to %ld (the number of specified completions)",
                  (long)completions);
    if (indexes && n > total)
        fault_int(e, at, n,
                  "must be less than or equal to %ld (the number of indexes in the specified "
                  "succeededIndexes field)",
                  (long)total);
}

static void check_success_policy(struct field_errors *e, const struct field_path *path,
                                 const struct value *policy, const struct value *spec)
{
    const struct value *rules = value_get(policy, STR("rules"));
    const struct field_path *list = path_at(path, "rules");
    if (!validate__count(rules))
        fault_required(e, list,
                       "at least one rules must be specified when the successPolicy is specified");
    if (validate__count(rules) > POLICY_RULES_MAX)
        fault_too_many(e, list, rules->n, POLICY_RULES_MAX);
    size_t i = 0;
    value_each_item (it, rules)
        check_success_rule(e, path_item(list, i++), it, validate_int(spec, "completions"));
}

/* ---- Counts ---- */

static void check_high_completions(struct field_errors *e, const struct field_path *path,
                                   const struct value *parallelism, const struct value *failed)
{
    if (!failed)
        field_error(e, FIELD_REQUIRED, path_at(path, "maxFailedIndexes"), STR(""),
                    "must be specified when completions is above %d", COMPLETIONS_SOFT);
    if (validate__int(parallelism) > HIGH_PARALLELISM_MAX)
        fault_value(e, path_at(path, "parallelism"), parallelism,
                    "must be less than or equal to %d when completions are above %d and used with "
                    "backoff limit per index",
                    HIGH_PARALLELISM_MAX, COMPLETIONS_SOFT);
    if (validate__int(failed) > HIGH_FAILED_MAX)
        fault_value(e, path_at(path, "maxFailedIndexes"), failed,
                    "must be less than or equal to %d when completions are above %d and used with "
                    "backoff limit per index",
                    HIGH_FAILED_MAX, COMPLETIONS_SOFT);
}

static void check_indexed(struct field_errors *e, const struct field_path *path,
                          const struct value *spec)
{
    const struct value *completions = validate_member(spec, "completions"),
                       *parallelism = validate_member(spec, "parallelism"),
                       *failed = validate_member(spec, "maxFailedIndexes");
    if (!completions)
        fault_required(e, path_at(path, "completions"), "when completion mode is Indexed");
    if (validate__int(parallelism) > PARALLELISM_MAX)
        fault_value(e, path_at(path, "parallelism"), parallelism,
                    "must be less than or equal to %d when completion mode is Indexed",
                    PARALLELISM_MAX);
    if (completions && failed && validate__int(failed) > validate__int(completions))
        fault_value(e, path_at(path, "maxFailedIndexes"), failed,
                    "must be less than or equal to completions");
    if (validate__int(failed) > FAILED_INDEXES_MAX)
        fault_value(e, path_at(path, "maxFailedIndexes"), failed,
                    "must be less than or equal to %d", FAILED_INDEXES_MAX);
    if (validate__int(completions) > COMPLETIONS_SOFT &&
        validate_member(spec, "backoffLimitPerIndex"))
        check_high_completions(e, path, parallelism, failed);
}

static void check_not_indexed(struct field_errors *e, const struct field_path *path,
                              const struct value *spec)
{
    static const struct str fields[] = { STR("backoffLimitPerIndex"), STR("maxFailedIndexes") };
    for (size_t i = 0; i < 2; i++) {
        const struct value *v = validate__member(spec, fields[i]);
        struct field_path at = field_child(path, fields[i]);
        if (v)
            fault_value(e, &at, v, "requires indexed completion mode");
    }
}

static void check_counts_of_job(struct field_errors *e, const struct field_path *path,
                                const struct value *spec)
{
    static const struct str counts[] = {
        STR("parallelism"),
        STR("completions"),
        STR("activeDeadlineSeconds"),
        STR("backoffLimit"),
        STR("ttlSecondsAfterFinished"),
        STR("backoffLimitPerIndex"),
        STR("maxFailedIndexes"),
    };
    static const struct str modes[] = { STR("NonIndexed"), STR("Indexed") };
    const struct value *managed = validate_member(spec, "managedBy"),
                       *mode = validate_member(spec, "completionMode");
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_optional_count(e, path, spec, counts[i]);
    if (managed) {
        (void)validate_domain_path(e, path_at(path, "managedBy"), value_str(managed));
        if (value_str(managed).n > MANAGED_BY_MAX)
            field_too_long(e, path_at(path, "managedBy"), MANAGED_BY_MAX);
    }
    if (mode)
        (void)validate_one_of(e, path_at(path, "completionMode"), value_str(mode), WORDS(modes));
    if (str_eq(value_str(mode), modes[1]))
        check_indexed(e, path, spec);
    if (!mode || str_eq(value_str(mode), modes[0]))
        check_not_indexed(e, path, spec);
}

/* ---- The spec ---- */

static void check_replacement(struct field_errors *e, const struct field_path *path,
                              const struct value *spec)
{
    static const struct str policies[] = { STR("Failed"), STR("TerminatingOrFailed") };
    const struct value *policy = validate_member(spec, "podReplacementPolicy");
    if (policy)
        (void)validate_one_of(e, path, value_str(policy), policies,
                              validate_member(spec, "podFailurePolicy") ? 1 : 2);
}

static void check_restart(struct field_errors *e, const struct field_path *path,
                          const struct value *spec)
{
    static const struct str policies[] = { STR("OnFailure"), STR("Never") };
    struct str policy =
        value_text(validate_member(validate_member(spec, "template"), "spec"), "restartPolicy");
    if (!policy.n || str_eq(policy, STR("Always")))
        fault_required(e, path, "valid values: \"OnFailure\", \"Never\"");
    else if (validate_one_of(e, path, policy, WORDS(policies)) &&
             validate_member(spec, "podFailurePolicy") && str_eq(policy, policies[0]))
        fault_text(e, path, policy,
                   "only \"Never\" is supported when podFailurePolicy is specified");
}

void validate_job_spec(struct field_errors *e, const struct field_path *path,
                       const struct value *spec, const struct value *old_spec)
{
    const struct value *failure = validate_member(spec, "podFailurePolicy"),
                       *success = validate_member(spec, "successPolicy");
    check_counts_of_job(e, path, spec);
    if (failure)
        check_failure_policy(e, path_at(path, "podFailurePolicy"), failure, spec);
    if (success && str_eq(value_text(spec, "completionMode"), STR("Indexed")))
        check_success_policy(e, path_at(path, "successPolicy"), success, spec);
    else if (success)
        field_error(e, FIELD_INVALID, path_at(path, "successPolicy"),
                    inner_json(e, STR("batch/v1"), STR("SuccessPolicy"), success),
                    "requires indexed completion mode");
    check_replacement(e, path_at(path, "podReplacementPolicy"), spec);
    const struct field_path *template = path_at(path, "template");
    validate_pod_template(e, template, validate_member(spec, "template"),
                          validate_member(old_spec, "template"));
    check_restart(e, path_at(path_at(template, "spec"), "restartPolicy"), spec);
}

void validate_warn_job_spec(struct validate_warnings *w, const struct field_path *path,
                            const struct value *spec)
{
    if (str_eq(value_text(spec, "completionMode"), STR("Indexed")) &&
        validate_int(spec, "completions") > COMPLETIONS_SOFT &&
        validate_int(spec, "parallelism") > HIGH_PARALLELISM_MAX) {
        struct str at = field_path_text(w->arena, path);
        validate_add_warning(w,
                             STR_FMT ": In Indexed Jobs with a number of completions higher than "
                                     "10^5 and a parallelism higher than 10^4, Kubernetes might "
                                     "not be able to track completedIndexes when a big number of "
                                     "indexes fail",
                             STR_ARG(at));
    }
    validate_warn_pod(w, path_at(path, "template"), validate_member(spec, "template"));
}
