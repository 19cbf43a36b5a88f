/* A program as a stranger would write one: it has the installed library and nothing else. It is C
 * and C++ alike. Its own map_get and arena_init must not disturb the library, nor the other way
 * round. Prints the names of the config maps in a namespace before and after it has made one. */
#include <stdio.h>
#include <stdlib.h>

#include <sampan/cache.h>
#include <sampan/client.h>
#include <sampan/config.h>
#include <sampan/credentials.h>
#include <sampan/informer.h>
#include <sampan/object.h>
#include <sampan/patch.h>
#include <sampan/queue.h>

int map_get(void);
int map_get(void)
{
    return 1;
}

void arena_init(void);
void arena_init(void)
{
    abort();
}

static void die(const struct spn_err *err)
{
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static struct spn_client *connect_by(const char *kubeconfig, struct spn_arena *a)
{
    struct spn_config_options opt;
    struct spn_config cfg;
    struct spn_client *c;
    struct spn_err err;
    memset(&opt, 0, sizeof(opt));
    opt.kubeconfig = kubeconfig;
    if (spn_config_load(&opt, a, &cfg, &err) < 0 || spn_client_new(&cfg, &c, &err) < 0)
        die(&err);
    return c;
}

static void print_names(struct spn_client *c, struct spn_arena *a)
{
    const struct spn_target maps = SPN_AT("", "v1", "configmaps", "default", "");
    struct spn_value *list;
    struct spn_err err;
    if (spn_client_list(c, &maps, NULL, NULL, a, &list, &err) < 0)
        die(&err);
    const struct spn_value *items = spn_value_get(list, "items");
    for (size_t i = 0; i < spn_value_count(items); i++) {
        struct spn_text name =
            spn_value_text(spn_value_dig(spn_value_at(items, i), "metadata", "name"));
        printf(SPN_FMT " ", SPN_ARG(name));
    }
}

int main(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_client *c = connect_by(argc > 1 ? argv[1] : NULL, a);
    const struct spn_target maps = SPN_AT("", "v1", "configmaps", "default", "");
    struct spn_text name = spn_text_of(argc > 2 ? argv[2] : "made");
    struct spn_value *obj;
    struct spn_err err;
    print_names(c, a);
    struct spn_text json =
        spn_arena_printf(a, "{\"metadata\":{\"name\":\"" SPN_FMT "\"}}", SPN_ARG(name));
    if (spn_value_read_json(a, json, &obj, &err) < 0 ||
        spn_client_create(c, &maps, obj, NULL, a, NULL, &err) < 0)
        die(&err);
    printf("/ ");
    print_names(c, a);
    printf("\n");
    spn_client_free(c);
    spn_arena_free(a);
    return map_get() - 1;
}
