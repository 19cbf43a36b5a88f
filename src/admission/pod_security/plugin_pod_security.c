/* PodSecurity: pods are as secure as the labels of their namespace ask for. Of what makes pods
 * (Deployments, Jobs) nothing is enforced, but clients are warned and auditors told. When a
 * namespace gets a stricter level, clients are told which of its pods would not be let in now. */
#include <stdlib.h>

#include "admission/config.h"
#include "admission/plugins.h"
#include "admission/pod_security/pod_security_check.h"
#include "api/field_errors.h"
#include "api/text_set.h"
#include "api/words.h"
#include "base/clock.h"
#include "base/banned.h"

#define ANNOTATION(name) STR("pod-security.kubernetes.io/" name)

/* As many pods of a namespace are looked at, for so long. */
enum { PODS_MAX = 3000, PODS_SECONDS = 1 };

static int configure(struct arena *a, const struct value *tree, void **ret, struct err *err)
{
    struct pod_security_config *c = arena_new(a, struct pod_security_config);
    *c = pod_security_config_default;
    *ret = c;
    return tree ? pod_security_config_read(a, tree, c, err) : 0;
}

static const struct pod_security_config *config_of(const struct admission_request *req)
{
    const struct pod_security_config *c = admission_configured(req);
    return c ? c : &pod_security_config_default;
}

/* ---- Pods, and what makes them ---- */

/* One pod, held against several modes. */
struct evaluation {
    struct admission_request *req;
    const struct value *annotations, *spec;
    size_t n;
    struct {
        struct pod_security_mode mode;
        struct str faults; /* `PodSecurity "MODE": ...`; empty: it is secure enough */
    } known[3];
};

/* What was found for the same mode before counts again. */
static struct str evaluate(struct evaluation *e, const struct pod_security_mode *mode)
{
    struct arena *a = e->req->arena;
    struct pod_security_findings found;
    for (size_t i = 0; i < e->n; i++)
        if (pod_security_mode_eq(&e->known[i].mode, mode))
            return e->known[i].faults;
    pod_security_check(a, mode, e->annotations, e->spec, &found);
    struct str faults = STR("");
    if (found.n)
        faults = arena_printf(a, "PodSecurity \"" STR_FMT "\": " STR_FMT,
                              STR_ARG(pod_security_mode_text(a, mode)),
                              STR_ARG(pod_security_findings_text(a, &found, true)));
    e->known[e->n].mode = *mode;
    e->known[e->n++].faults = faults;
    return faults;
}

static struct str would_violate(struct arena *a, struct str faults)
{
    return arena_printf(a, "would violate " STR_FMT, STR_ARG(faults));
}

/* `obj` is a pod if its policy is enforced. */
static int check_pod(struct evaluation *e, const struct pod_security_policy *policy, bool enforces,
                     const struct value *obj, struct err *err)
{
    struct admission_request *req = e->req;
    struct arena *a = req->arena;
    struct str refused = STR("");
    if (enforces) {
        admission_annotate(req, ANNOTATION("enforce-policy"),
                           pod_security_mode_text(a, &policy->enforce));
        refused = evaluate(e, &policy->enforce);
    }
    struct str audited = evaluate(e, &policy->audit);
    if (audited.n)
        admission_annotate(req, ANNOTATION("audit-violations"), would_violate(a, audited));
    if (refused.n)
        return admission_forbid_as(req, obj, err, "violates " STR_FMT, STR_ARG(refused));
    struct str warned = evaluate(e, &policy->warn);
    if (warned.n)
        admission_warn(req, would_violate(a, warned));
    return 0;
}

static size_t count(const struct value *list)
{
    return value_is(list, VALUE_ARRAY) ? list->n : 0;
}

static bool have_other_images(const struct value *list, const struct value *old_list)
{
    if (count(list) != count(old_list))
        return true;
    for (size_t i = 0; i < count(list); i++)
        if (!str_eq(value_text(value_at(list, i), "image"),
                    value_text(value_at(old_list, i), "image")))
            return true;
    return false;
}

static bool have_new_ephemeral(const struct value *list, const struct value *old_list)
{
    autoset old;
    text_set_init(&old);
    value_each_item (it, old_list)
        (void)text_set_add(&old, value_text(it, "name"), it);
    value_each_item (it, list) {
        const struct value *was = text_set_get(&old, value_text(it, "name"));
        if (!was || !str_eq(value_text(it, "image"), value_text(was, "image")))
            return true;
    }
    return false;
}

