/* APIService. That its name is made of version and group is a rule of its metadata (meta.c). */
#include "api/validate/validate_parts.h"
#include "base/banned.h"

static void check_service(struct field_errors *e, const struct value *spec)
{
    const struct value *service = validate_member(spec, "service");
    const struct field_path *path = path_root("spec"), *at = path_at(path, "service");
    const struct value *insecure = value_get(spec, STR("insecureSkipTLSVerify"));
    struct str bundle = value_text(spec, "caBundle");
    int64_t port = validate_int(service, "port");
    size_t padding = str_ends(bundle, STR("==")) ? 2 : str_ends(bundle, STR("="));
    if (!service) {
        if (bundle.n)
            fault_text(e, path_at(path, "caBundle"),
                       arena_printf(e->arena, "%zu bytes", bundle.n / 4 * 3 - padding),
                       "local APIServices may not have a caBundle");
        if (value_is_true(insecure))
            fault_value(e, path_at(path, "insecureSkipTLSVerify"), insecure,
                        "local APIServices may not have insecureSkipTLSVerify");
        return;
    }
    validate_required(e, path_at(at, "namespace"), value_text(service, "namespace"));
    validate_required(e, path_at(at, "name"), value_text(service, "name"));
    if (port < 1 || port > 65535)
        fault_int(e, path_at(at, "port"), port,
                  "port is not valid: must be between 1 and 65535, inclusive");
    if (value_is_true(insecure) && bundle.n)
        fault_value(e, path_at(path, "insecureSkipTLSVerify"), insecure,
                    "may not be true if caBundle is present");
}

static void create_service(struct field_errors *e, const struct value *obj)
{
    enum { GROUP_MAX = 20000, VERSION_MAX = 1000 };
    const struct value *spec = value_get(obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    struct str group = value_text(spec, "group"), version = value_text(spec, "version");
    int64_t group_priority = validate_int(spec, "groupPriorityMinimum");
    int64_t version_priority = validate_int(spec, "versionPriority");
    if (group.n)
        validate_name(e, path_at(path, "group"), NAME_SUBDOMAIN, group);
    else if (!str_eq(version, STR("v1")))
        fault_required(e, path_at(path, "group"),
                       "only v1 may have an empty group and it better be legacy kube");
    validate_name(e, path_at(path, "version"), NAME_LABEL_1035, version);
    if (group_priority <= 0 || group_priority > GROUP_MAX)
        fault_int(e, path_at(path, "groupPriorityMinimum"), group_priority,
                  "must be positive and less than %d", GROUP_MAX);
    if (version_priority <= 0 || version_priority > VERSION_MAX)
        fault_int(e, path_at(path, "versionPriority"), version_priority,
                  "must be positive and less than %d", VERSION_MAX);
    check_service(e, spec);
}

static void update_service(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    (void)old_obj;
    create_service(e, obj);
}

static void update_service_status(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    static const struct str statuses[] = { STR("True"), STR("False"), STR("Unknown") };
    const struct field_path *path = path_at(path_root("status"), "conditions");
    size_t i = 0;
    (void)old_obj;
    value_each_item (it, value_dig(obj, "status", "conditions"))
        validate_one_of(e, path_at(path_item(path, i++), "status"), value_text(it, "status"),
                        WORDS(statuses));
}

const struct validate_rules validate__apiregistration[] = {
    { STR("apiregistration.k8s.io"), STR("APIService"), .create = create_service,
      .update = update_service, .update_status = update_service_status },
    { .kind = { NULL, 0 } },
};
