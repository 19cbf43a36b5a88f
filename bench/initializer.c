/* initializer.c - clears the mark "initializer.bench.test" of ConfigMaps, as quickly as it can.
 *
 *     initializer [flags of a client] */
#include <stdio.h>

#include <sampan/config.h>
#include <sampan/controller.h>

static const struct spn_target config_maps = SPN_AT("", "v1", "configmaps", "", "");

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    const struct spn_value *map = spn_work_object(w);
    if (!spn_value_dig(map, "metadata", "initializers"))
        return spn_done();
    int r = spn_client_patch(w->client, &w->at, SPN_MERGE_PATCH,
                             SPN_TEXT("{\"metadata\":{\"initializers\":null}}"), &w->how, w->arena,
                             NULL, err);
    return r == -SPN_NOT_FOUND ? spn_done() : r;
}

static int run(struct spn_client *client, struct spn_err *err)
{
    struct spn_manager *m;
    struct spn_stop *stop = spn_stop_new();
    (void)spn_stop_on_signals(stop);
    spn_client_show_uninitialized(client, true);
    int r =
        spn_manager_new(&(struct spn_manager_options){ .client = client, .stop = stop }, &m, err);
    if (r == 0) {
        (void)spn_manager_add(m, &(struct spn_controller_options){ .name = "initializer",
                                                                   .what = config_maps,
                                                                   .workers = 16,
                                                                   .reconcile = reconcile });
        r = spn_manager_run(m, err);
        spn_manager_free(m);
    }
    spn_stop_free(stop);
    return r;
}

int main(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_config_options options = { 0 };
    struct spn_config cfg;
    struct spn_client *client = NULL;
    struct spn_err err = { 0 };
    if (spn_config_flags(a, &argc, argv, &options, &err) == 0 &&
        spn_config_load(&options, a, &cfg, &err) == 0 && spn_client_new(&cfg, &client, &err) == 0)
        (void)run(client, &err);
    if (err.code)
        fprintf(stderr, "initializer: %s\n", err.message);
    spn_client_free(client);
    spn_arena_free(a);
    return err.code != 0;
}
