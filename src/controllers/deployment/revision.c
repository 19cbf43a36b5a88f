#include "controllers/deployment/revision.h"

#include <sampan/meta.h>

#include "api/names.h"
#include "api/words.h"
#include "base/buf.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/template_hash.h"
#include "base/banned.h"

enum { HISTORY_BYTES_MAX = 2000 };

int64_t revision_of(const struct spn_value *object)
{
    int64_t n = 0;
    return str_to_i64(str_in(meta_annotation(object, ANNOTATION_REVISION)), &n) ? n : 0;
}

int64_t revision_max(const struct deployment_set *sets, size_t n)
{
    int64_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = sets[i].revision > max ? sets[i].revision : max;
    return max;
}

int64_t revision_last(const struct deployment_set *sets, size_t n)
{
    int64_t max = 0, second = 0;
    for (size_t i = 0; i < n; i++) {
        if (sets[i].revision >= max) {
            second = max;
            max = sets[i].revision;
        } else if (sets[i].revision > second) {
            second = sets[i].revision;
        }
    }
    return second;
}

/* ---- Templates ---- */

static struct spn_value *without_hash(struct spn_arena *a, const struct spn_value *template)
{
    struct spn_value *copy = spn_value_copy(a, template);
    struct spn_value *meta = spn_value_ensure(a, copy, "metadata");
    struct spn_value *labels = spn_value_edit(a, meta, "labels");
    if (labels)
        spn_value_remove(a, labels, LABEL_TEMPLATE_HASH);
    if (!spn_value_count(labels))
        spn_value_remove(a, meta, "labels");
    return copy;
}

bool revision_same_template(struct spn_arena *a, const struct spn_value *x,
                            const struct spn_value *y)
{
    if (!spn_value_eq(spn_value_get(x, "spec"), spn_value_get(y, "spec")))
        return false;
    return spn_value_eq(without_hash(a, x), without_hash(a, y));
}

/* ---- Annotations ---- */

/* Those that are a ReplicaSet's, or a Deployment's, own. */
static bool is_own_annotation(struct spn_text key)
{
    static const struct str own[] = {
        STR("kubectl.kubernetes.io/last-applied-configuration"),
        STR(ANNOTATION_REVISION),
        STR(ANNOTATION_HISTORY),
        STR(ANNOTATION_DESIRED),
        STR(ANNOTATION_MAX),
        STR(ANNOTATION_ROLLBACK),
    };
    return words_have(str_in(key), WORDS(own));
}

static bool set_annotation(struct spn_arena *a, struct spn_value *obj, const char *key,
                           struct spn_text value)
{
    struct spn_text old = meta_annotation(obj, key);
    if (old.p && spn_text_eq(old, value))
        return false;
    meta_annotate(a, obj, key, value);
    return true;
}

/* True: something has changed. */
static bool copy_annotations(struct spn_arena *a, const struct spn_value *from,
                             struct spn_value *to)
{
    bool is_changed = false;
    const struct spn_value *all = spn_value_dig(from, "metadata", "annotations");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_text key = spn_value_key_at(all, i);
        if (!is_own_annotation(key))
            is_changed |= set_annotation(a, to, spn_arena_text(a, key).p,
                                         spn_value_text(spn_value_at(all, i)));
    }
    return is_changed;
}

/* Drops the oldest ones where it would be too long. */
static void add_to_history(struct spn_arena *a, struct spn_value *set, struct spn_text old)
{
    struct str history = str_in(meta_annotation(set, ANNOTATION_HISTORY));
    while (history.n && history.n + old.n + 1 > HISTORY_BYTES_MAX)
        (void)str_cut(&history, ',');
    struct spn_text now =
        history.n ? spn_arena_printf(a, STR_FMT "," SPN_FMT, STR_ARG(history), SPN_ARG(old)) : old;
    meta_annotate(a, set, ANNOTATION_HISTORY, now);
}

