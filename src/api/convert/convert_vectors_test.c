/* The filled object of every kind, as Go wrote it, in every version that has the kind: what goes
 * from the hub to an old version and comes back is the same object, apart from what the old version
 * has no place for; and an update through the old version loses not even that. */
#include "api/convert/convert.h"

#include "api/convert/convert_check_test.h"
#include "api/codec/round_trip_test.h"
#include "base/idiom.h"

static struct vectors_count to_old = { .name = "hub to old and back" },
                            kept = { .name = "updates through old versions" },
                            to_hub = { .name = "old to hub and back" };

/* ---- What has no place ---- */

static struct place {
    const char *version, *kind; /* of the old one */
    const char
        *path; /* and all below it: of the hub, or of the old one on the way to it and back */
    const char *why;
    bool met;
} places[] = {
#define CRD  "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"
#define HPA  "HorizontalPodAutoscaler"
#define RBAC "rbac.authorization.k8s.io/v1alpha1"
    { CRD, ".spec.version", "is the name of the first of the versions" },
    { CRD, ".spec.versions", "what is said of all at once is not said of each" },
    { "apps/v1beta1", "Scale", ".status.selector", "the text beside it counts" },
    { "apps/v1beta2", "Scale", ".status.selector", "the text beside it counts" },
    { "extensions/v1beta1", "Scale", ".status.selector", "the text beside it counts" },
    { "autoscaling/v1", HPA, ".metadata.annotations", "note the use of CPU too" },
    { "autoscaling/v1", HPA, ".spec.metrics", "each says what is for its type, by which it goes" },
    { "autoscaling/v1", HPA, ".status.currentMetrics", "each says what is for its type" },
    { "autoscaling/v2beta1", HPA, ".spec.metrics", "as in v1" },
    { "autoscaling/v2beta1", HPA, ".status.currentMetrics", "as in v1" },
    { "autoscaling/v2beta1", HPA, ".status.conditions.observedGeneration", "is new" },
    { "autoscaling/v2beta2", HPA, ".spec.behavior.scaleDown.tolerance", "is new" },
    { "autoscaling/v2beta2", HPA, ".spec.behavior.scaleUp.tolerance", "is new" },
    { "autoscaling/v2beta2", HPA, ".status.conditions.observedGeneration", "is new" },
    { "batch/v2alpha1", "CronJob", ".spec.timeZone", "is new" },
    { "batch/v2alpha1", "CronJob", ".status.lastSuccessfulTime", "is new" },
    { "certificates.k8s.io/v1beta1", "PodCertificateRequest", ".spec.pkixPublicKey",
      "is in the request that replaced it" },
    { "certificates.k8s.io/v1beta1", "PodCertificateRequest", ".spec.proofOfPossession",
      "is in the request that replaced it" },
    { "discovery.k8s.io/v1beta1", "EndpointSlice", ".endpoints.topology",
      "shows the node's name, which has a field of its own" },
    { "extensions/v1beta1", "DaemonSet", ".metadata.annotations",
      "count templates, from zero if nothing is said" },
    { "extensions/v1beta1", "Ingress", ".spec.defaultBackend.service.port.number",
      "the name beside it counts" },
    { "extensions/v1beta1", "Ingress", ".spec.rules.http.paths.backend.service.port.number",
      "the name beside it counts" },
    { "networking.k8s.io/v1beta1", "Ingress", ".spec.defaultBackend.service.port.number",
      "the name beside it counts" },
    { "networking.k8s.io/v1beta1", "Ingress", ".spec.rules.http.paths.backend.service.port.number",
      "the name beside it counts" },
    { RBAC, "ClusterRoleBinding", ".subjects.apiVersion", "only its group is kept" },
    { RBAC, "RoleBinding", ".subjects.apiVersion", "only its group is kept" },
};

static bool is_at_or_below(struct str path, struct str top)
{
    return str_starts(path, top) && (path.n == top.n || path.p[top.n] == '.');
}

static bool has_no_place(struct arena *a, const struct kind_type *old, struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct place *p = &places[i];
        if (str_eq(convert_api_version(a, old), str_of(p->version)) &&
            str_eq(old->name, str_of(p->kind)) && is_at_or_below(path, str_of(p->path))) {
            p->met = true;
            return true;
        }
    }
    return false;
}

