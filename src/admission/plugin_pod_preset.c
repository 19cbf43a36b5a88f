/* PodPreset: what new pods of a namespace get beside what they ask for, by their labels. Kubernetes
 * had it up to 1.19, and so do we where its API is served (--api-versions all).
 *
 * All presets that match are merged, or none: a pod that one of them conflicts with stays as it is,
 * and only the log says so. An entry that is there already is no conflict if it is the same. Once
 * merged, merging again changes nothing. */
#include "admission/memory.h"
#include "admission/plugins.h"
#include "api/text_set.h"
#include "api/validate/initializers.h"
#include "auth/node_refs.h"
#include "base/idiom.h"
#include "base/log.h"
#include "select/labels.h"
#include "base/banned.h"

#define PREFIX "podpreset.admission.kubernetes.io/"

/* ---- What is remembered ---- */

struct preset {
    struct preset *next;
    struct str ns, name, rev;
    struct labels_selector selector;
    struct str fault; /* of the selector; empty: none */
    const struct value *spec;
};

struct presets {
    struct arena *arena;
    struct preset *first, **end;
};

static int take_preset(void *to, const struct value *obj)
{
    struct presets *all = to;
    struct preset *p = arena_new(all->arena, struct preset);
    struct value *copy = arena_new(all->arena, struct value);
    struct err err = ERR_INIT(all->arena);
    if (initializers_of(obj)) /* it does not count yet */
        return 0;
    *copy = value_clone(all->arena, obj);
    *p = (struct preset){ .ns = value_str(value_dig(copy, "metadata", "namespace")),
                          .name = value_str(value_dig(copy, "metadata", "name")),
                          .rev = value_str(value_dig(copy, "metadata", "resourceVersion")),
                          .spec = value_get(copy, STR("spec")) };
    /* Without a selector everything is meant, as with an empty one. */
    const struct value *selector = value_get(p->spec, STR("selector"));
    if (selector && labels_from_value(all->arena, selector, &p->selector, &err) < 0)
        p->fault = err.msg;
    *all->end = p;
    all->end = &p->next;
    return 0;
}

static int make(struct admission_request *req, struct arena *a, const void **ret, struct err *err)
{
    struct presets all = { .arena = a, .end = &all.first };
    int r = admission_each(req, STR("settings.k8s.io"), STR("podpresets"), STR(""), take_preset,
                           &all, err);
    if (r < 0)
        return r;
    *ret = all.first;
    return 0;
}

static const struct admission_source made_of[] = {
    { STR("settings.k8s.io"), STR("podpresets") },
    { STR(""), STR("") },
};

static const struct admission_memo memo = { .made_of = made_of, .make = make };

/* ---- Which of them a pod gets ---- */

struct chosen {
    const struct preset **list;
    size_t n;
};

static int choose(struct admission_request *req, const struct preset *first,
                  const struct value *pod, struct chosen *ret, struct err *err)
{
    size_t n = 0;
    for (const struct preset *p = first; p; p = p->next)
        n++;
    ret->list = arena_array(req->arena, const struct preset *, n + 1);
    for (const struct preset *p = first; p; p = p->next) {
        if (!str_eq(p->ns, req->ns))
            continue;
        if (p->fault.n)
            return err_set(err, ERR_UNKNOWN, "filtering pod presets failed: " STR_FMT,
                           STR_ARG(p->fault));
        if (labels_match_value(&p->selector, value_dig(pod, "metadata", "labels")))
            ret->list[ret->n++] = p;
    }
    return 0;
}

/* ---- Merging lists ---- */

/* Of several with one key the last counts. */
static void index_list(struct text_set *to, const struct value *list, struct str key)
{
    text_set_init(to);
    for (size_t i = value_is(list, VALUE_ARRAY) ? list->n : 0; i > 0; i--)
        (void)text_set_add(to, value_str(value_get(value_at(list, i - 1), key)),
                           value_at(list, i - 1));
}

/* What is there under its key already, or `it` itself, which is noted then. */
static const struct value *known(struct text_set *set, const struct value *it, struct str key)
{
    struct str text = value_str(value_get(it, key));
    return text_set_add(set, text, it) ? it : text_set_get(set, text);
}

static struct value copy_of(struct arena *a, const struct value *list)
{
    struct value ret = value_array();
    value_each_item (it, list)
        value_put_item(a, &ret, value_borrow(it));
    return ret;
}

/* A list whose items have one key, or for `other_key` two. False: there is a conflict. */
static bool merge_list(struct arena *a, const struct chosen *c, struct str field,
                       struct str other_key, const struct value *list, struct value *ret)
{
    autoset by_name, by_other;
    index_list(&by_name, list, STR("name"));
    index_list(&by_other, other_key.n ? list : NULL, other_key);
    *ret = copy_of(a, list);
    for (size_t i = 0; i < c->n; i++)
        value_each_item (it, value_get(c->list[i]->spec, field)) {
            const struct value *there = known(&by_name, it, STR("name"));
            if (!value_eq(there, it) ||
                (other_key.n && !value_eq(known(&by_other, it, other_key), it)))
                return false;
            if (there == it)
                value_put_item(a, ret, value_borrow(it));
        }
    return true;
}

