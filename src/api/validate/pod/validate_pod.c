/* The kinds that are a pod or hold one and nothing else: Pod and PodTemplate. */
#include "api/validate/pod/validate_pod.h"

#include "base/buf.h"
#include "base/banned.h"

void validate_whole_pod(struct field_errors *e, const struct value *pod,
                        const struct pod_rules *rules)
{
    const struct value *spec = validate_member(pod, "spec"),
                       *meta = validate_member(pod, "metadata");
    const struct field_path *path = path_root("spec");
    validate_pod_annotations(e, path_at(path_root("metadata"), "annotations"),
                             value_get(meta, STR("annotations")), spec, rules);
    validate_pod_spec(e, path, spec, meta, rules);
    size_t i = 0;
    if (!value_text(spec, "serviceAccountName").n)
        value_each_item (volume, value_get(spec, STR("volumes"))) {
            const struct field_path *at =
                path_at(path_at(path_item(path_at(path, "volumes"), i), "projected"), "sources");
            size_t k = 0;
            i++;
            value_each_item (it, value_dig(volume, "projected", "sources")) {
                if (validate_member(it, "serviceAccountToken"))
                    fault_forbidden(e, path_at(path_item(at, k), "serviceAccountToken"),
                                    "must not be specified when serviceAccountName is not set");
                k++;
            }
        }
    const struct value *grace = validate_member(spec, "terminationGracePeriodSeconds");
    if (grace)
        (void)validate_nonnegative(e, path_at(path, "terminationGracePeriodSeconds"),
                                   validate__int(grace));
    i = 0;
    value_each_item (it, value_get(spec, STR("containers")))
        validate_image_for_pod(e, path_item(path_at(path, "containers"), i++), it);
    i = 0;
    value_each_item (it, value_get(spec, STR("initContainers")))
        validate_image_for_pod(e, path_item(path_at(path, "initContainers"), i++), it);
}

static void create_pod(struct field_errors *e, const struct value *pod)
{
    static const struct pod_rules rules = { .is_pod = true };
    const struct value *spec = validate_member(pod, "spec");
    const struct field_path *path = path_root("spec");
    validate_whole_pod(e, pod, &rules);
    if (validate_count(spec, "ephemeralContainers"))
        fault_forbidden(e, path_at(path, "ephemeralContainers"), "cannot be set on create");
    if (value_text(spec, "nodeName").n && validate_count(spec, "schedulingGates"))
        fault_forbidden(e, path_at(path, "nodeName"),
                        "cannot be set until all schedulingGates have been cleared");
    validate_pod_profiles_match(e, path, value_dig(pod, "metadata", "annotations"), spec);
}

static void warn_pod(struct validate_warnings *w, const struct value *pod,
                     const struct value *old_pod)
{
    if (old_pod)
        return; /* people seldom change pods, and machines often */
    validate_warn_name(
        w, value_text(value_get(pod, STR("metadata")), "name"),
        "this is used in the Pod's hostname, which can result in surprising behavior; a "
        "DNS label is recommended");
    validate_warn_pod(w, NULL, pod);
}

/* ---- PodTemplate ---- */

static void create_template(struct field_errors *e, const struct value *obj)
{
    validate_pod_template(e, path_root("template"), validate_member(obj, "template"), NULL);
}

static void update_template(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    validate_pod_template(e, path_root("template"), validate_member(obj, "template"),
                          validate_member(old_obj, "template"));
}

static void warn_template(struct validate_warnings *w, const struct value *obj,
                          const struct value *old_obj)
{
    if (!old_obj || validate_int(value_get(obj, STR("metadata")), "generation") !=
                        validate_int(value_get(old_obj, STR("metadata")), "generation"))
        validate_warn_pod(w, path_root("template"), validate_member(obj, "template"));
}

const struct validate_rules validate__pod[] = {
    { STR(""), STR("Pod"), create_pod, validate_pod_update, validate_pod_update_status, warn_pod,
      .subs = validate_pod_subs },
    { STR(""), STR("PodTemplate"), create_template, update_template, NULL, warn_template },
    { .kind = { NULL, 0 } },
};
