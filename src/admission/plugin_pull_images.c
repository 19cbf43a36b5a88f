/* AlwaysPullImages: a pod gets an image only with the right to pull it, also where its node has the
 * image already. */
#include "admission/plugins.h"
#include "api/field_errors.h"
#include "api/text_set.h"
#include "api/validate/pod/validate_pod.h"
#include "base/banned.h"

#define ALWAYS STR("Always")

static bool has_new_image(const struct value *spec, const struct value *old_spec)
{
    autoset known;
    text_set_init(&known);
    for (size_t i = 0; i < POD_CONTAINER_LISTS; i++)
        value_each_item (it, value_get(old_spec, pod_container_lists[i]))
            (void)text_set_add(&known, value_text(it, "image"), it);
    for (size_t i = 0; i < POD_CONTAINER_LISTS; i++)
        value_each_item (it, value_get(spec, pod_container_lists[i]))
            if (!text_set_has(&known, value_text(it, "image")))
                return true;
    return false;
}

/* An update of a pod whose images were looked at before. */
static bool is_known(const struct admission_request *req, const struct value *pod)
{
    return req->old_obj &&
           !has_new_image(value_get(pod, STR("spec")), value_get(req->old_obj, STR("spec")));
}

static void pull_containers(struct arena *a, struct value *list)
{
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++)
        value_put(a, value_edit_at(a, list, i), STR("imagePullPolicy"), value_string(ALWAYS));
}

static void pull_volumes(struct arena *a, struct value *list)
{
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++) {
        struct value *image = value_edit(a, value_edit_at(a, list, i), STR("image"));
        if (value_is(image, VALUE_OBJECT))
            value_put(a, image, STR("pullPolicy"), value_string(ALWAYS));
    }
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    struct value *spec = value_ensure(req->arena, pod, STR("spec"));
    (void)err;
    if (is_known(req, pod))
        return 0;
    for (size_t i = 0; i < POD_CONTAINER_LISTS; i++)
        pull_containers(req->arena, value_edit(req->arena, spec, pod_container_lists[i]));
    pull_volumes(req->arena, value_edit(req->arena, spec, STR("volumes")));
    return 0;
}

static void check_policy(struct field_errors *e, const struct field_path *at,
                         const struct value *of, struct str field)
{
    static const struct str wanted[] = { ALWAYS };
    struct field_path path = field_child(at, field);
    struct str policy = value_str(value_get(of, field));
    if (!str_eq(policy, ALWAYS))
        field_not_supported(e, &path, field_quoted(e, policy), wanted, 1);
}

static void check_pod(struct field_errors *e, const struct value *spec)
{
    struct field_path at = field_child(NULL, STR("spec"));
    struct field_path volumes = field_child(&at, STR("volumes"));
    size_t n = 0;
    for (size_t i = 0; i < POD_CONTAINER_LISTS; i++) {
        struct field_path list = field_child(&at, pod_container_lists[i]);
        size_t k = 0;
        value_each_item (it, value_get(spec, pod_container_lists[i])) {
            struct field_path here = field_index(&list, k++);
            check_policy(e, &here, it, STR("imagePullPolicy"));
        }
    }
    value_each_item (it, value_get(spec, STR("volumes"))) {
        struct field_path here = field_index(&volumes, n++);
        struct field_path image = field_child(&here, STR("image"));
        if (value_get(it, STR("image")))
            check_policy(e, &image, value_get(it, STR("image")), STR("pullPolicy"));
    }
}

/* A webhook may have undone it. */
static int validate(struct admission_request *req, const struct value *pod, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(req->arena);
    if (is_known(req, pod))
        return 0;
    check_pod(&e, value_get(pod, STR("spec")));
    return e.n ? admission_forbid(req, pod, field_errors_text(&e), err) : 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_pull_images = {
    .name = "AlwaysPullImages",
    .is_off = true,
    .targets = targets,
    .mutate = mutate,
    .validate = validate,
};
