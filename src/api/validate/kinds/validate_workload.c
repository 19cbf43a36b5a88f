#include "api/validate/kinds/validate_workload.h"

#include "base/banned.h"

void validate_workload_selector(struct field_errors *e, const struct field_path *path,
                                const struct value *selector, const char *kind)
{
    if (!selector) {
        fault_required(e, path, "");
        return;
    }
    (void)validate_label_selector(e, path, selector, 0);
    if (validate_selector_is_empty(selector))
        fault_value(e, path, selector, "empty selector is invalid for %s", kind);
}

void validate_selected(struct field_errors *e, const struct field_path *template_path,
                       const struct value *template, const struct value *selector)
{
    const struct value *labels = validate_member(validate_member(template, "metadata"), "labels");
    if (validate_selector_is_empty(selector) || validate_selector_matches(selector, labels))
        return;
    fault_value(e, path_at(path_at(template_path, "metadata"), "labels"), labels,
                "`selector` does not match template `labels`");
}

void validate_lasting_template(struct field_errors *e, const struct field_path *template_path,
                               const struct value *template, const char *kind)
{
    static const struct str always[] = { STR("Always") };
    const struct value *spec = validate_member(template, "spec");
    const struct field_path *path = path_at(template_path, "spec");
    (void)validate_one_of(e, path_at(path, "restartPolicy"), value_text(spec, "restartPolicy"),
                          WORDS(always));
    if (validate_member(spec, "activeDeadlineSeconds"))
        fault_forbidden(e, path_at(path, "activeDeadlineSeconds"),
                        "activeDeadlineSeconds in %s is not Supported", kind);
}

/* ---- Statuses ---- */

void validate_counts(struct field_errors *e, const struct field_path *path,
                     const struct value *status, const struct str *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct field_path at = field_child(path, fields[i]);
        (void)validate_nonnegative(e, &at, validate__int(value_get(status, fields[i])));
    }
}

void validate_at_most(struct field_errors *e, const struct field_path *path,
                      const struct value *status, struct str field, struct str other,
                      const char *other_name)
{
    int64_t n = validate__int(value_get(status, field));
    struct field_path at = field_child(path, field);
    if (n > validate__int(value_get(status, other)))
        fault_int(e, &at, n, "cannot be greater than %s", other_name);
}

void validate_not_decremented(struct field_errors *e, const struct field_path *path,
                              const struct value *status, const struct value *old_status,
                              struct str field)
{
    const struct value *was = validate__member(old_status, field),
                       *now = validate__member(status, field);
    struct field_path at = field_child(path, field);
    if (was && (!now || validate__int(now) < validate__int(was)))
        fault_int(e, &at, validate__int(now), "cannot be decremented");
}

/* ---- Warnings ---- */

void validate_warn_workload(struct validate_warnings *w, const struct value *obj,
                            const struct value *old_obj, bool is_named)
{
    const struct value *meta = value_get(obj, STR("metadata")),
                       *old_meta = value_get(old_obj, STR("metadata"));
    if (old_obj && validate_int(meta, "generation") == validate_int(old_meta, "generation"))
        return;
    if (is_named && !old_obj)
        validate_warn_name(
            w, value_text(meta, "name"),
            "this is used in Pod names and hostnames, which can result in surprising "
            "behavior; a DNS label is recommended");
    validate_warn_pod(w, path_at(path_root("spec"), "template"),
                      validate_member(value_get(obj, STR("spec")), "template"));
}
