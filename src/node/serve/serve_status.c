/* serve_status.c - what the agent tells of itself: pods, health, configuration, statistics. */
#include "base/buf.h"
#include "node/serve/serve_internal.h"
#include "base/banned.h"

enum { CALL_MS = 30000 };

static void list_begin(struct arena *a, struct value *list)
{
    *list = value_object();
    value_put(a, list, STR("kind"), value_string(STR("PodList")));
    value_put(a, list, STR("apiVersion"), value_string(STR("v1")));
    value_put(a, list, STR("metadata"), value_object());
}

void serve__pods(struct served *v)
{
    const struct serve_agent *agent = &v->s->opt.agent;
    struct value list, pods = value_array();
    agent->pods(agent->arg, v->a, &pods);
    list_begin(v->a, &list);
    value_put(v->a, &list, STR("items"), pods);
    serve__json(v, &list);
}

/* ---- What the runtime runs, whoever has asked for it ---- */

static struct value containers_of(struct arena *a, const struct value *all, struct str sandbox)
{
    struct value list = value_array();
    value_each_item (c, all) {
        if (!str_eq(value_text(c, "pod_sandbox_id"), sandbox) ||
            !str_eq(value_text(c, "state"), STR("CONTAINER_RUNNING")))
            continue;
        struct value one = value_object();
        value_put(a, &one, STR("name"), value_string(value_str(value_dig(c, "metadata", "name"))));
        value_put(a, &one, STR("image"), value_string(value_str(value_dig(c, "image", "image"))));
        value_put(a, &one, STR("resources"), value_object());
        value_put_item(a, &list, one);
    }
    return list;
}

void serve__running_pods(struct served *v)
{
    static const char *const names[] = { "name", "namespace", "uid" };
    struct arena *a = v->a;
    struct value list, items = value_array(), boxes, all;
    struct err err = ERR_INIT(a);
    if (cri_call(v->s->opt.cri, "ListPodSandbox", NULL, CALL_MS, a, &boxes, &err) < 0 ||
        cri_call(v->s->opt.cri, "ListContainers", NULL, CALL_MS, a, &all, &err) < 0) {
        serve__say(v, 500, err.msg);
        return;
    }
    value_each_item (box, value_get(&boxes, STR("items"))) {
        struct value pod = value_object(), meta = value_object(), spec = value_object();
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            value_put(a, &meta, str_of(names[i]),
                      value_string(value_str(value_dig(box, "metadata", names[i]))));
        value_put(a, &spec, STR("containers"),
                  containers_of(a, value_get(&all, STR("containers")), value_text(box, "id")));
        if (!value_get(&spec, STR("containers"))->n)
            continue;
        value_put(a, &pod, STR("metadata"), meta);
        value_put(a, &pod, STR("spec"), spec);
        value_put(a, &pod, STR("status"), value_object());
        value_put_item(a, &items, pod);
    }
    list_begin(a, &list);
    value_put(a, &list, STR("items"), items);
    serve__json(v, &list);
}

/* ---- Health and configuration ---- */

void serve__health(struct served *v, struct str which)
{
    const struct serve_agent *agent = &v->s->opt.agent;
    const bool is_known = !which.n || str_eq(which, STR("ping")) || str_eq(which, STR("log")) ||
                          str_eq(which, STR("syncloop"));
    const bool is_well = !agent->is_healthy || agent->is_healthy(agent->arg) ||
                         str_eq(which, STR("ping")) || str_eq(which, STR("log"));
    if (!is_known)
        serve__say(v, 404, STR("404 page not found\n"));
    else if (is_well)
        serve__say(v, 200, STR("ok"));
    else if (which.n)
        serve__say(v, 500, STR("internal server error: sync Loop took longer than expected\n"));
    else
        serve__say(v, 500,
                   STR("[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\n"
                       "healthz check failed\n"));
}

void serve__config(struct served *v)
{
    const struct value *config = v->s->opt.config;
    struct value body = value_object();
    value_put(v->a, &body, STR("kubeletconfig"),
              config ? value_clone(v->a, config) : value_object());
    serve__json(v, &body);
}

/* ---- Statistics ---- */

void serve__summary(struct served *v)
{
    struct value body;
    struct err err = ERR_INIT(v->a);
    if (stats_summary(v->s->stats, serve__flag(v, "only_cpu_and_memory"), v->a, &body, &err) < 0)
        serve__say(v, 500, err.msg);
    else
        serve__json(v, &body);
}

void serve__metrics(struct served *v, struct str which)
{
    static const struct http_header text = { STR("content-type"),
                                             STR("text/plain; version=0.0.4; charset=utf-8") };
    autobuf out = { 0 };
    struct err err = ERR_INIT(v->a);
    int r = 0;
    if (str_eq(which, STR("resource")))
        r = stats_resource(v->s->stats, v->a, &out, &err);
    else if (str_eq(which, STR("cadvisor")))
        r = stats_cadvisor(v->s->stats, v->a, &out, &err);
    else if (!which.n)
        stats_agent(v->s->stats, v->a, &out);
    else if (!str_eq(which, STR("probes")))
        r = err_set(&err, ERR_NOT_FOUND, "404 page not found\n");
    if (r < 0)
        serve__say(v, err_http_status(err.code), err.msg);
    else
        http_send(v->x, 200, &text, 1, HTTP_BYTES(arena_str(v->a, buf_str(&out))));
}
