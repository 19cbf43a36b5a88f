#include "main/program_node.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "client/bridge.h"
#include "node/agent/objects.h"
#include "node/register/bootstrap.h"
#include "node/volume/volumes.h"
#include "server/version.h"
#include "base/banned.h"

enum { PEM_BYTES_MAX = 1 << 20 };

/* All parts of a node, in the order in which they start; those that did not are NULL. */
struct node {
    struct arena arena; /* facts, and texts of options */
    struct program_node *program;
    struct spn_client *client;
    struct spn_recorder *events;
    struct spn_stop *stop;
    struct cri *cri;
    struct node_facts facts;
    struct objects *objects;
    struct pod_objects functions;
    struct volumes *volumes;
    struct agent *agent;
    struct certificates *certificates;
    struct str cert_pem, key_pem; /* of the endpoint */
    struct serve *serve;
    struct registration *registration;
};

/* ---- What parts ask of each other ---- */

static unsigned pressures(void *arg)
{
    struct node *n = arg;
    const struct agent_pressure p = agent_pressure(n->agent);
    return (p.memory ? NODE_MEMORY_PRESSURE : 0) | (p.disk ? NODE_DISK_PRESSURE : 0) |
           (p.pids ? NODE_PID_PRESSURE : 0);
}

/* The first comes before the endpoint listens; later ones take its place. */
static void on_serving(void *arg, struct str cert_pem, struct str key_pem)
{
    struct node *n = arg;
    struct arena a;
    if (!n->serve) {
        n->cert_pem = arena_str(&n->arena, cert_pem);
        n->key_pem = arena_str(&n->arena, key_pem);
        return;
    }
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (serve_set_certificate(n->serve, cert_pem, key_pem, &err) < 0)
        log_warn("node: the new serving certificate cannot be used", LOG_ERR(&err));
    arena_done(&a);
}

/* ---- Starting, one after the other ---- */

/* As kubelets say it: schedulers and tools compare it with the server's. */
static const char version[] = "v" SAMPAN_API_MAJOR "." SAMPAN_API_MINOR ".0+sampan-" SAMPAN_VERSION;

static int start_runtime(struct node *n, struct err *err)
{
    const struct spn_recorder_options events = { .component = "kubelet" };
    struct spn_err why = { 0 };
    n->program->config.node.version = str_of(version);
    int r = cri_new(n->program->config.runtime_endpoint, &n->cri, err);
    if (r < 0)
        return r;
    r = register_facts(&n->program->config.node, n->cri, &n->arena, &n->facts, err);
    if (r < 0)
        return r;
    struct spn_recorder_options own = events;
    own.host = str_cstr(&n->arena, n->facts.name);
    if (spn_recorder_new(n->client, &own, &n->events, &why) < 0)
        return err_set(err, ERR_UNAVAILABLE, "%s", why.message);
    return 0;
}

static int make_folder(struct node *n, struct err *err)
{
    const char *path = str_cstr(&n->arena, n->facts.root_dir);
    if (mkdir(path, 0750) < 0 && errno != EEXIST)
        return err_errno(err, errno, "make %s", path);
    return 0;
}

static int start_agent(struct node *n, struct err *err)
{
    int r = objects_new(n->client, 0, &n->objects, err);
    if (r < 0)
        return r;
    n->functions = objects_functions(n->objects);
    n->volumes = volumes_new(&n->facts, &n->functions);
    const struct agent_parts parts = {
        .node = &n->facts,
        .client = n->client,
        .cri = n->cri,
        .volumes = n->volumes,
        .objects = &n->functions,
    };
    return agent_new(&parts, &n->program->config.agent, &n->agent, err);
}

/* `ret` stays as it is if no file is named. */
static int read_pem(struct node *n, struct str path, struct str *ret, struct err *err)
{
    autobuf text = { 0 };
    if (!path.n)
        return 0;
    int r = file_read(str_cstr(&n->arena, path), PEM_BYTES_MAX, &text, err);
    if (r < 0)
        return r;
    *ret = arena_str(&n->arena, buf_str(&text));
    return 0;
}