/* Of the rest of a pod that can change nothing matters here. */
static bool is_significant(const struct value *pod, const struct value *old_pod)
{
    return have_other_images(value_dig(pod, "spec", "containers"),
                             value_dig(old_pod, "spec", "containers")) ||
           have_other_images(value_dig(pod, "spec", "initContainers"),
                             value_dig(old_pod, "spec", "initContainers")) ||
           have_new_ephemeral(value_dig(pod, "spec", "ephemeralContainers"),
                              value_dig(old_pod, "spec", "ephemeralContainers"));
}

/* Whether somebody is not held to any policy; auditors are told why. */
static bool is_exempt(struct admission_request *req)
{
    const struct pod_security_config *c = config_of(req);
    const char *why = pod_security_exempts(&c->namespaces, req->ns)                   ? "namespace"
                      : req->user && pod_security_exempts(&c->users, req->user->name) ? "user"
                                                                                      : NULL;
    if (why)
        admission_annotate(req, ANNOTATION("exempt"), str_of(why));
    return why;
}

/* The pod or its template: the object that has metadata and spec; NULL: there is none. */
static const struct value *pod_in(const struct admission_request *req, const struct value *obj)
{
    struct str plural = req->target->plural;
    if (str_eq(plural, STR("pods")))
        return obj;
    if (str_eq(plural, STR("podtemplates")))
        return value_get(obj, STR("template"));
    if (str_eq(plural, STR("cronjobs")))
        return value_dig(obj, "spec", "jobTemplate", "spec", "template");
    return value_dig(obj, "spec", "template");
}

static bool is_ignored(struct str sub)
{
    static const struct str paths[] = { STR("exec"),     STR("attach"), STR("binding"),
                                        STR("eviction"), STR("log"),    STR("portforward"),
                                        STR("proxy"),    STR("status") };
    return words_have(sub, WORDS(paths));
}

static int check_by_policy(struct admission_request *req, const struct pod_security_policy *policy,
                           const struct field_errors *faults, const struct value *obj,
                           struct err *err)
{
    bool is_pod = obj == pod_in(req, obj);
    const struct value *pod = pod_in(req, obj), *spec = value_get(pod, STR("spec"));
    struct evaluation e = { .req = req,
                            .annotations = value_dig(pod, "metadata", "annotations"),
                            .spec = spec };
    if (!pod)
        return 0;
    if (pod_security_exempts(&config_of(req)->runtime_classes,
                             value_text(spec, "runtimeClassName"))) {
        admission_annotate(req, ANNOTATION("exempt"), STR("runtimeClass"));
        return 0;
    }
    if (faults->n)
        admission_annotate(req, ANNOTATION("error"),
                           arena_printf(req->arena, "Failed to parse policy: " STR_FMT,
                                        STR_ARG(field_errors_text(faults))));
    return check_pod(&e, policy, is_pod, obj, err);
}

static int validate_pod(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct field_errors faults = FIELD_ERRORS_INIT(req->arena);
    bool is_pod = str_eq(req->target->plural, STR("pods"));
    struct value ns = value_object();
    if ((is_pod && is_ignored(req->sub)) || is_exempt(req))
        return 0;
    int r = admission_read(req, STR(""), STR("namespaces"), STR(""), req->ns, &ns, err);
    if (r < 0)
        return r;
    struct pod_security_policy policy = pod_security_policy_of(value_dig(&ns, "metadata", "labels"),
                                                               &config_of(req)->defaults, &faults);
    bool asks_nothing = policy.audit.level == POD_SECURITY_PRIVILEGED &&
                        policy.warn.level == POD_SECURITY_PRIVILEGED && !faults.n;
    if (!is_pod && asks_nothing)
        return 0;
    if (asks_nothing && policy.enforce.level == POD_SECURITY_PRIVILEGED) {
        admission_annotate(req, ANNOTATION("enforce-policy"), STR("privileged:latest"));
        return 0;
    }
    if (is_pod && req->old_obj && !is_significant(obj, req->old_obj))
        return 0;
    return check_by_policy(req, &policy, &faults, obj, err);
}

/* ---- Namespaces: which pods would not be let in any more ---- */

/* Pods that have the same faults. */
struct alike {
    struct str faults;
    struct str first; /* of their names */
    size_t n;
    struct alike *next;
};

