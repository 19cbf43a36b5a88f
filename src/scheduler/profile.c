#include "scheduler/profile.h"

#include "base/clock.h"
#include "base/idiom.h"
#include "scheduler/profile_args.h"
#include "base/banned.h"

static void init_profile(struct profile *p)
{
    *p = (struct profile){ .name = STR("default-scheduler"), .preempts = true };
    profile_args_init(p);
    for (int i = 0; i < N_PLUGINS; i++) {
        p->filters[i] = p->scores[i] = true;
        p->weights[i] = cycle_plugins[i].weight;
    }
}

void profiles_init(struct profiles *all)
{
    *all = (struct profiles){ .n = 1,
                              .first_pause_ns = NS_PER_SEC,
                              .longest_pause_ns = 10 * NS_PER_SEC };
    init_profile(&all->items[0]);
}

const struct profile *profiles_find(const struct profiles *all, struct str name)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->items[i].name, name))
            return &all->items[i];
    return NULL;
}

/* ---- Plugins ---- */

/* Which parts of a plugin an extension point is about. */
struct point {
    const char *name;
    bool filters, scores, preempts;
};

static const struct point points[] = {
    { "multiPoint", true, true, true }, { "preFilter", true, false, false },
    { "filter", true, false, false },   { "preScore", false, true, false },
    { "score", false, true, false },    { "postFilter", false, false, true },
};

static int find_plugin(struct str name)
{
    for (int i = 0; i < N_PLUGINS; i++)
        if (str_eq(name, str_of(cycle_plugins[i].name)))
            return i;
    return -1;
}

/* Plugins that are parts of the scheduler itself, or have nothing to do here. */
static bool is_built_in(struct str name)
{
    static const struct str names[] = { STR("PrioritySort"), STR("SchedulingGates"),
                                        STR("DefaultBinder"), STR("DefaultPreemption"),
                                        STR("NodeDeclaredFeatures") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

static void set_part(struct profile *p, const struct point *at, int plugin, bool on)
{
    if (at->filters)
        p->filters[plugin] = on;
    if (at->scores)
        p->scores[plugin] = on;
}

static void disable(struct profile *p, const struct point *at, struct str name)
{
    bool all = str_eq(name, STR("*"));
    for (int i = 0; i < N_PLUGINS; i++)
        if (all || i == find_plugin(name))
            set_part(p, at, i, false);
    if (at->preempts && (all || str_eq(name, STR("DefaultPreemption"))))
        p->preempts = false;
}

static int enable(struct profile *p, const struct point *at, const struct value *v, struct err *err)
{
    struct str name = value_text(v, "name");
    int plugin = find_plugin(name);
    int64_t weight = 0;
    if (at->preempts && str_eq(name, STR("DefaultPreemption")))
        p->preempts = true;
    if (plugin < 0 && is_built_in(name))
        return 0;
    if (plugin < 0)
        return err_set(err, ERR_INVALID, "there is no plugin \"" STR_FMT "\"", STR_ARG(name));
    set_part(p, at, plugin, true);
    if (at->scores && value_to_int(value_get(v, STR("weight")), &weight) && weight > 0)
        p->weights[plugin] = weight;
    return 0;
}

static int read_point(struct profile *p, const struct point *at, const struct value *v,
                      struct err *err)
{
    value_each_item (it, value_get(v, STR("disabled")))
        disable(p, at, value_text(it, "name"));
    value_each_item (it, value_get(v, STR("enabled"))) {
        int r = enable(p, at, it, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- All of it ---- */

static int read_profile(const struct value *v, struct profile *p, struct err *err)
{
    init_profile(p);
    if (value_text(v, "schedulerName").n)
        p->name = value_text(v, "schedulerName");
    const struct value *plugins = value_get(v, STR("plugins"));
    for (size_t i = 0; i < ARRAY_LEN(points); i++) {
        int r = read_point(p, &points[i], value_get(plugins, str_of(points[i].name)), err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_seconds(const struct value *config, struct str field, int64_t *ns, struct err *err)
{
    int64_t seconds;
    if (!value_get(config, field))
        return 0;
    if (!value_to_int(value_get(config, field), &seconds) || seconds < 1 || seconds > 86400)
        return err_set(err, ERR_INVALID, STR_FMT ": must be from 1 to 86400", STR_ARG(field));
    *ns = seconds * NS_PER_SEC;
    return 0;
}

static int read_profiles(struct arena *a, const struct value *list, struct profiles *ret,
                         struct err *err)
{
    struct field_errors faults = FIELD_ERRORS_INIT(a);
    const struct field_path path = field_child(NULL, STR("profiles"));
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return 0;
    if (list->n > PROFILES_MAX)
        return err_set(err, ERR_INVALID, "profiles: at most %d", PROFILES_MAX);
    ret->n = 0;
    value_each_item (it, list) {
        struct profile p;
        int r = read_profile(it, &p, err);
        if (r < 0)
            return err_wrap(err, "profiles[%zu]", ret->n);
        const struct field_path at = field_index(&path, ret->n);
        r = profile_args_read(a, &p, value_get(it, STR("pluginConfig")), &at, &faults, err);
        if (r < 0)
            return r;
        if (profiles_find(ret, p.name))
            return err_set(err, ERR_INVALID,
                           "profiles[%zu].schedulerName: there are two of \"" STR_FMT "\"", ret->n,
                           STR_ARG(p.name));
        ret->items[ret->n++] = p;
    }
    return faults.n ? err_set(err, ERR_INVALID, STR_FMT, STR_ARG(field_errors_text(&faults))) : 0;
}

int profiles_read(struct arena *a, const struct value *config, struct profiles *ret,
                  struct err *err)
{
    profiles_init(ret);
    if (!str_eq(value_text(config, "kind"), STR("KubeSchedulerConfiguration")) ||
        !str_starts(value_text(config, "apiVersion"), STR("kubescheduler.config.k8s.io/")))
        return err_set(err, ERR_INVALID, "it is not a KubeSchedulerConfiguration");
    (void)value_to_int(value_get(config, STR("percentageOfNodesToScore")), &ret->percent);
    if (ret->percent < 0 || ret->percent > 100)
        return err_set(err, ERR_INVALID, "percentageOfNodesToScore: must be from 0 to 100");
    int r = read_seconds(config, STR("podInitialBackoffSeconds"), &ret->first_pause_ns, err);
    if (r < 0)
        return r;
    r = read_seconds(config, STR("podMaxBackoffSeconds"), &ret->longest_pause_ns, err);
    if (r < 0)
        return r;
    if (ret->longest_pause_ns < ret->first_pause_ns)
        return err_set(err, ERR_INVALID,
                       "podMaxBackoffSeconds: must not be below podInitialBackoffSeconds");
    return read_profiles(a, value_get(config, STR("profiles")), ret, err);
}
