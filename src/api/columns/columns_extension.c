/* columns_extension.c - what extends or steers the API server: definitions, registered servers,
 * webhooks, admission policies, flow control and storage migration. */

#include "api/columns/columns_internal.h"
#include "api/selector_dump.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/banned.h"

/* The versions that are served, and which of them is stored. */
static struct str served_versions(struct row *row)
{
    struct texts list = { row->arena };
    value_each_item (version, row_at(row, "spec", "versions")) {
        struct str name = value_text(version, "name");
        if (!columns_bool(value_get(version, STR("served"))))
            continue;
        if (columns_bool(value_get(version, STR("storage"))))
            name = columns_cat(row->arena, name, STR("(storage)"));
        columns_texts_add(&list, name);
    }
    columns_texts_sort(&list);
    return columns_texts_join(&list, STR(","));
}

static void print_definition(struct row *row)
{
    struct texts short_names = { row->arena };
    bool established = false;
    columns_texts_add_all(&short_names, row_at(row, "spec", "names", "shortNames"));
    value_each_item (c, row_at(row, "status", "conditions"))
        established |= columns_is_true(c) && str_eq(value_text(c, "type"), STR("Established"));
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "scope"));
    columns_row_add(row, served_versions(row));
    columns_row_add(row, columns_date(row->arena, row_at(row, "metadata", "creationTimestamp")));
    columns_row_add(row, row_text(row, "spec", "group"));
    columns_row_add(row, row_text(row, "spec", "names", "kind"));
    columns_row_add(row, columns_texts_join(&short_names, STR(",")));
    columns_row_add_bool(row, established);
}

/* "False (ServiceNotFound)": a reason is given only when it is not available. */
static struct str availability(struct row *row)
{
    const struct value *available =
        columns_of_type(row_at(row, "status", "conditions"), STR("Available"));
    struct str status = value_text(available, "status");
    struct str reason = value_text(available, "reason");
    if (!available)
        return STR("Unknown");
    if (columns_is_true(available) || !reason.n)
        return status;
    return columns_cat(row->arena, status, STR(" ("), reason, STR(")"));
}

static void print_api_service(struct row *row)
{
    const struct value *service = row_at(row, "spec", "service");
    columns_row_add_name(row);
    columns_row_add(row, columns_is_set(service)
                             ? columns_cat(row->arena, value_text(service, "namespace"), STR("/"),
                                           value_text(service, "name"))
                             : STR("Local"));
    columns_row_add(row, availability(row));
    columns_row_add_age(row);
}

/* ---- Admission ---- */

static void print_webhooks(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_int(row, (int64_t)columns_count(row_at(row, "webhooks")));
    columns_row_add_age(row);
}

static void add_policy(struct row *row, const char *rules)
{
    const struct value *kind = row_at(row, "spec", "paramKind");
    columns_row_add_name(row);
    columns_row_add_int(row, (int64_t)columns_count(row_at(row, "spec", rules)));
    columns_row_add(row, columns_is_set(kind)
                             ? columns_cat(row->arena, value_text(kind, "apiVersion"), STR("/"),
                                           value_text(kind, "kind"))
                             : STR("<unset>"));
    columns_row_add_age(row);
}

static void print_validating_policy(struct row *row)
{
    add_policy(row, "validations");
}

static void print_mutating_policy(struct row *row)
{
    add_policy(row, "mutations");
}

/* Whether the parameters are in a namespace cannot be told from here: without one it is "*". */
static struct str parameters(struct row *row)
{
    const struct value *ref = row_at(row, "spec", "paramRef");
    const struct value *selector = value_get(ref, STR("selector"));
    struct str name = value_text(ref, "name");
    struct str namespace = value_text(ref, "namespace");
    if (name.n)
        return columns_cat(row->arena, columns_or(namespace, STR("*")), STR("/"), name);
    return columns_is_set(selector) ? selector_dump(row->arena, selector) : STR("<unset>");
}

