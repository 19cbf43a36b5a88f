/* What a pod that has a node may become there. PodResizeValidator: no more than the node has.
 * NodeDeclaredFeatureValidator: nothing that the node has not said it can do. */
#include "admission/plugins.h"
#include "api/keys.h"
#include "api/quantity.h"
#include "api/validate/pod/validate_pod.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- The node ---- */

static bool is_change(const struct admission_request *req, const struct value *pod)
{
    const struct value *now = value_dig(pod, "metadata", "generation"),
                       *before = value_dig(req->old_obj, "metadata", "generation");
    int64_t n = 0, n_before = 0;
    (void)value_to_int(now, &n);
    (void)value_to_int(before, &n_before);
    return n != n_before && value_str(value_dig(pod, "spec", "nodeName")).n;
}

static int read_node(struct admission_request *req, const struct value *pod, struct value *ret,
                     struct err *err)
{
    struct str name = value_str(value_dig(pod, "spec", "nodeName"));
    int r = admission_read(req, STR(""), STR("nodes"), STR(""), name, ret, err);
    if (r != 0)
        return r < 0 ? r : 0;
    return admission_forbid_as(req, pod, err, "node %s not found", admission_quoted(req, name));
}

/* ---- Features ---- */

static bool resizes_pod(const struct value *spec, const struct value *old_spec)
{
    const struct value *now = value_get(spec, STR("resources")),
                       *before = value_get(old_spec, STR("resources"));
    return (now || before) && (!now || !before || !value_eq(now, before));
}

static bool same(const struct value *x, const struct value *y)
{
    return x == y || (x && y && value_eq(x, y));
}

static bool resizes_init_container(const struct value *spec, const struct value *old_spec)
{
    const struct value *now = value_get(spec, STR("initContainers"));
    size_t i = 0;
    value_each_item (it, value_get(old_spec, STR("initContainers"))) {
        const struct value *other = value_at(now, i++);
        if (!validate_is_sidecar(it) &&
            !same(value_get(it, STR("resources")), value_get(other, STR("resources"))))
            return true;
    }
    return false;
}

static struct str memory_limit(const struct value *volume)
{
    const struct value *dir = value_get(volume, STR("emptyDir"));
    bool is_memory = str_eq(value_text(dir, "medium"), STR("Memory"));
    return is_memory ? value_text(dir, "sizeLimit") : STR("");
}

static bool resizes_volume(const struct value *spec, const struct value *old_spec)
{
    const struct value *now = value_get(spec, STR("volumes")),
                       *before = value_get(old_spec, STR("volumes"));
    if (!value_is(now, VALUE_ARRAY) || !value_is(before, VALUE_ARRAY) || now->n != before->n)
        return false;
    for (size_t i = 0; i < now->n; i++) {
        struct str limit = memory_limit(value_at(now, i)),
                   old_limit = value_str(value_dig(value_at(before, i), "emptyDir", "sizeLimit"));
        bool is_one =
            str_eq(value_text(value_at(now, i), "name"), value_text(value_at(before, i), "name"));
        if (is_one && limit.n && old_limit.n && quantity_cmp(limit, old_limit) != 0)
            return true;
    }
    return false;
}

/* By name. */
static const struct {
    const char *name;
    bool (*is_needed)(const struct value *spec, const struct value *old_spec);
} features[] = {
    { "InPlacePodLevelResourcesVerticalScaling", resizes_pod },
    { "InPlacePodVerticalScalingInitContainers", resizes_init_container },
    { "InPlacePodVerticalScalingMemoryBackedVolumes", resizes_volume },
};

static bool declares(const struct value *node, const char *feature)
{
    value_each_item (it, value_dig(node, "status", "declaredFeatures"))
        if (str_eq(value_str(it), str_of(feature)))
            return true;
    return false;
}

