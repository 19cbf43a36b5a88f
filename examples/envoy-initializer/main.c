/* envoy-initializer - gives new pods and deployments a sidecar before anybody sees them.
 *
 * A ConfigMap says what to add: `data.config` is YAML with `containers` and `volumes`. An object
 * waits while our name stands in metadata.initializers.pending. When the name is the first one, one
 * patch adds all of it and takes the name away, so nothing is ever half done. The patch names the
 * revision that we have seen: if anybody else was faster, we look again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sampan/config.h>
#include <sampan/controller.h>
#include <sampan/log.h>
#include <sampan/patch.h>

#define ANNOTATION "initializer.kubernetes.io/envoy"
/* On the template of a deployment: its pods have the sidecar already. */
#define INJECTED "initializer.kubernetes.io/envoy-injected"

static const char help[] =
    "usage: envoy-initializer [--require-annotation] [--initializer-name NAME] [--configmap NAME]\n"
    "                         [FLAGS OF KUBECTL]\n"
    "\n"
    "  --require-annotation     only what is annotated " ANNOTATION ": \"true\" gets anything\n"
    "  --initializer-name NAME  ours in metadata.initializers.pending\n"
    "                           (envoy.initializer.kubernetes.io)\n"
    "  --configmap NAME         what to add, in the namespace of --namespace (envoy-initializer)\n"
    "  --kubeconfig FILE, --context NAME, --server URL, --namespace NAME, ...\n"
    "                           which server, and as whom, as for kubectl\n";

struct initializer {
    const char *name;
    struct spn_target config_map;
    bool requires_annotation;
};

/* Where the containers of a kind are. */
struct place {
    const struct initializer *of;
    const char *api_version, *kind;
    bool has_template;
};

/* ---- What an object says ---- */

static const struct spn_value *annotation(const struct spn_value *meta, const char *key)
{
    return spn_value_get(spn_value_get(meta, "annotations"), key);
}

static bool is_our_turn(const struct spn_value *obj, const char *name)
{
    const struct spn_value *pending = spn_value_dig(obj, "metadata", "initializers", "pending");
    return spn_text_eq(spn_value_text(spn_value_get(spn_value_at(pending, 0), "name")),
                       spn_text_of(name));
}

static bool is_true(const struct spn_value *v)
{
    return spn_text_eq(spn_value_text(v), SPN_TEXT("true"));
}

static bool wants_sidecar(const struct place *p, const struct spn_value *obj)
{
    const struct spn_value *meta = spn_value_get(obj, "metadata");
    return !is_true(annotation(meta, INJECTED)) &&
           (!p->of->requires_annotation || is_true(annotation(meta, ANNOTATION)));
}

static bool has_name(const struct spn_value *list, struct spn_text name)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(list, i), "name")), name))
            return true;
    return false;
}

/* ---- What becomes of it ---- */

/* SPN_EXISTS: there is one of that name already. */
static int add_items(struct spn_arena *a, struct spn_value *spec, const char *field,
                     const struct spn_value *more, struct spn_err *err)
{
    struct spn_value *list = spn_value_edit(a, spec, field);
    if (!list)
        list = spn_value_set(a, spec, field, spn_value_new(a, SPN_ARRAY));
    for (size_t i = 0; i < spn_value_count(more); i++) {
        const struct spn_value *item = spn_value_at(more, i);
        struct spn_text name = spn_value_text(spn_value_get(item, "name"));
        if (has_name(list, name))
            return spn_err_set(err, SPN_EXISTS,
                               "\"" SPN_FMT "\" cannot be added to %s: there is one already",
                               SPN_ARG(name), field);
        spn_value_push(a, list, spn_value_copy(a, item));
    }
    return 0;
}

