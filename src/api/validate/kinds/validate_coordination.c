/* Leases, and migrations of stored objects. What a Lease says of coordinated election stands behind
 * a gate that is off, and is dropped before anything is checked. */
#include "api/inner.h"
#include "api/validate/validate_parts.h"
#include "base/banned.h"

/* ---- Lease ---- */

static void create_lease(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    int64_t duration = validate_int(spec, "leaseDurationSeconds");
    if (validate_member(spec, "leaseDurationSeconds") && duration <= 0)
        fault_int(e, path_at(path, "leaseDurationSeconds"), duration, "must be greater than 0");
    validate_nonnegative(e, path_at(path, "leaseTransitions"),
                         validate_int(spec, "leaseTransitions"));
}

static void update_lease(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    (void)old_obj;
    create_lease(e, obj);
}

/* ---- StorageVersionMigration ---- */

/* All faults of a name as one. */
static void check_joined(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                         struct str name)
{
    struct name_faults f = { 0 };
    if (!name_check(rule, name, &f))
        fault_text(e, path, name, "%s%s%s%s%s", f.list[0].part, f.list[0].why, f.n > 1 ? "," : "",
                   f.n > 1 ? f.list[1].part : "", f.n > 1 ? f.list[1].why : "");
}

static void create_migration(struct field_errors *e, const struct value *obj)
{
    const struct value *resource = value_dig(obj, "spec", "resource");
    const struct field_path *path = path_at(path_root("spec"), "resource");
    struct str name = value_text(resource, "resource"), group = value_text(resource, "group");
    if (name.n == 0)
        fault_required(e, path_at(path, "resource"), "resource is required to be set");
    else
        check_joined(e, path_at(path, "resource"), NAME_LABEL_1035, name);
    if (group.n)
        check_joined(e, path_at(path, "group"), NAME_SUBDOMAIN, group);
}

static void update_migration(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj)
{
    create_migration(e, obj);
    const struct value *spec = value_get(obj, STR("spec"));
    if (!validate_is_same(spec, value_get(old_obj, STR("spec"))))
        field_error(e, FIELD_INVALID, path_root("spec"),
                    inner_json(e, STR("storagemigration.k8s.io/v1"),
                               STR("StorageVersionMigrationSpec"), spec),
                    "field is immutable");
}

static bool is_revision(struct str text)
{
    uint64_t n;
    return str_to_u64(text, &n) && n > 0 && text.p[0] != '0';
}

static void update_migration_status(struct field_errors *e, const struct value *obj,
                                    const struct value *old_obj)
{
    const struct value *status = value_get(obj, STR("status"));
    const struct value *old = value_get(old_obj, STR("status"));
    const struct value *conditions = value_get(status, STR("conditions"));
    const struct value *old_conditions = value_get(old, STR("conditions"));
    const struct field_path *path = path_root("status");
    struct str revision = value_text(status, "resourceVersion");
    struct str old_revision = value_text(old, "resourceVersion");
    if (revision.n && !is_revision(revision))
        fault_text(e, path_at(path, "resourceVersion"), revision,
                   "resource version is not well formed: " STR_FMT, STR_ARG(revision));
    validate_conditions(e, path_at(path, "conditions"), conditions);
    if (old_revision.n && !str_eq(revision, old_revision))
        fault_text(e, path_at(path, "resourceVersion"), revision, "field is immutable");
    bool succeeded = validate_has_condition(conditions, STR("Succeeded"));
    bool failed = validate_has_condition(conditions, STR("Failed"));
    path = path_at(path, "conditions");
    if (succeeded && failed)
        fault_value(e, path, conditions,
                    "Both success and failed conditions cannot be true at the same time");
    if (validate_has_condition(old_conditions, STR("Succeeded")) && !succeeded)
        fault_value(e, path, conditions,
                    "Success condition cannot be set to false once it is true");
    if (validate_has_condition(old_conditions, STR("Failed")) && !failed)
        fault_value(e, path, conditions, "Failed condition cannot be set to false once it is true");
}

const struct validate_rules validate__coordination[] = {
    { STR("coordination.k8s.io"), STR("Lease"), .create = create_lease, .update = update_lease },
    { STR("storagemigration.k8s.io"), STR("StorageVersionMigration"), .create = create_migration,
      .update = update_migration, .update_status = update_migration_status },
    { .kind = { NULL, 0 } },
};
