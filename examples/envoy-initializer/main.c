/* envoy-initializer - gives new pods and deployments a sidecar before anybody sees them.
 *
 * A ConfigMap says what to add: `data.config` is YAML with `containers` and `volumes`. An object
 * waits while our name stands in metadata.initializers.pending. The library makes one patch of what
 * we change and takes the name away (sampan/initializer.h), so nothing is ever half done. */
#include <stdio.h>
#include <string.h>

#include <sampan/config.h>
#include <sampan/initializer.h>
#include <sampan/log.h>

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

struct injector {
    const char *name; /* of the initializer */
    struct spn_target config_map;
    bool requires_annotation;
};

static bool is_annotated(const struct spn_value *obj, const char *key)
{
    const struct spn_value *v = spn_value_dig(obj, "metadata", "annotations", key);
    return spn_text_eq(spn_value_text(v), SPN_TEXT("true"));
}

static int read_config(const struct injector *in, struct spn_work *w, struct spn_value **ret,
                       struct spn_err *err)
{
    struct spn_value *map;
    int r = spn_client_get(w->client, &in->config_map, &w->how, w->arena, &map, err);
    if (r < 0)
        return r;
    struct spn_text text = spn_value_text(spn_value_dig(map, "data", "config"));
    r = spn_value_read_yaml(w->arena, text, ret, err);
    if (r == 0 && spn_value_type(*ret) != SPN_OBJECT)
        r = spn_err_set(err, SPN_MALFORMED, "data.config says nothing");
    return r < 0 ? spn_err_wrap(err, "ConfigMap " SPN_FMT, SPN_ARG(in->config_map.name)) : 0;
}

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
        if (spn_value_find(list, "name", name))
            return spn_err_set(err, SPN_EXISTS,
                               "\"" SPN_FMT "\" cannot be added to %s: there is one already",
                               SPN_ARG(name), field);
        spn_value_push(a, list, spn_value_copy(a, item));
    }
    return 0;
}

static int inject(void *arg, struct spn_work *w, struct spn_value *obj, struct spn_err *err)
{
    const struct injector *in = arg;
    struct spn_value *config, *template = spn_value_edit(w->arena, obj, "spec");
    if (is_annotated(obj, INJECTED) || (in->requires_annotation && !is_annotated(obj, ANNOTATION)))
        return 0;
    int r = read_config(in, w, &config, err);
    if (r < 0)
        return r;
    if ((template = spn_value_edit(w->arena, template, "template"))) {
        struct spn_value *meta = spn_value_ensure(w->arena, template, "metadata");
        spn_value_set_text(w->arena, spn_value_ensure(w->arena, meta, "annotations"), INJECTED,
                           SPN_TEXT("true"));
    }
    struct spn_value *spec = spn_value_ensure(w->arena, template ? template : obj, "spec");
    r = add_items(w->arena, spec, "containers", spn_value_get(config, "containers"), err);
    return r < 0 ? r : add_items(w->arena, spec, "volumes", spn_value_get(config, "volumes"), err);
}

static int run(struct spn_client *client, struct spn_stop *stop, struct injector *in,
               struct spn_err *err)
{
    const struct spn_target pods = SPN_AT("", "v1", "pods", "", ""),
                            deployments = SPN_AT("apps", "v1", "deployments", "", "");
    struct spn_manager *m;
    struct spn_initializer_options opt = { .name = in->name,
                                           .workers = 4,
                                           .initialize = inject,
                                           .arg = in,
                                           .changed_reason = "SidecarAdded",
                                           .failed_reason = "SidecarConflict" };
    int r = spn_manager_new(&(struct spn_manager_options){ .client = client,
                                                           .stop = stop,
                                                           .name = "envoy-initializer" },
                            &m, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < 2; i++) {
        opt.kind = i ? "Deployment" : "Pod";
        opt.what = i ? deployments : pods;
        spn_manager_initializes(m, &opt);
    }
    r = spn_manager_run(m, err);
    spn_manager_free(m);
    return r;
}

static int read_flags(char **argv, struct injector *ret, struct spn_err *err)
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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(help, stdout) < 0;
    struct spn_arena *a = spn_arena_new();
    struct spn_stop *stop = spn_stop_new();
    struct spn_config_options options = { 0 };
    struct spn_config config;
    struct spn_client *client = NULL;
    struct spn_err err = { 0 };
    struct injector in = { .name = "envoy.initializer.kubernetes.io",
                           .config_map = SPN_AT("", "v1", "configmaps", "", "envoy-initializer") };
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
