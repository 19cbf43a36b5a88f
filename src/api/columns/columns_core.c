/* columns_core.c - the cluster itself: nodes, namespaces, events, settings, quotas, leases and the
 * classes that pods and devices are chosen by. */
#include <stdlib.h>

#include "api/columns/columns_internal.h"
#include "base/map.h"
#include "base/banned.h"

static void print_namespace(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "status", "phase"));
    columns_row_add_age(row);
}

static void print_config_map(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_int(row, (int64_t)(columns_count(row_at(row, "data")) +
                                       columns_count(row_at(row, "binaryData"))));
    columns_row_add_age(row);
}

static void print_secret(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "type"));
    columns_row_add_int(row, (int64_t)columns_count(row_at(row, "data")));
    columns_row_add_age(row);
}

static void print_name_and_age(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_age(row);
}

/* ---- Nodes ---- */

static struct str node_status(struct row *row)
{
    const struct value *ready = NULL; /* the last one counts */
    struct str text = STR("Unknown");
    value_each_item (condition, row_at(row, "status", "conditions"))
        if (str_eq(value_text(condition, "type"), STR("Ready")))
            ready = condition;
    if (ready)
        text = columns_is_true(ready) ? STR("Ready") : STR("NotReady");
    if (columns_bool(row_at(row, "spec", "unschedulable")))
        text = columns_cat(row->arena, text, STR(",SchedulingDisabled"));
    return text;
}

/* Labels say them in two ways, in the key or in the value. */
static struct str node_roles(struct row *row)
{
    struct str prefix = STR("node-role.kubernetes.io/");
    struct texts roles = { row->arena };
    value_each_field (label, row_at(row, "metadata", "labels")) {
        struct str role = { 0 };
        if (str_starts(label->key, prefix))
            role = str_skip(label->key, prefix.n);
        else if (str_eq(label->key, STR("kubernetes.io/role")))
            role = value_str(&label->val);
        if (role.n)
            columns_texts_add(&roles, role);
    }
    columns_texts_sort(&roles);
    columns_texts_drop_repeats(&roles);
    return columns_or(columns_texts_join(&roles, STR(",")), STR("<none>"));
}

static struct str node_address(struct row *row, struct str type)
{
    const struct value *address = columns_of_type(row_at(row, "status", "addresses"), type);
    return address ? value_text(address, "address") : STR("<none>");
}

static void print_node(struct row *row)
{
    const struct value *machine = row_at(row, "status", "nodeInfo");
    struct str kernel = value_text(machine, "kernelVersion");
    struct str architecture = value_text(machine, "architecture");
    struct str runtime = value_text(machine, "containerRuntimeVersion");
    struct str unknown = STR("<unknown>");
    kernel = columns_or(kernel, unknown);
    if (architecture.n)
        kernel = columns_cat(row->arena, kernel, STR(" ("), architecture, STR(")"));
    columns_row_add_name(row);
    columns_row_add(row, node_status(row));
    columns_row_add(row, node_roles(row));
    columns_row_add_age(row);
    columns_row_add(row, value_text(machine, "kubeletVersion"));
    columns_row_add(row, node_address(row, STR("InternalIP")));
    columns_row_add(row, node_address(row, STR("ExternalIP")));
    columns_row_add(row, columns_or(value_text(machine, "osImage"), unknown));
    columns_row_add(row, kernel);
    columns_row_add(row, columns_or(runtime, unknown));
}

/* ---- Events ---- */

/* The two groups have one kind of event, under different names. */
struct event_fields {
    const char *object, *message, *source, *first, *last, *count, *controller;
};

static const struct event_fields core_event = { "involvedObject",    "message",       "source",
                                                "firstTimestamp",    "lastTimestamp", "count",
                                                "reportingComponent" };
