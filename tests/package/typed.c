/* A stranger's program with structs: of a built-in kind, and generated for one of his own. */
#include <stdio.h>
#include <stdlib.h>

#include <sampan/api/core_v1.h>
#include <sampan/config.h>

#include "gen_network.h"

static void must(int r, const struct spn_err *err)
{
    if (r < 0) {
        fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_config_options opt = { .kubeconfig = argc > 1 ? argv[1] : NULL };
    struct spn_config cfg;
    struct spn_client *c;
    struct spn_err err;
    must(spn_config_load(&opt, a, &cfg, &err), &err);
    must(spn_client_new(&cfg, &c, &err), &err);
    struct core_v1_namespace *ns;
    must(core_v1_namespace_get(c, SPN_TEXT("default"), NULL, a, &ns, &err), &err);
    printf(SPN_FMT " is " SPN_FMT "\n", SPN_ARG(ns->metadata->name), SPN_ARG(ns->status->phase));

    struct network *n = network_new(NULL);
    n->metadata = meta_v1_object_meta_copy(network_arena(n), ns->metadata);
    bool is_good = spn_value_json(a, network_encode(a, n)).n > 0;
    (void)network_free(n);
    (void)spn_client_free(c);
    (void)spn_arena_free(a);
    return is_good ? 0 : 1;
}