bool revision_annotate(struct spn_arena *a, const struct spn_value *deployment,
                       struct spn_value *set, int64_t revision)
{
    bool is_changed = copy_annotations(a, deployment, set);
    struct spn_text old = spn_arena_text(a, meta_annotation(set, ANNOTATION_REVISION));
    int64_t old_number = 0;
    if (old.n && !str_to_i64(str_in(old), &old_number))
        return false;
    if (old_number >= revision)
        return is_changed;
    const bool had_one = spn_value_dig(set, "metadata", "annotations", ANNOTATION_REVISION);
    meta_annotate(a, set, ANNOTATION_REVISION, spn_arena_printf(a, "%lld", (long long)revision));
    if (had_one)
        add_to_history(a, set, old);
    return true;
}

bool revision_annotate_size(struct spn_arena *a, struct spn_value *set, const struct rollout *r)
{
    struct spn_text wanted = spn_arena_printf(a, "%lld", (long long)r->replicas);
    const long long most = r->replicas + r->max_surge;
    struct spn_text max = spn_arena_printf(a, "%lld", most);
    bool is_changed = set_annotation(a, set, ANNOTATION_DESIRED, wanted);
    return set_annotation(a, set, ANNOTATION_MAX, max) || is_changed;
}

/* ---- A new set ---- */

static struct spn_text set_name(struct spn_arena *a, struct spn_text deployment,
                                struct spn_text hash)
{
    size_t max = NAME_SUBDOMAIN_MAX - 1 - hash.n;
    if (deployment.n > max)
        deployment.n = max;
    return spn_arena_printf(a, SPN_FMT "-" SPN_FMT, SPN_ARG(deployment), SPN_ARG(hash));
}

struct spn_value *revision_new_set(struct spn_arena *a, const struct spn_value *deployment,
                                   const struct rollout *r, int64_t replicas, int64_t revision)
{
    const struct spn_value *spec = spn_value_get(deployment, "spec");
    const struct spn_value *template = spn_value_get(spec, "template");
    struct spn_text hash = template_hash(
        a, template, field_int(spn_value_dig(deployment, "status", "collisionCount"), -1));
    struct spn_value *set = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, set, "apiVersion", SPN_TEXT("apps/v1"));
    spn_value_set_text(a, set, "kind", SPN_TEXT("ReplicaSet"));
    struct spn_value *meta = spn_value_ensure(a, set, "metadata");
    spn_value_set_text(a, meta, "name", set_name(a, meta_name(deployment), hash));
    spn_value_set_text(a, meta, "namespace", meta_text(deployment, "namespace"));
    struct spn_value *labelled = spn_value_copy(a, template);
    struct spn_value *labels =
        spn_value_ensure(a, spn_value_ensure(a, labelled, "metadata"), "labels");
    spn_value_set_text(a, labels, LABEL_TEMPLATE_HASH, hash);
    spn_value_set(a, meta, "labels", spn_value_copy(a, labels));
    struct spn_value *set_spec = spn_value_ensure(a, set, "spec");
    spn_value_set_int(a, set_spec, "replicas", replicas);
    spn_value_set_int(a, set_spec, "minReadySeconds",
                      field_int(spn_value_get(spec, "minReadySeconds"), 0));
    struct spn_value *selector =
        spn_value_set(a, set_spec, "selector", spn_value_copy(a, spn_value_get(spec, "selector")));
    spn_value_set_text(a, spn_value_ensure(a, selector, "matchLabels"), LABEL_TEMPLATE_HASH, hash);
    spn_value_set(a, set_spec, "template", labelled);
    (void)spn_set_controller(a, set, deployment, NULL); /* it has no other */
    (void)revision_annotate(a, deployment, set, revision);
    (void)revision_annotate_size(a, set, r);
    return set;
}

/* ---- Back ---- */

void revision_roll_back(struct spn_arena *a, struct spn_value *deployment,
                        const struct spn_value *set)
{
    struct spn_value *spec = spn_value_ensure(a, deployment, "spec");
    spn_value_set(a, spec, "template", without_hash(a, spn_value_dig(set, "spec", "template")));
    struct spn_value *all =
        spn_value_ensure(a, spn_value_ensure(a, deployment, "metadata"), "annotations");
    for (size_t i = spn_value_count(all); i-- > 0;) {
        struct spn_text key = spn_arena_text(a, spn_value_key_at(all, i));
        if (!is_own_annotation(key))
            spn_value_remove(a, all, key.p);
    }
    (void)copy_annotations(a, set, deployment);
}