static int check_features(struct admission_request *req, const struct value *pod, struct err *err)
{
    const struct value *spec = value_get(pod, STR("spec")),
                       *old_spec = value_get(req->old_obj, STR("spec"));
    bool is_needed[ARRAY_LEN(features)], any = false;
    autobuf missing = { 0 };
    struct value node;
    if (!is_change(req, pod))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(features); i++) {
        is_needed[i] = features[i].is_needed(spec, old_spec);
        any |= is_needed[i];
    }
    int r = any ? read_node(req, pod, &node, err) : 0;
    if (r < 0 || !any)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(features); i++)
        if (is_needed[i] && !declares(&node, features[i].name))
            buf_printf(&missing, "%s%s", missing.n ? ", " : "", features[i].name);
    if (!missing.n)
        return 0;
    return admission_forbid_as(
        req, pod, err,
        "pod update requires features " STR_FMT " which are not available on node %s",
        STR_ARG(buf_str(&missing)), admission_quoted(req, value_text(spec, "nodeName")));
}

/* ---- Sizes ---- */

static struct str request_of(struct arena *a, const struct value *spec, struct str name)
{
    struct str own = value_str(value_get(value_dig(spec, "resources", "requests"), name)),
               overhead = value_str(value_get(value_get(spec, STR("overhead")), name));
    struct str sum = own.n ? own : validate_pod_aggregate(a, spec, STR("requests"), name);
    if (!overhead.n || !sum.n)
        return overhead.n ? overhead : sum;
    return quantity_add(a, sum, overhead);
}

static void check_size(struct admission_request *req, const struct value *spec,
                       const struct value *node, struct str name, struct buf *why)
{
    struct str wanted = request_of(req->arena, spec, name),
               there = value_str(value_get(value_dig(node, "status", "allocatable"), name));
    bool in_milli = str_eq(name, STR("cpu"));
    int64_t n_wanted = INT64_MAX, n_there = INT64_MAX;
    if (!there.n)
        there = STR("0");
    if (!wanted.n || quantity_cmp(wanted, there) <= 0)
        return;
    (void)quantity_units(wanted, in_milli, &n_wanted);
    (void)quantity_units(there, in_milli, &n_there);
    buf_printf(why, "%s" STR_FMT ", requested: %lld, allocatable: %lld", why->n ? "; " : "",
               STR_ARG(name), (long long)n_wanted, (long long)n_there);
}

static int refuse(struct admission_request *req, const struct value *pod, const char *cause,
                  struct str why, struct err *err)
{
    int r = admission_forbid(req, pod, why, err);
    err_add_cause(err, str_of(cause), STR(""), STR(""));
    return r;
}

static int check_resize(struct admission_request *req, const struct value *pod, struct err *err)
{
    const struct value *spec = value_get(pod, STR("spec"));
    autobuf why = { 0 };
    struct value node;
    if (!is_change(req, pod))
        return 0;
    int r = read_node(req, pod, &node, err);
    if (r < 0)
        return r;
    struct str os =
        value_str(value_get(value_dig(&node, "metadata", "labels"), STR("kubernetes.io/os")));
    if (os.n && !str_eq(os, STR("linux")))
        return refuse(req, pod, "UnsupportedPlatform",
                      arena_printf(req->arena,
                                   "pod resize is only supported on linux nodes, node %s is %s",
                                   admission_quoted(req, value_text(spec, "nodeName")),
                                   admission_quoted(req, os)),
                      err);
    check_size(req, spec, &node, STR("cpu"), &why);
    check_size(req, spec, &node, STR("memory"), &why);
    if (!why.n)
        return 0;
    return refuse(req, pod, "NodeCapacity",
                  arena_printf(req->arena,
                               "node didn't have enough allocatable resources: " STR_FMT,
                               STR_ARG(buf_str(&why))),
                  err);
}

static const struct admission_target changes[] = {
    { STR(""), STR("pods"), ADMISSION_UPDATE },
    { STR(""), STR("pods"), ADMISSION_UPDATE, STR("resize") },
    { .operations = 0 },
};
static const struct admission_target resizes[] = {
    { STR(""), STR("pods"), ADMISSION_UPDATE, STR("resize") },
    { .operations = 0 },
};

const struct admission_plugin plugin_declared_features = {
    .name = "NodeDeclaredFeatureValidator",
    .targets = changes,
    .validate = check_features,
};
const struct admission_plugin plugin_pod_resize = {
    .name = "PodResizeValidator",
    .targets = resizes,
    .validate = check_resize,
};