static void print_policy_binding(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "policyName"));
    columns_row_add(row, parameters(row));
    columns_row_add_age(row);
}

/* ---- Flow control ---- */

static int compare_precedence(const void *a, const void *b)
{
    const struct value *x = *(const struct value *const *)a, *y = *(const struct value *const *)b;
    int64_t p = columns_int(value_dig(x, "spec", "matchingPrecedence"));
    int64_t q = columns_int(value_dig(y, "spec", "matchingPrecedence"));
    return p < q   ? -1
           : p > q ? 1
                   : str_cmp(value_str(value_dig(x, "metadata", "name")),
                             value_str(value_dig(y, "metadata", "name")));
}

static void print_flow_schema(struct row *row)
{
    const struct value *method = row_at(row, "spec", "distinguisherMethod");
    const struct value *dangling =
        columns_of_type(row_at(row, "status", "conditions"), STR("Dangling"));
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "priorityLevelConfiguration", "name"));
    columns_row_add_int(row, row_int(row, "spec", "matchingPrecedence"));
    columns_row_add(row, columns_is_set(method) ? value_text(method, "type") : STR("<none>"));
    columns_row_add_age(row);
    columns_row_add(row, dangling ? value_text(dangling, "status") : STR("?"));
}

static void add_number_or_none(struct row *row, const struct value *of, struct str field)
{
    if (columns_is_set(of))
        columns_row_add_int(row, columns_int(value_get(of, field)));
    else
        columns_row_add(row, STR("<none>"));
}

static void print_priority_level(struct row *row)
{
    const struct value *limited = row_at(row, "spec", "limited");
    const struct value *queuing = value_dig(limited, "limitResponse", "queuing");
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "type"));
    add_number_or_none(row, limited, STR("nominalConcurrencyShares"));
    add_number_or_none(row, queuing, STR("queues"));
    add_number_or_none(row, queuing, STR("handSize"));
    add_number_or_none(row, queuing, STR("queueLengthLimit"));
    columns_row_add_age(row);
}

static void print_storage_migration(struct row *row)
{
    static const struct str states[] = { STR("Running"), STR("Failed"), STR("Succeeded") };
    struct str status = STR("Unknown");
    value_each_item (c, row_at(row, "status", "conditions")) {
        struct str type = value_text(c, "type");
        if (columns_is_true(c) && words_have(type, WORDS(states)))
            status = type;
    }
    columns_row_add_name(row);
    columns_row_add(row,
                    columns_with_group(row->arena, row_text(row, "spec", "resource", "resource"),
                                       row_text(row, "spec", "resource", "group")));
    columns_row_add(row, status);
}

#define ADMISSION STR("admissionregistration.k8s.io")
#define FLOWS     STR("flowcontrol.apiserver.k8s.io")

const struct columns_rule columns_extension_rules[] = {
    { STR("apiextensions.k8s.io"), STR("CustomResourceDefinition"), print_definition },
    { STR("apiregistration.k8s.io"), STR("APIService"), print_api_service },
    { ADMISSION, STR("MutatingWebhookConfiguration"), print_webhooks },
    { ADMISSION, STR("ValidatingWebhookConfiguration"), print_webhooks },
    { ADMISSION, STR("ValidatingAdmissionPolicy"), print_validating_policy },
    { ADMISSION, STR("MutatingAdmissionPolicy"), print_mutating_policy },
    { ADMISSION, STR("ValidatingAdmissionPolicyBinding"), print_policy_binding },
    { ADMISSION, STR("MutatingAdmissionPolicyBinding"), print_policy_binding },
    { FLOWS, STR("FlowSchema"), print_flow_schema, .compare = compare_precedence },
    { FLOWS, STR("PriorityLevelConfiguration"), print_priority_level },
    { STR("storagemigration.k8s.io"), STR("StorageVersionMigration"), print_storage_migration },
    { .print = NULL },
};
