/* hello-controller - gives every Greeting a ConfigMap with its text, and keeps it that way.
 *
 * usage: hello-controller [--kubeconfig FILE ...] [HEALTH-ADDRESS] */
#include <sampan/config.h>
#include <sampan/controller.h>
#include <sampan/log.h>
#include <sampan/meta.h>

#include <stdio.h>

static const struct spn_target greetings = SPN_AT("example.com", "v1", "greetings", "", "");
static const struct spn_target config_maps = SPN_AT("", "v1", "configmaps", "", "");

/* The ConfigMap as it should be: only the fields that we want to own. */
static struct spn_value *wanted_map(struct spn_work *w, struct spn_text text)
{
    struct spn_value *map = spn_value_new(w->arena, SPN_OBJECT);
    spn_value_set_text(w->arena, map, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(w->arena, map, "kind", SPN_TEXT("ConfigMap"));
    struct spn_value *meta = spn_value_ensure(w->arena, map, "metadata");
    spn_value_set_text(w->arena, meta, "name", w->name);
    spn_value_set_text(w->arena, meta, "namespace", w->ns);
    struct spn_value *data = spn_value_ensure(w->arena, map, "data");
    spn_value_set_text(w->arena, data, "greeting", text);
    return map;
}

/* Brings the ConfigMap to what it should be, if it is not there yet. */
static int keep_map(struct spn_work *w, const struct spn_value *greeting, struct spn_err *err)
{
    struct spn_text to = spn_value_text(spn_value_dig(greeting, "spec", "to"));
    struct spn_text text = spn_arena_printf(w->arena, "Hello, " SPN_FMT "!", SPN_ARG(to));
    struct spn_target at = config_maps;
    at.ns = w->ns;
    at.name = w->name;
    const struct spn_object *now = spn_work_cached(w, &at);
    const struct spn_value *map = now ? spn_object_value(now, w->arena) : NULL;
    if (spn_text_eq(spn_value_text(spn_value_dig(map, "data", "greeting")), text))
        return 0;
    struct spn_value *wanted = wanted_map(w, text);
    int r = spn_set_controller(w->arena, wanted, greeting, err);
    if (r < 0)
        return r;
    struct spn_call how = w->how;
    how.force = true;
    r = spn_client_apply(w->client, &at, wanted, &how, w->arena, NULL, err);
    if (r < 0)
        return spn_err_wrap(err, "apply the ConfigMap");
    spn_event(w->events, greeting, SPN_NORMAL, "Greeted", "the ConfigMap says: " SPN_FMT,
              SPN_ARG(text));
    return 0;
}

/* Tells the user how far we are. */
static int report(struct spn_work *w, struct spn_value *greeting, struct spn_err *err)
{
    const struct spn_condition ready = { .type = "Ready", .status = "True", .reason = "Greeted" };
    if (!spn_condition_set(w->arena, greeting, &ready))
        return 0;
    struct spn_target status = w->at;
    status.sub = SPN_TEXT("status");
    return spn_client_update(w->client, &status, greeting, &w->how, w->arena, NULL, err);
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    struct spn_value *greeting = spn_work_object(w);
    if (!greeting)
        return spn_done(); /* its ConfigMap goes with it */
    int r = keep_map(w, greeting, err);
    if (r < 0)
        return r;
    r = report(w, greeting, err);
    return r == -SPN_CONFLICT ? spn_again() : r;
}

static int run(struct spn_client *client, struct spn_stop *stop, const char *ns, const char *health,
               struct spn_err *err)
{
    struct spn_manager *m;
    const struct spn_election_options election = { .ns = ns, .name = "hello-controller" };
    int r = spn_manager_new(&(struct spn_manager_options){ .client = client,
                                                           .stop = stop,
                                                           .name = "hello-controller",
                                                           .election = &election,
                                                           .health_address = health },
                            &m, err);
    if (r < 0)
        return r;
    struct spn_controller *c =
        spn_manager_add(m, &(struct spn_controller_options){ .name = "greetings",
                                                             .what = greetings,
                                                             .kind = "Greeting",
                                                             .workers = 2,
                                                             .reconcile = reconcile });
    spn_controller_owns(c, &config_maps);
    r = spn_manager_run(m, err);
    spn_manager_free(m);
    return r;
}

int main(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_stop *stop = spn_stop_new();
    struct spn_config_options options = { 0 };
    struct spn_config config;
    struct spn_client *client = NULL;
    struct spn_err err = { 0 };
    (void)spn_stop_on_signals(stop);
    spn_log_to(spn_log_stderr, NULL, SPN_LOG_INFO);
    if (spn_config_flags(a, &argc, argv, &options, &err) == 0 &&
        spn_config_load(&options, a, &config, &err) == 0 &&
        spn_client_new(&config, &client, &err) == 0)
        (void)run(client, stop, spn_arena_text(a, config.ns).p, argc > 1 ? argv[1] : NULL, &err);
    if (err.code)
        fprintf(stderr, "hello-controller: %s\n", err.message);
    spn_client_free(client);
    spn_stop_free(stop);
    spn_arena_free(a);
    return err.code ? 1 : 0;
}