static struct str source_key(struct arena *a, const struct value *source)
{
    struct str map = value_str(value_dig(source, "configMapRef", "name")),
               secret = value_str(value_dig(source, "secretRef", "name"));
    return arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(value_text(source, "prefix")),
                        STR_ARG(map), STR_ARG(secret));
}

/* Sources are no reason for a conflict: where one is there in another form a container loses all
 * of its own, as upstream's did. Those of two presets do not know of each other. */
static struct value merge_sources(struct arena *a, const struct chosen *c, const struct value *list)
{
    struct value ret = copy_of(a, list);
    autoset seen;
    text_set_init(&seen);
    for (size_t i = value_is(list, VALUE_ARRAY) ? list->n : 0; i > 0; i--)
        (void)text_set_add(&seen, source_key(a, value_at(list, i - 1)), value_at(list, i - 1));
    for (size_t i = 0; i < c->n; i++)
        value_each_item (it, value_get(c->list[i]->spec, STR("envFrom"))) {
            const struct value *there = text_set_get(&seen, source_key(a, it));
            if (there && !value_eq(there, it))
                return value_array();
            if (!there)
                value_put_item(a, &ret, value_borrow(it));
        }
    return ret;
}

/* ---- Merging pods ---- */

static void put_list(struct arena *a, struct value *obj, struct str field, struct value list)
{
    if (list.n)
        value_put(a, obj, field, list);
    else
        value_drop(a, obj, field);
}

static bool merge_container(struct arena *a, const struct chosen *c, struct value *container)
{
    struct value env, mounts;
    if (!merge_list(a, c, STR("env"), STR(""), value_get(container, STR("env")), &env) ||
        !merge_list(a, c, STR("volumeMounts"), STR("mountPath"),
                    value_get(container, STR("volumeMounts")), &mounts))
        return false;
    put_list(a, container, STR("env"), env);
    put_list(a, container, STR("volumeMounts"), mounts);
    put_list(a, container, STR("envFrom"),
             merge_sources(a, c, value_get(container, STR("envFrom"))));
    return true;
}

static bool merge_containers(struct arena *a, const struct chosen *c, struct value *spec,
                             struct str field)
{
    struct value *list = value_edit(a, spec, field);
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++)
        if (!merge_container(a, c, value_edit_at(a, list, i)))
            return false;
    return true;
}

/* Ephemeral containers get nothing, but may conflict. */
static bool merge_spec(struct arena *a, const struct chosen *c, struct value *spec)
{
    struct value volumes, unused = value_share(spec);
    if (!merge_list(a, c, STR("volumes"), STR(""), value_get(spec, STR("volumes")), &volumes) ||
        !merge_containers(a, c, &unused, STR("ephemeralContainers")) ||
        !merge_containers(a, c, spec, STR("containers")) ||
        !merge_containers(a, c, spec, STR("initContainers")))
        return false;
    put_list(a, spec, STR("volumes"), volumes);
    return true;
}

static void annotate(struct arena *a, const struct chosen *c, struct value *pod)
{
    struct value *annotations =
        value_ensure(a, value_ensure(a, pod, STR("metadata")), STR("annotations"));
    for (size_t i = 0; i < c->n; i++)
        value_put(a, annotations,
                  arena_printf(a, PREFIX "podpreset-" STR_FMT, STR_ARG(c->list[i]->name)),
                  value_string(arena_str(a, c->list[i]->rev)));
}

static void apply(struct admission_request *req, const struct chosen *c, struct value *pod)
{
    struct arena *a = req->arena;
    struct value *spec = value_ensure(a, pod, STR("spec"));
    struct value merged = value_share(spec);
    if (!merge_spec(a, c, &merged)) {
        log_warn("a pod conflicts with its presets and gets none of them",
                 LOG_STR("namespace", req->ns), LOG_STR("pod", req->name));
        return;
    }
    /* What was remembered may be forgotten before the pod is written. */
    *spec = value_clone(a, &merged);
    annotate(a, c, pod);
}

static bool is_excluded(const struct value *pod)
{
    const struct value *annotations = value_dig(pod, "metadata", "annotations");
    return node_refs_is_mirror(pod) ||
           str_eq(value_str(value_get(annotations, STR(PREFIX "exclude"))), STR("true"));
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    struct admission_recalled *all;
    struct chosen chosen = { 0 };
    if (is_excluded(pod))
        return 0;
    int r = admission_recall(req, &all, err);
    if (r < 0)
        return r;
    r = choose(req, admission_recalled(all), pod, &chosen, err);
    if (r == 0 && chosen.n)
        apply(req, &chosen, pod);
    admission_release(all);
    return r;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_pod_preset = {
    .name = "PodPreset",
    .is_off = true,
    .targets = targets,
    .memo = &memo,
    .mutate = mutate,
};