/* One pod of each controller comes first: the others are most likely like it. */
struct survey {
    struct admission_request *req;
    const struct pod_security_mode *mode;
    const struct clock *clock;
    int64_t until_ns;
    struct arena scratch; /* for one pod */
    struct text_set controllers;
    struct value others; /* pods for which there was one of the same controller */
    size_t n;            /* pods that there are */
    size_t n_checked;
    bool is_over;   /* the time is */
    bool is_enough; /* no more need be read */
    struct alike *alike;
};

static void note_faults(struct survey *s, struct str faults, struct str name)
{
    struct arena *a = s->req->arena;
    struct alike *of = s->alike;
    while (of && !str_eq(of->faults, faults))
        of = of->next;
    if (!of) {
        of = arena_new(a, struct alike);
        *of = (struct alike){ .faults = arena_str(a, faults), .next = s->alike };
        s->alike = of;
    }
    if (!of->n++ || str_cmp(name, of->first) < 0)
        of->first = arena_str(a, name);
}

static void survey_pod(struct survey *s, const struct value *pod)
{
    struct pod_security_findings found;
    if (s->is_over || s->n_checked == PODS_MAX)
        return;
    arena_reset(&s->scratch);
    pod_security_check(&s->scratch, s->mode, value_dig(pod, "metadata", "annotations"),
                       value_get(pod, STR("spec")), &found);
    if (found.n)
        note_faults(s, pod_security_findings_text(&s->scratch, &found, false),
                    value_str(value_dig(pod, "metadata", "name")));
    s->n_checked++;
    s->is_over = clock_mono_ns(s->clock) > s->until_ns;
}

/* The uid of the controller; empty: it has none. */
static struct str controller_of(const struct value *pod)
{
    value_each_item (it, value_dig(pod, "metadata", "ownerReferences"))
        if (value_is_true(value_get(it, STR("controller"))))
            return value_text(it, "uid");
    return STR("");
}

static int take_pod(void *to, const struct value *pod)
{
    struct survey *s = to;
    struct arena *a = s->req->arena;
    struct str controller = controller_of(pod);
    if (pod_security_exempts(&config_of(s->req)->runtime_classes,
                             value_str(value_dig(pod, "spec", "runtimeClassName"))))
        return 0;
    s->n++;
    s->is_enough = (s->is_over || s->n_checked == PODS_MAX) && s->req->cluster->count_in &&
                   !config_of(s->req)->runtime_classes.n;
    if (s->is_enough)
        return -1;
    if (!controller.n || text_set_add(&s->controllers, arena_str(a, controller), s))
        survey_pod(s, pod);
    else if (s->n_checked + s->others.n < PODS_MAX)
        value_put_item(a, &s->others, value_clone(a, pod));
    return 0;
}

static void warn_of_pods(struct survey *s, struct str ns)
{
    struct admission_request *req = s->req;
    struct arena *a = req->arena;
    size_t n = 0;
    for (const struct alike *of = s->alike; of; of = of->next)
        n++;
    if (s->n_checked < s->n)
        admission_warn(req, arena_printf(a,
                                         "new PodSecurity enforce level only checked against the "
                                         "first %zu of %zu existing pods",
                                         s->n_checked, s->n));
    if (!n)
        return;
    admission_warn(req, arena_printf(a,
                                     "existing pods in namespace %s violate the new PodSecurity "
                                     "enforce level \"" STR_FMT "\"",
                                     admission_quoted(req, ns),
                                     STR_ARG(pod_security_mode_text(a, s->mode))));
    struct str *texts = arena_array(a, struct str, n);
    n = 0;
    for (const struct alike *of = s->alike; of; of = of->next) {
        struct str others = STR("");
        if (of->n > 1)
            others = arena_printf(a, " (and %zu other pod%s)", of->n - 1, of->n > 2 ? "s" : "");
        texts[n++] = arena_printf(a, STR_FMT STR_FMT ": " STR_FMT, STR_ARG(of->first),
                                  STR_ARG(others), STR_ARG(of->faults));
    }
    qsort(texts, n, sizeof(*texts), words_compare);
    for (size_t i = 0; i < n; i++)
        admission_warn(req, texts[i]);
}

/* Visits the pods. No more are read than are looked at, if the others can be counted. */
static int visit_pods(struct survey *s, struct str ns, struct err *err)
{
    uint64_t n;
    int r = admission_each_in(s->req, STR(""), STR("pods"), ns, take_pod, s, err);
    if (!s->is_enough)
        return r;
    r = s->req->cluster->count_in(s->req->arg, STR(""), STR("pods"), ns, &n, err);
    if (r < 0)
        return r;
    s->n = n;
    return 0;
}

