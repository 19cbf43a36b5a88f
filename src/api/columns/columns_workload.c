/* columns_workload.c - what makes pods: controllers and jobs, their scale and their budgets. */
#include "api/columns/columns_internal.h"
#include "base/idiom.h"
#include "base/banned.h"

/* "1/3" */
static struct str ratio(struct row *row, int64_t n, int64_t of)
{
    return columns_cat(row->arena, columns_number(row->arena, n), STR("/"),
                       columns_number(row->arena, of));
}

static void add_selector(struct row *row, const struct value *selector)
{
    columns_row_add(row, columns_selector(row->arena, selector, STR("<none>"), STR("<error>")));
}

static void add_replicas(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_int(row, row_int(row, "spec", "replicas"));
    columns_row_add_int(row, row_int(row, "status", "replicas"));
    columns_row_add_int(row, row_int(row, "status", "readyReplicas"));
    columns_row_add_age(row);
    columns_row_add_containers(row, row_at(row, "spec", "template", "spec"));
}

static void print_replication_controller(struct row *row)
{
    add_replicas(row);
    columns_row_add(row, columns_labels(row->arena, row_at(row, "spec", "selector")));
}

static void print_replica_set(struct row *row)
{
    add_replicas(row);
    add_selector(row, row_at(row, "spec", "selector"));
}

static void print_deployment(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(
        row, ratio(row, row_int(row, "status", "readyReplicas"), row_int(row, "spec", "replicas")));
    columns_row_add_int(row, row_int(row, "status", "updatedReplicas"));
    columns_row_add_int(row, row_int(row, "status", "availableReplicas"));
    columns_row_add_age(row);
    columns_row_add_containers(row, row_at(row, "spec", "template", "spec"));
    columns_row_add(row, columns_selector(row->arena, row_at(row, "spec", "selector"), STR(""),
                                          STR("<invalid>")));
}

static void print_stateful_set(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(
        row, ratio(row, row_int(row, "status", "readyReplicas"), row_int(row, "spec", "replicas")));
    columns_row_add_age(row);
    columns_row_add_containers(row, row_at(row, "spec", "template", "spec"));
}

static void print_daemon_set(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_int(row, row_int(row, "status", "desiredNumberScheduled"));
    columns_row_add_int(row, row_int(row, "status", "currentNumberScheduled"));
    columns_row_add_int(row, row_int(row, "status", "numberReady"));
    columns_row_add_int(row, row_int(row, "status", "updatedNumberScheduled"));
    columns_row_add_int(row, row_int(row, "status", "numberAvailable"));
    columns_row_add(
        row, columns_labels(row->arena, row_at(row, "spec", "template", "spec", "nodeSelector")));
    columns_row_add_age(row);
    columns_row_add_containers(row, row_at(row, "spec", "template", "spec"));
    add_selector(row, row_at(row, "spec", "selector"));
}

static struct str job_status(struct row *row)
{
    static const struct str before_deletion[] = { STR("Complete"), STR("Failed") };
    static const struct str after_deletion[] = { STR("Suspended"), STR("FailureTarget"),
                                                 STR("SuccessCriteriaMet") };
    const struct value *conditions = row_at(row, "status", "conditions");
    for (size_t i = 0; i < ARRAY_LEN(before_deletion); i++)
        if (columns_is_true(columns_of_type(conditions, before_deletion[i])))
            return before_deletion[i];
    if (columns_is_set(row_at(row, "metadata", "deletionTimestamp")))
        return STR("Terminating");
    for (size_t i = 0; i < ARRAY_LEN(after_deletion); i++)
        if (columns_is_true(columns_of_type(conditions, after_deletion[i])))
            return after_deletion[i];
    return STR("Running");
}

/* A job without a number of completions is done when one of its pods is. */
static struct str job_completions(struct row *row)
{
    const struct value *completions = row_at(row, "spec", "completions");
    int64_t succeeded = row_int(row, "status", "succeeded");
    int64_t parallelism = row_int(row, "spec", "parallelism");
    if (columns_is_set(completions))
        return ratio(row, succeeded, columns_int(completions));
    struct str one = ratio(row, succeeded, 1);
    if (parallelism <= 1)
        return one;
    return columns_cat(row->arena, one, STR(" of "), columns_number(row->arena, parallelism));
}