static int inject(const struct place *p, struct spn_arena *a, struct spn_value *obj,
                  const struct spn_value *config, struct spn_err *err)
{
    struct spn_value *of = obj;
    if (p->has_template) {
        of = spn_value_ensure(a, spn_value_ensure(a, obj, "spec"), "template");
        struct spn_value *meta = spn_value_ensure(a, of, "metadata");
        spn_value_set_text(a, spn_value_ensure(a, meta, "annotations"), INJECTED, SPN_TEXT("true"));
    }
    struct spn_value *spec = spn_value_ensure(a, of, "spec");
    int r = add_items(a, spec, "containers", spn_value_get(config, "containers"), err);
    return r < 0 ? r : add_items(a, spec, "volumes", spn_value_get(config, "volumes"), err);
}

/* The last one to go takes the whole list along: then the object is there for all. */
static void take_name_away(struct spn_arena *a, struct spn_value *obj)
{
    struct spn_value *meta = spn_value_edit(a, obj, "metadata");
    struct spn_value *pending =
        spn_value_edit(a, spn_value_edit(a, meta, "initializers"), "pending");
    if (spn_value_count(pending) > 1)
        spn_value_remove_at(a, pending, 0);
    else
        spn_value_remove(a, meta, "initializers");
}

/* ---- Calls ---- */

static int read_config(const struct initializer *in, struct spn_work *w, struct spn_value **ret,
                       struct spn_err *err)
{
    struct spn_value *map;
    int r = spn_client_get(w->client, &in->config_map, &w->how, w->arena, &map, err);
    if (r == 0)
        r = spn_value_read_yaml(w->arena, spn_value_text(spn_value_dig(map, "data", "config")), ret,
                                err);
    if (r == 0 && spn_value_type(*ret) != SPN_OBJECT)
        r = spn_err_set(err, SPN_MALFORMED, "data.config says nothing");
    return r < 0 ? spn_err_wrap(err, "ConfigMap " SPN_FMT, SPN_ARG(in->config_map.name)) : 0;
}

/* From what we have seen to what we want, if nobody has changed it meanwhile. */
static int send_patch(struct spn_work *w, const struct spn_value *obj,
                      const struct spn_value *wanted, struct spn_err *err)
{
    char *patch = NULL, *why = NULL;
    struct spn_value *tree;
    int r = spn_patch_two_way(spn_value_json(w->arena, obj), spn_value_json(w->arena, wanted),
                              &patch, &why);
    if (r < 0) {
        r = spn_err_set(err, SPN_INVALID, "%s", why);
    } else if ((r = spn_value_read_json(w->arena, spn_text_of(patch), &tree, err)) == 0) {
        spn_value_set_text(w->arena, spn_value_ensure(w->arena, tree, "metadata"),
                           "resourceVersion",
                           spn_value_text(spn_value_dig(obj, "metadata", "resourceVersion")));
        r = spn_client_patch(w->client, &w->at, SPN_STRATEGIC_PATCH, spn_value_json(w->arena, tree),
                             &w->how, w->arena, NULL, err);
    }
    free(patch);
    free(why);
    return r;
}

/* Who waits for the object is told why there will be none, and it goes. */
static int refuse(struct spn_work *w, const struct spn_value *obj, struct spn_err *err)
{
    struct spn_text why = spn_arena_text(w->arena, spn_text_of(err->message));
    struct spn_value *wanted = spn_value_copy(w->arena, obj);
    struct spn_value *in =
        spn_value_ensure(w->arena, spn_value_edit(w->arena, wanted, "metadata"), "initializers");
    struct spn_value *result = spn_value_ensure(w->arena, in, "result");
    spn_value_set_text(w->arena, result, "status", SPN_TEXT("Failure"));
    spn_value_set_text(w->arena, result, "reason", SPN_TEXT("Conflict"));
    spn_value_set_text(w->arena, result, "message", why);
    spn_value_set_int(w->arena, result, "code", 409);
    int r = send_patch(w, obj, wanted, err);
    if (r == 0)
        spn_event(w->events, obj, SPN_WARNING, "SidecarConflict", SPN_FMT, SPN_ARG(why));
    return r;
}