static const struct event_fields new_event = { "regarding",
                                               "note",
                                               "deprecatedSource",
                                               "deprecatedFirstTimestamp",
                                               "deprecatedLastTimestamp",
                                               "deprecatedCount",
                                               "reportingController" };

static struct str event_source(struct row *row, const struct event_fields *f)
{
    struct str component =
        columns_or(row_text(row, f->source, "component"), row_text(row, f->controller));
    struct str instance =
        columns_or(row_text(row, f->source, "host"), row_text(row, "reportingInstance"));
    return instance.n ? columns_cat(row->arena, component, STR(", "), instance) : component;
}

static struct str event_object(struct row *row, const struct event_fields *f)
{
    struct str kind = columns_lower(row->arena, row_text(row, f->object, "kind"));
    struct str name = row_text(row, f->object, "name");
    return name.n ? columns_cat(row->arena, kind, STR("/"), name) : kind;
}

static void add_event(struct row *row, const struct event_fields *f)
{
    const struct value *series = row_at(row, "series");
    int64_t count = row_int(row, f->count);
    struct gotime t;
    struct str first =
        columns_age(row, columns_time(row_at(row, f->first), &t) ? row_at(row, f->first)
                                                                 : row_at(row, "eventTime"));
    struct str last = columns_time(row_at(row, f->last), &t) ? columns_since(row, t) : first;
    if (columns_is_set(series)) {
        last = columns_age(row, value_get(series, STR("lastObservedTime")));
        count = columns_int(value_get(series, STR("count")));
    } else if (!count) {
        count = 1; /* newer reporters do not count what happened once */
    }
    columns_row_add(row, last);
    columns_row_add(row, row_text(row, "type"));
    columns_row_add(row, row_text(row, "reason"));
    columns_row_add(row, event_object(row, f));
    columns_row_add(row, row_text(row, f->object, "fieldPath"));
    columns_row_add(row, event_source(row, f));
    columns_row_add(row, columns_trim(row_text(row, f->message)));
    columns_row_add(row, first);
    columns_row_add_int(row, count);
    columns_row_add_name(row);
}

static void print_core_event(struct row *row)
{
    add_event(row, &core_event);
}

static void print_new_event(struct row *row)
{
    add_event(row, &new_event);
}

/* ---- Others ---- */

static void print_component_status(struct row *row)
{
    const struct value *healthy = columns_of_type(row_at(row, "conditions"), STR("Healthy"));
    columns_row_add_name(row);
    columns_row_add(row, !healthy                   ? STR("Unknown")
                         : columns_is_true(healthy) ? STR("Healthy")
                                                    : STR("Unhealthy"));
    columns_row_add(row, value_text(healthy, "message"));
    columns_row_add(row, value_text(healthy, "error"));
}

static int compare_fields(const void *a, const void *b)
{
    const struct value_field *const *x = a, *const *y = b;
    return str_cmp((*x)->key, (*y)->key);
}

/* "cpu: 1/4" for each resource that has a bound; limits stand apart from requests. */
static void print_quota(struct row *row)
{
    const struct value *hard = row_at(row, "status", "hard"), *used = row_at(row, "status", "used");
    struct arena *a = row->arena;
    struct texts requests = { a }, limits = { a };
    const struct value_field **sorted =
        arena_array(a, const struct value_field *, columns_count(hard));
    struct map used_of = { 0 };
    size_t n = 0;
    value_each_field (bound, hard)
        sorted[n++] = bound;
    value_each_field (use, used)
        map_set(&used_of, use->key, (void *)(uintptr_t)&use->val);
    if (n)
        qsort(sorted, n, sizeof(*sorted), compare_fields);
    for (size_t i = 0; i < n; i++) {
        struct str text =
            columns_cat(a, sorted[i]->key, STR(": "),
                        columns_quantity(a, map_get(&used_of, sorted[i]->key), STR("0")), STR("/"),
                        columns_quantity(a, &sorted[i]->val, STR("0")));
        columns_texts_add(str_starts(sorted[i]->key, STR("limits.")) ? &limits : &requests, text);
    }
    map_done(&used_of);
    columns_row_add_name(row);
    columns_row_add(row, columns_texts_join(&requests, STR(", ")));
    columns_row_add(row, columns_texts_join(&limits, STR(", ")));
    columns_row_add_age(row);
}

