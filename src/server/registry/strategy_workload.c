/* Jobs, whose pods are found by labels that the server makes, DaemonSets, whose templates are
 * counted, claims of devices, and presets of pods. */
#include "api/keys.h"
#include "base/map.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

/* ---- Jobs ---- */

static void fill_label(struct arena *a, struct value *labels, struct str key, struct str value)
{
    if (!value_get(labels, key))
        value_put(a, labels, key, value_string(value));
}

/* A Job without labels gets those of its template, by default. Such labels share their fields with
 * the template's; labels that the client wrote do not. */
static bool has_template_labels(const struct value *obj)
{
    const struct value *labels = value_dig(obj, "spec", "template", "metadata", "labels"),
                       *own = value_dig(obj, "metadata", "labels");
    return !value_is(own, VALUE_OBJECT) || !own->n ||
           (value_is(labels, VALUE_OBJECT) && labels->n && labels->fields == own->fields);
}

static void create_job(const struct strategy *s, struct value *obj)
{
    static const struct str name_keys[] = { STR(KEY_OLD_JOB_NAME), STR(KEY_JOB_NAME) };
    static const struct str uid_keys[] = { STR(KEY_OLD_CONTROLLER_UID), STR(KEY_CONTROLLER_UID) };
    struct arena *a = s->arena;
    struct str name = value_str(value_dig(obj, "metadata", "name")),
               uid = value_str(value_dig(obj, "metadata", "uid"));
    struct value *spec = value_ensure(a, obj, STR("spec"));
    const struct value *manual = value_get(spec, STR("manualSelector"));
    if (value_is(manual, VALUE_BOOL) && manual->b)
        return;
    bool same_labels = has_template_labels(obj);
    struct value *template = value_ensure(a, spec, STR("template"));
    struct value *labels =
        value_ensure(a, value_ensure(a, template, STR("metadata")), STR("labels"));
    for (size_t i = 0; i < 2; i++) {
        fill_label(a, labels, name_keys[i], name);
        fill_label(a, labels, uid_keys[i], uid);
    }
    struct value *selector = value_ensure(a, spec, STR("selector"));
    fill_label(a, value_ensure(a, selector, STR("matchLabels")), uid_keys[1], uid);
    if (same_labels)
        value_put(a, value_ensure(a, obj, STR("metadata")), STR("labels"), value_share(labels));
}

/* ---- DaemonSets ---- */

static const struct str template_key = STR(KEY_TEMPLATE_GENERATION);

/* apps/v1 has no field templateGeneration. An annotation holds it. */
static int64_t template_generation(const struct value *obj)
{
    int64_t generation = 0;
    struct str text = value_str(value_get(value_dig(obj, "metadata", "annotations"), template_key));
    return str_to_i64(text, &generation) ? generation : 0;
}

static void set_template_generation(struct arena *a, struct value *obj, int64_t generation)
{
    struct value *annotations =
        value_ensure(a, value_ensure(a, obj, STR("metadata")), STR("annotations"));
    value_put(a, annotations, template_key,
              value_string(arena_printf(a, "%lld", (long long)generation)));
}

static void create_daemon_set(const struct strategy *s, struct value *obj)
{
    int64_t generation = template_generation(obj);
    set_template_generation(s->arena, obj, generation < 1 ? 1 : generation);
}

static void update_daemon_set(const struct strategy *s, struct value *obj,
                              const struct value *old_obj)
{
    bool same =
        strategy__same(value_dig(obj, "spec", "template"), value_dig(old_obj, "spec", "template"));
    set_template_generation(s->arena, obj, template_generation(old_obj) + !same);
}

/* An update of the status does not change the annotation. */
static void update_daemon_set_status(const struct strategy *s, struct value *obj,
                                     const struct value *old_obj)
{
    set_template_generation(s->arena, obj, template_generation(old_obj));
}

/* ---- Device claims ---- */

/* Which device, of which share. */
static struct str device_key(struct arena *a, const struct value *device)
{
    return arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT,
                        STR_ARG(value_text(device, "driver")), STR_ARG(value_text(device, "pool")),
                        STR_ARG(value_text(device, "device")),
                        STR_ARG(value_text(device, "shareID")));
}

/* The devices that the old status has and the new one has no longer. */
static void find_given_back(struct arena *a, const struct value *status,
                            const struct value *old_status, struct map *ret)
{
    value_each_item (it, value_dig(old_status, "allocation", "devices", "results"))
        (void)map_set(ret, device_key(a, it), (void *)(uintptr_t)it);
    value_each_item (it, value_dig(status, "allocation", "devices", "results"))
        (void)map_remove(ret, device_key(a, it));
}

/* The status of a device goes when the device is given back. */
static void update_claim_status(const struct strategy *s, struct value *obj,
                                const struct value *old_obj)
{
    const struct value *status = value_get(obj, STR("status")),
                       *devices = value_get(status, STR("devices"));
    struct value kept = value_array();
    struct map given_back = { 0 };
    if (!devices)
        return;
    find_given_back(s->arena, status, value_get(old_obj, STR("status")), &given_back);
    value_each_item (device, devices)
        if (!map_get(&given_back, device_key(s->arena, device)))
            value_put_item(s->arena, &kept, value_borrow(device));
    map_done(&given_back);
    struct value *edited = value_ensure(s->arena, obj, STR("status"));
    if (kept.n)
        value_put(s->arena, edited, STR("devices"), kept);
    else
        value_drop(s->arena, edited, STR("devices"));
}

/* A taint with another effect is a new one. */
static void update_taint_rule(const struct strategy *s, struct value *obj,
                              const struct value *old_obj)
{
    const struct value *taint = value_dig(obj, "spec", "taint"),
                       *old_taint = value_dig(old_obj, "spec", "taint");
    if (strategy__same(value_get(taint, STR("effect")), value_get(old_taint, STR("effect"))) ||
        !strategy__same(value_get(taint, STR("timeAdded")), value_get(old_taint, STR("timeAdded"))))
        return;
    struct value *spec = value_ensure(s->arena, obj, STR("spec"));
    value_put(s->arena, value_ensure(s->arena, spec, STR("taint")), STR("timeAdded"),
              value_string(s->now));
}

/* ---- PodPresets ---- */

/* Once made, a preset stays as it is. */
static void update_preset(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    strategy__keep(s->arena, obj, old_obj, STR("spec"));
}

const struct strategy_rules strategy__workload[] = {
    { STR("batch"), STR("jobs"), STRATEGY_GENERATION | STRATEGY_ORPHAN, .create = create_job },
    { STR("apps"), STR("daemonsets"), STRATEGY_GENERATION, create_daemon_set, update_daemon_set,
      update_daemon_set_status },
    { STR("resource.k8s.io"), STR("resourceclaims"), STRATEGY_STATUS_META,
      .update_status = update_claim_status },
    { STR("resource.k8s.io"), STR("devicetaintrules"),
      STRATEGY_GENERATION | STRATEGY_CONDITIONAL | STRATEGY_STATUS_META,
      .update = update_taint_rule },
    { STR("settings.k8s.io"), STR("podpresets"), STRATEGY_GENERATION | STRATEGY_GENERATION_ONCE,
      .update = update_preset },
    { .group = { NULL, 0 } },
};
