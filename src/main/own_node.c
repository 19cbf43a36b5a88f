#include "main/own_node.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "main/program_node.h"
#include "base/banned.h"

enum { ASK_MS = 2000, AGAIN_MS = 2000, CONFIG_BYTES_MAX = 1 << 20 };

struct own_node {
    struct arena arena;
    struct program_node program;
    struct spn_config cfg;
    struct spn_stop *stop;
    pthread_t thread;
    bool has_thread;
};

bool own_node_mode_parse(const char *text, enum own_node_mode *ret)
{
    static const char *const names[] = {
        [OWN_NODE_OFF] = "off", [OWN_NODE_AUTO] = "auto", [OWN_NODE_ON] = "on"
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum own_node_mode)i;
            return true;
        }
    return false;
}

struct str own_node_name(struct arena *a)
{
    char name[256] = "";
    (void)gethostname(name, sizeof(name) - 1);
    for (char *p = name; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p |= 0x20;
    return arena_str(a, str_of(name[0] ? name : "node"));
}

static int load(struct arena *a, const char *path, struct node_config *ret, struct err *err)
{
    autobuf text = { 0 };
    *ret = node_config_usual();
    if (!path)
        return 0;
    int r = file_read(path, CONFIG_BYTES_MAX, &text, err);
    if (r < 0)
        return r;
    return node_config_read(a, arena_str(a, buf_str(&text)), ret, err);
}

/* ---- Whether ---- */

static bool runtime_answers(struct arena *a, struct str endpoint)
{
    struct err err = ERR_INIT(a);
    struct value version;
    struct cri *cri;
    if (cri_new(endpoint, &cri, &err) < 0)
        return false;
    int r = cri_call(cri, "Version", NULL, ASK_MS, a, &version, &err);
    cri_free(cri);
    return r == 0;
}

int own_node_wanted(enum own_node_mode mode, const char *config_file, bool *ret, struct err *err)
{
    struct node_config config;
    struct arena a;
    *ret = mode == OWN_NODE_ON;
    if (mode != OWN_NODE_AUTO)
        return 0;
    arena_init(&a);
    int r = load(&a, config_file, &config, err);
    if (r == 0)
        *ret = geteuid() == 0 && runtime_answers(&a, config.runtime_endpoint);
    arena_done(&a);
    return r;
}

/* ---- Running ---- */

static void *run_until_stop(void *arg)
{
    struct own_node *n = arg;
    while (!spn_stop_is_set(n->stop)) {
        struct spn_err err = { 0 };
        if (program_node_run(&n->program, &n->cfg, n->stop, &err) < 0)
            log_warn("the node agent ended, and begins anew", LOG_CSTR("err", err.message));
        (void)spn_stop_wait(n->stop, AGAIN_MS);
    }
    return NULL;
}

/* Others reach the endpoint with certificates of the server's own authority. */
static int write_client_ca(struct own_node *n, const char *dir, struct str ca, struct err *err)
{
    const struct str path = arena_printf(&n->arena, "%s/node-client-ca.crt", dir);
    int r = file_write_atomic(str_cstr(&n->arena, path), ca, 0644, FILE_CHEAP, err);
    if (r < 0)
        return r;
    n->program.config.client_ca_file = path;
    return 0;
}

static int configure(struct own_node *n, const struct own_node_options *opt, struct err *err)
{
    struct arena *a = &n->arena;
    struct node_config *c = &n->program.config;
    int r = load(a, opt->config_file, c, err);
    if (r < 0)
        return r;
    n->cfg = (struct spn_config){
        .server = text_out(arena_printf(a, "https://" STR_FMT, STR_ARG(opt->address))),
        .tls_server_name = text_out(opt->server_name),
        .ca_data = text_out(opt->ca_cert),
        .token = text_out(opt->token),
        .qps = -1,
        .protobuf = true,
    };
    c->node.name = own_node_name(a);
    c->node.root_dir = arena_printf(a, "%s/node", opt->dir);
    return c->client_ca_file.n ? 0 : write_client_ca(n, opt->dir, opt->ca_cert, err);
}

static int start(struct own_node *n, const struct own_node_options *opt, struct err *err)
{
    int r = configure(n, opt, err);
    if (r < 0)
        return r;
    r = pthread_create(&n->thread, NULL, run_until_stop, n);
    if (r != 0)
        return err_errno(err, r, "start a thread of the node agent");
    n->has_thread = true;
    return 0;
}

int own_node_start(const struct own_node_options *opt, struct own_node **ret, struct err *err)
{
    struct own_node *n = mem_new(struct own_node);
    arena_init(&n->arena);
    n->stop = spn_stop_new();
    int r = start(n, opt, err);
    if (r < 0)
        own_node_stop(n);
    else
        *ret = n;
    return r;
}

struct own_node *own_node_stop(struct own_node *n)
{
    if (!n)
        return NULL;
    spn_stop_set(n->stop);
    if (n->has_thread)
        (void)pthread_join(n->thread, NULL);
    spn_stop_free(n->stop);
    arena_done(&n->arena);
    free(n);
    return NULL;
}