static struct str job_duration(struct row *row)
{
    struct gotime start, end;
    if (!columns_time(row_at(row, "status", "startTime"), &start))
        return STR("");
    if (!columns_time(row_at(row, "status", "completionTime"), &end))
        return columns_since(row, start);
    return columns_duration(row->arena, columns_between_ns(start, end));
}

static void print_job(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, job_status(row));
    columns_row_add(row, job_completions(row));
    columns_row_add(row, job_duration(row));
    columns_row_add_age(row);
    columns_row_add_containers(row, row_at(row, "spec", "template", "spec"));
    add_selector(row, row_at(row, "spec", "selector"));
}

static void print_cron_job(struct row *row)
{
    const struct value *zone = row_at(row, "spec", "timeZone");
    const struct value *suspend = row_at(row, "spec", "suspend");
    const struct value *last = row_at(row, "status", "lastScheduleTime");
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "schedule"));
    columns_row_add(row, columns_is_set(zone) ? value_str(zone) : STR("<none>"));
    columns_row_add(row, !columns_is_set(suspend) ? STR("<unset>")
                         : columns_bool(suspend)  ? STR("True")
                                                  : STR("False"));
    columns_row_add_int(row, (int64_t)columns_count(row_at(row, "status", "active")));
    columns_row_add(row, columns_is_set(last) ? columns_age(row, last) : STR("<none>"));
    columns_row_add_age(row);
    columns_row_add_containers(row, row_at(row, "spec", "jobTemplate", "spec", "template", "spec"));
    add_selector(row, row_at(row, "spec", "jobTemplate", "spec", "selector"));
}

/* "deployment.apps/web" of the owner that is in charge. */
static struct str controller(struct row *row)
{
    value_each_item (owner, row_at(row, "metadata", "ownerReferences")) {
        if (!columns_bool(value_get(owner, STR("controller"))))
            continue;
        struct str version = value_text(owner, "apiVersion"), group = { 0 };
        struct str kind = value_text(owner, "kind");
        struct str name = value_text(owner, "name");
        if (str_find(version, '/') >= 0)
            group = str_cut(&version, '/');
        if (!kind.n && !group.n)
            return name;
        return columns_cat(row->arena,
                           columns_lower(row->arena, columns_with_group(row->arena, kind, group)),
                           STR("/"), name);
    }
    return STR("<none>");
}

static void print_controller_revision(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, controller(row));
    columns_row_add_int(row, row_int(row, "revision"));
    columns_row_add_age(row);
}

static void add_bound(struct row *row, const struct value *bound)
{
    columns_row_add(row,
                    columns_is_set(bound) ? columns_int_or_string(row->arena, bound) : STR("N/A"));
}

static void print_disruption_budget(struct row *row)
{
    columns_row_add_name(row);
    add_bound(row, row_at(row, "spec", "minAvailable"));
    add_bound(row, row_at(row, "spec", "maxUnavailable"));
    columns_row_add_int(row, row_int(row, "status", "disruptionsAllowed"));
    columns_row_add_age(row);
}

static void print_scale(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_int(row, row_int(row, "spec", "replicas"));
    columns_row_add_int(row, row_int(row, "status", "replicas"));
    columns_row_add_age(row);
}

const struct columns_rule columns_workload_rules[] = {
    { STR(""), STR("ReplicationController"), print_replication_controller },
    { STR("apps"), STR("ReplicaSet"), print_replica_set },
    { STR("apps"), STR("Deployment"), print_deployment },
    { STR("apps"), STR("StatefulSet"), print_stateful_set },
    { STR("apps"), STR("DaemonSet"), print_daemon_set },
    { STR("apps"), STR("ControllerRevision"), print_controller_revision },
    { STR("batch"), STR("Job"), print_job },
    { STR("batch"), STR("CronJob"), print_cron_job },
    { STR("policy"), STR("PodDisruptionBudget"), print_disruption_budget },
    { STR("autoscaling"), STR("Scale"), print_scale },
    { .print = NULL },
};