static bool all_were_met(void)
{
    bool good = true;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (!places[i].met)
            printf("%s %s has a place for %s\n", places[i].version, places[i].kind, places[i].path);
        good = good && places[i].met;
    }
    return good;
}

static bool is_none(const struct value *v)
{
    return !v || v->type == VALUE_NULL;
}

static bool same(struct arena *a, const struct kind_type *old, struct str path,
                 const struct value *got, const struct value *want);

static bool same_fields(struct arena *a, const struct kind_type *old, struct str path,
                        const struct value *got, const struct value *want)
{
    bool good = true;
    value_each_field (w, want) {
        struct str at = arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(w->key));
        good = same(a, old, at, value_get(got, w->key), &w->val) && good;
    }
    value_each_field (g, got) {
        struct str at = arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(g->key));
        good = (value_get(want, g->key) || same(a, old, at, &g->val, NULL)) && good;
    }
    return good;
}

/* Whether all is the same apart from what has no place in `old`. Paths have no indexes. */
static bool same(struct arena *a, const struct kind_type *old, struct str path,
                 const struct value *got, const struct value *want)
{
    if (is_none(got) && is_none(want))
        return true;
    if (value_is(got, VALUE_OBJECT) && value_is(want, VALUE_OBJECT))
        return same_fields(a, old, path, got, want);
    if (value_is(got, VALUE_ARRAY) && value_is(want, VALUE_ARRAY) && got->n == want->n) {
        bool good = true;
        for (size_t i = 0; i < got->n; i++)
            good = same(a, old, path, &got->items[i], &want->items[i]) && good;
        return good;
    }
    if (value_eq(got, want) || has_no_place(a, old, path))
        return true;
    printf(STR_FMT " " STR_FMT ": " STR_FMT " differs\n", STR_ARG(convert_api_version(a, old)),
           STR_ARG(old->name), STR_ARG(path));
    return false;
}

static bool convert(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                    struct value *in, struct value *ret)
{
    struct err err = ERR_INIT(a);
    if (convert_object(a, from, to, in, ret, &err) == 0)
        return true;
    printf(STR_FMT "\n", STR_ARG(err.msg));
    return false;
}

/* ---- Ways ---- */

static void check_through(struct round_trip *r, const struct kind_type *hub, struct value *obj,
                          const struct kind_type *old)
{
    struct arena *a = &r->arena;
    struct err err = ERR_INIT(a);
    struct value shown, back;
    struct str name =
        arena_printf(a, "%s through " STR_FMT, r->name, STR_ARG(convert_api_version(a, old)));
    if (!convert(a, hub, old, obj, &shown) || !convert(a, old, hub, &shown, &back)) {
        vectors_score(&to_old, false, str_cstr(a, name));
        return;
    }
    vectors_score(&to_old, same(a, old, STR(""), &back, obj), str_cstr(a, name));
    bool good = convert_keep(a, old, obj, &back, &err) == 0 && has_all_of(&back, obj);
    vectors_score(&kept, good, str_cstr(a, name));
}

static void check(struct round_trip *r)
{
    struct arena *a = &r->arena;
    struct value obj, stored, back;
    if (!round_trip_read(r, ROUND_TRIP_JSON, &obj)) {
        vectors_score(&to_hub, false, r->name);
        return;
    }
    const struct kind_type *hub = convert_hub(r->type);
    if (!convert(a, r->type, hub, &obj, &stored) || !convert(a, hub, r->type, &stored, &back)) {
        vectors_score(&to_hub, false, r->name);
        return;
    }
    vectors_score(&to_hub, same(a, r->type, STR(""), &back, &obj), r->name);
    for (size_t i = 0; i < n_kind_types; i++)
        if (&kind_types[i] != hub && convert_hub(&kind_types[i]) == hub)
            check_through(r, hub, &stored, &kind_types[i]);
}

int main(void)
{
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "k8s-roundtrip");
    arena_done(&a);
    if (!there)
        return VECTORS_SKIPPED;
    round_trips_each(check);
    bool good = vectors_report(&to_hub, 1);
    good = vectors_report(&to_old, 1) && good;
    good = vectors_report(&kept, 1) && good;
    return all_were_met() && good ? 0 : 1;
}