static void print_lease(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "holderIdentity"));
    columns_row_add_age(row);
}

static void print_lease_candidate(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "leaseName"));
    columns_row_add(row, row_text(row, "spec", "binaryVersion"));
    columns_row_add(row, row_text(row, "spec", "emulationVersion"));
    columns_row_add_age(row);
}

static void print_priority_class(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_int(row, row_int(row, "value"));
    columns_row_add_bool(row, columns_bool(row_at(row, "globalDefault")));
    columns_row_add_age(row);
    columns_row_add(row, row_text(row, "preemptionPolicy"));
}

static void print_runtime_class(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "handler"));
    columns_row_add_age(row);
}

/* ---- Devices ---- */

static void print_resource_claim(struct row *row)
{
    bool deleted = columns_is_set(row_at(row, "metadata", "deletionTimestamp"));
    bool allocated = columns_is_set(row_at(row, "status", "allocation"));
    struct texts states = { row->arena };
    if (deleted)
        columns_texts_add(&states, STR("deleted"));
    if (allocated)
        columns_texts_add(&states, STR("allocated"));
    else if (!deleted)
        columns_texts_add(&states, STR("pending"));
    if (allocated && columns_count(row_at(row, "status", "reservedFor")))
        columns_texts_add(&states, STR("reserved"));
    columns_row_add_name(row);
    columns_row_add(row, columns_texts_join(&states, STR(",")));
    columns_row_add_age(row);
}

static void print_resource_slice(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "nodeName"));
    columns_row_add(row, row_text(row, "spec", "driver"));
    columns_row_add(row, row_text(row, "spec", "pool", "name"));
    columns_row_add_age(row);
}

static void print_device_taint(struct row *row)
{
    const struct value *added = row_at(row, "spec", "taint", "timeAdded");
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "taint", "key"));
    columns_row_add(row, row_text(row, "spec", "taint", "value"));
    columns_row_add(row, row_text(row, "spec", "taint", "effect"));
    columns_row_add(row, columns_is_set(added) ? columns_age(row, added) : STR(""));
    columns_row_add_age(row);
}

const struct columns_rule columns_core_rules[] = {
    { STR(""), STR("Namespace"), print_namespace },
    { STR(""), STR("ConfigMap"), print_config_map },
    { STR(""), STR("Secret"), print_secret },
    { STR(""), STR("ServiceAccount"), print_name_and_age },
    { STR(""), STR("Node"), print_node },
    { STR(""), STR("Event"), print_core_event },
    { STR("events.k8s.io"), STR("Event"), print_new_event },
    { STR(""), STR("ComponentStatus"), print_component_status },
    { STR(""), STR("ResourceQuota"), print_quota },
    { STR("coordination.k8s.io"), STR("Lease"), print_lease },
    { STR("coordination.k8s.io"), STR("LeaseCandidate"), print_lease_candidate },
    { STR("scheduling.k8s.io"), STR("PriorityClass"), print_priority_class },
    { STR("node.k8s.io"), STR("RuntimeClass"), print_runtime_class },
    { STR("resource.k8s.io"), STR("DeviceClass"), print_name_and_age },
    { STR("resource.k8s.io"), STR("ResourceClaim"), print_resource_claim },
    { STR("resource.k8s.io"), STR("ResourceClaimTemplate"), print_name_and_age },
    { STR("resource.k8s.io"), STR("ResourceSlice"), print_resource_slice },
    { STR("resource.k8s.io"), STR("DeviceTaintRule"), print_device_taint },
    { .print = NULL },
};