static int initialize(const struct place *p, struct spn_work *w, const struct spn_value *obj,
                      struct spn_err *err)
{
    struct spn_value *wanted = spn_value_copy(w->arena, obj);
    bool wants = wants_sidecar(p, obj);
    if (wants) {
        struct spn_value *config = NULL;
        int r = read_config(p->of, w, &config, err);
        if (r < 0)
            return r;
        if (inject(p, w->arena, wanted, config, err) < 0)
            return refuse(w, obj, err);
    }
    take_name_away(w->arena, wanted);
    int r = send_patch(w, obj, wanted, err);
    if (r == -SPN_INVALID && wants)
        return refuse(w, obj, err);
    if (r == 0 && wants)
        spn_event(w->events, obj, SPN_NORMAL, "SidecarAdded", "from the ConfigMap " SPN_FMT,
                  SPN_ARG(p->of->config_map.name));
    return r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    const struct place *p = arg;
    struct spn_value *obj = spn_work_object(w);
    if (!obj || !is_our_turn(obj, p->of->name))
        return spn_done();
    spn_value_set_text(w->arena, obj, "apiVersion", spn_text_of(p->api_version));
    spn_value_set_text(w->arena, obj, "kind", spn_text_of(p->kind));
    int r = initialize(p, w, obj, err);
    /* Somebody was faster: the next one begins with what he has made of it. */
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

/* ---- The program ---- */

static int run(struct spn_client *client, struct spn_stop *stop, const struct initializer *in,
               struct spn_err *err)
{
    static const struct spn_target pods = SPN_AT("", "v1", "pods", "", ""),
                                   deployments = SPN_AT("apps", "v1", "deployments", "", "");
    static const struct spn_queue_options queue = { .max_delay_ms = 1000 };
    struct place places[] = { { in, "v1", "Pod", false }, { in, "apps/v1", "Deployment", true } };
    struct spn_manager *m;
    const struct spn_manager_options opt = { .client = client,
                                             .stop = stop,
                                             .name = "envoy-initializer" };
    int r = spn_manager_new(&opt, &m, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < 2; i++)
        spn_manager_add(m, &(struct spn_controller_options){ .name = places[i].kind,
                                                             .what = i ? deployments : pods,
                                                             .kind = places[i].kind,
                                                             .workers = 4,
                                                             .reconcile = reconcile,
                                                             .arg = &places[i],
                                                             .queue = queue });
    spn_client_show_uninitialized(client, true);
    r = spn_manager_run(m, err);
    spn_manager_free(m);
    return r;
}

static int read_flags(char **argv, struct initializer *ret, struct spn_err *err)
{
    for (; *argv; argv++) {
        if (strcmp(*argv, "--require-annotation") == 0)
            ret->requires_annotation = true;
        else if (strcmp(*argv, "--initializer-name") == 0 && argv[1])
            ret->name = *++argv;
        else if (strcmp(*argv, "--configmap") == 0 && argv[1])
            ret->config_map.name = spn_text_of(*++argv);
        else
            return spn_err_set(err, SPN_BAD_REQUEST, "%s makes no sense here; see --help", *argv);
    }
    return 0;
}

static int start(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_stop *stop = spn_stop_new();
    struct spn_config_options options = { 0 };
    struct spn_config config;
    struct spn_client *client = NULL;
    struct spn_err err = { 0 };
    struct initializer in = { .name = "envoy.initializer.kubernetes.io",
                              .config_map =
                                  SPN_AT("", "v1", "configmaps", "", "envoy-initializer") };
    (void)spn_stop_on_signals(stop);
    spn_log_to(spn_log_stderr, NULL, SPN_LOG_INFO);
    if (spn_config_flags(a, &argc, argv, &options, &err) == 0 &&
        read_flags(argv + 1, &in, &err) == 0 && spn_config_load(&options, a, &config, &err) == 0 &&
        spn_client_new(&config, &client, &err) == 0) {
        in.config_map.ns = config.ns;
        (void)run(client, stop, &in, &err);
    }
    if (err.code)
        fprintf(stderr, "envoy-initializer: %s\n", err.message);
    spn_client_free(client);
    spn_stop_free(stop);
    spn_arena_free(a);
    return err.code ? 1 : 0;
}

int main(int argc, char **argv)
{
    bool wants_help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (wants_help)
        fputs(help, stdout);
    return wants_help ? 0 : start(argc, argv);
}