static int survey_pods(struct admission_request *req, struct str ns,
                       const struct pod_security_mode *mode, struct err *err)
{
    const struct clock *clock = req->clock ? req->clock : &clock_system;
    struct survey s = { .req = req,
                        .mode = mode,
                        .clock = clock,
                        .until_ns = clock_mono_ns(clock) + PODS_SECONDS * NS_PER_SEC,
                        .others = value_array() };
    arena_init(&s.scratch);
    text_set_init(&s.controllers);
    int r = visit_pods(&s, ns, err);
    value_each_item (it, &s.others)
        survey_pod(&s, it);
    if (r < 0) {
        err_clear(err);
        admission_warn(req,
                       STR("failed to list pods while checking new PodSecurity enforce level"));
    } else {
        warn_of_pods(&s, ns);
    }
    text_set_done(&s.controllers);
    arena_done(&s.scratch);
    return 0;
}

static bool have_same_faults(const struct field_errors *a, const struct field_errors *b)
{
    const struct err_cause *x = a->first, *y = b->first;
    for (; x && y && str_eq(x->field, y->field) && str_eq(x->msg, y->msg); x = x->next)
        y = y->next;
    return !x && !y;
}

/* The labels of a namespace that nobody goes by. */
static void warn_of_exemption(struct admission_request *req, struct str name,
                              const struct value *labels, const struct pod_security_policy *policy)
{
    struct str ignored =
        pod_security_ignored(req->arena, labels, policy, &config_of(req)->defaults);
    if (ignored.n)
        admission_warn(
            req, arena_printf(req->arena,
                              "namespace %s is exempt from Pod Security, and the policy " STR_FMT
                              " will be ignored",
                              admission_quoted(req, name), STR_ARG(ignored)));
}

/* What was wrong with the labels before may stay so. */
static int validate_namespace(struct admission_request *req, const struct value *ns,
                              struct err *err)
{
    const struct pod_security_config *c = config_of(req);
    const struct value *labels = value_dig(ns, "metadata", "labels");
    struct field_errors faults = FIELD_ERRORS_INIT(req->arena),
                        old_faults = FIELD_ERRORS_INIT(req->arena);
    struct str name = value_str(value_dig(ns, "metadata", "name"));
    struct pod_security_policy policy = pod_security_policy_of(labels, &c->defaults, &faults), old;
    old = pod_security_policy_of(value_dig(req->old_obj, "metadata", "labels"), &c->defaults,
                                 &old_faults);
    if (faults.n && !(req->old_obj && have_same_faults(&faults, &old_faults)))
        return field_errors_report(&faults, req->stored->group, req->stored->type->name, name, err);
    if (req->old_obj &&
        (policy.enforce.level == POD_SECURITY_PRIVILEGED ||
         (policy.enforce.minor == old.enforce.minor && policy.enforce.level <= old.enforce.level)))
        return 0;
    if (pod_security_exempts(&c->namespaces, name)) {
        warn_of_exemption(req, name, labels, &policy);
        return 0;
    }
    return req->old_obj ? survey_pods(req, name, &policy.enforce, err) : 0;
}

/* ---- All of it ---- */

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    if (str_eq(req->target->plural, STR("namespaces")))
        return validate_namespace(req, obj, err);
    return validate_pod(req, obj, err);
}

enum { WRITES = ADMISSION_CREATE | ADMISSION_UPDATE };

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), WRITES, ADMISSION_ANY_PATH },
    { STR(""), STR("namespaces"), WRITES, STR("") },
    { STR(""), STR("replicationcontrollers"), WRITES, STR("") },
    { STR(""), STR("podtemplates"), WRITES, STR("") },
    { STR("apps"), STR("replicasets"), WRITES, STR("") },
    { STR("apps"), STR("deployments"), WRITES, STR("") },
    { STR("apps"), STR("statefulsets"), WRITES, STR("") },
    { STR("apps"), STR("daemonsets"), WRITES, STR("") },
    { STR("batch"), STR("jobs"), WRITES, STR("") },
    { STR("batch"), STR("cronjobs"), WRITES, STR("") },
    { .operations = 0 },
};

const struct admission_plugin plugin_pod_security = {
    .name = "PodSecurity",
    .targets = targets,
    .configure = configure,
    .validate = validate,
};