static struct str cert_dir(struct node *n)
{
    if (n->program->cert_dir)
        return str_of(n->program->cert_dir);
    return arena_printf(&n->arena, STR_FMT "/pki", STR_ARG(n->facts.root_dir));
}

static int start_endpoint(struct node *n, struct err *err)
{
    const struct node_config *c = &n->program->config;
    struct serve_options opt = {
        .listen = arena_printf(&n->arena, STR_FMT ":%u", STR_ARG(c->address),
                               c->node.port ? c->node.port : 10250),
        .anonymous = c->anonymous,
        .webhook_authentication = c->webhook,
        .always_allow = str_eq(c->authorization, STR("AlwaysAllow")),
        .node = &n->facts,
        .cri = n->cri,
        .client = n->client,
        .agent = agent_serve(n->agent),
    };
    if (!c->serves)
        return 0;
    int r = read_pem(n, c->client_ca_file, &opt.client_ca, err);
    if (r < 0)
        return r;
    r = read_pem(n, c->tls_cert_file, &n->cert_pem, err);
    if (r < 0)
        return r;
    r = read_pem(n, c->tls_key_file, &n->key_pem, err);
    if (r < 0)
        return r;
    opt.cert_pem = n->cert_pem;
    opt.key_pem = n->key_pem;
    return serve_start(&opt, &n->serve, err);
}

static int start_certificates(struct node *n, struct err *err)
{
    const struct node_config *c = &n->program->config;
    const struct certificates_options opt = {
        .node = n->facts.name,
        .cert_dir = str_cstr(&n->arena, cert_dir(n)),
        .client = n->client,
        .rotates_client = c->rotates_client,
        .asks_for_serving = c->asks_for_serving && !c->tls_cert_file.n,
        .ips = n->facts.host_ips,
        .n_ips = n->facts.n_host_ips,
        .on_serving = c->tls_cert_file.n ? NULL : on_serving,
        .arg = n,
    };
    return certificates_start(&opt, &n->certificates, err);
}

static int start_registration(struct node *n, struct err *err)
{
    const struct register_place place = {
        .opt = &n->program->config.node,
        .facts = &n->facts,
        .client = n->client,
        .cri = n->cri,
        .events = n->events,
        .agent = { .arg = n, .pressures = pressures },
    };
    return register_start(&place, &n->registration, err);
}

static int start(struct node *n, struct err *err)
{
    static int (*const steps[])(struct node * n, struct err * err) = {
        start_runtime,      make_folder,    start_agent,
        start_certificates, start_endpoint, start_registration,
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int r = steps[i](n, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What started last ends first. Containers stay as they are. */
static void end(struct node *n)
{
    register_stop(n->registration);
    certificates_stop(n->certificates); /* first: it speaks to the endpoint */
    serve_stop(n->serve);
    agent_free(n->agent);
    volumes_free(n->volumes);
    objects_free(n->objects);
    if (n->events)
        (void)spn_recorder_flush(n->events, 1000);
    spn_recorder_free(n->events);
    cri_free(n->cri);
    arena_done(&n->arena);
}

static int run(struct node *n, struct err *err)
{
    int r = start(n, err);
    if (r < 0)
        return r;
    if (n->program->on_running)
        n->program->on_running(n->program->arg);
    return agent_run(n->agent, n->stop, err);
}

int program_node_run(void *self, const struct spn_config *cfg, struct spn_stop *stop,
                     struct spn_err *err)
{
    struct node n = { .program = self, .stop = stop };
    struct spn_config own = *cfg;
    if (!own.user_agent.n)
        own.user_agent = SPN_TEXT("kubelet");
    int r = spn_client_new(&own, &n.client, err);
    if (r < 0)
        return r;
    arena_init(&n.arena);
    struct err why = ERR_INIT(&n.arena);
    r = run(&n, &why);
    if (r < 0)
        r = spn_err_set(err, SPN_UNAVAILABLE, STR_FMT, STR_ARG(why.msg));
    end(&n);
    spn_client_free(n.client);
    return r;
}
