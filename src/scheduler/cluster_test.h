/* cluster_test.h - a cluster in a few words, for tests: JSON with ' instead of ".
 *
 * Nodes have name, labels, taints, cordoned, cpu (4 if not said) and what else they have. Pods have
 * name, labels, on (their node), cpu, priority, and whatever else under spec. All is in namespace
 * "ns". */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "scheduler/cycle.h"
#include "scheduler/profile.h"

static struct arena arena;
static struct profiles profiles;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    profiles_init(&profiles);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct value *read_tree(const char *text)
{
    struct str s = arena_str(&arena, str_of(text));
    struct value *v = arena_new(&arena, struct value);
    struct err err = ERR_INIT(&arena);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            ((char *)(uintptr_t)s.p)[i] = '"';
    if (json_read(&arena, s, NULL, v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

static void add_nodes(struct world *w, const char *text)
{
    value_each_item (n, read_tree(text)) {
        struct value node = value_object();
        struct value *meta = value_ensure(&arena, &node, STR("metadata"));
        struct value *spec = value_ensure(&arena, &node, STR("spec"));
        value_put(&arena, meta, STR("name"), value_string(value_text(n, "name")));
        if (value_get(n, STR("labels")))
            value_put(&arena, meta, STR("labels"),
                      value_clone(&arena, value_get(n, STR("labels"))));
        if (value_get(n, STR("taints")))
            value_put(&arena, spec, STR("taints"),
                      value_clone(&arena, value_get(n, STR("taints"))));
        value_put(&arena, spec, STR("unschedulable"),
                  value_bool(value_is_true(value_get(n, STR("cordoned")))));
        struct value *has =
            value_ensure(&arena, value_ensure(&arena, &node, STR("status")), STR("allocatable"));
        struct str cpu = value_text(n, "cpu");
        value_put(&arena, has, STR("cpu"), value_string(cpu.n ? cpu : STR("4")));
        value_put(&arena, has, STR("memory"), value_string(STR("8Gi")));
        value_put(&arena, has, STR("pods"), value_string(STR("110")));
        value_each_field (f, value_get(n, STR("has")))
            value_put(&arena, has, f->key, f->val);
        world_set_node(w, &node);
    }
}

static struct sched_pod *add_pod(struct world *w, const struct value *p)
{
    struct value pod = value_object();
    struct value *meta = value_ensure(&arena, &pod, STR("metadata"));
    struct value *spec = value_ensure(&arena, &pod, STR("spec"));
    if (value_get(p, STR("spec")))
        *spec = value_clone(&arena, value_get(p, STR("spec")));
    value_put(&arena, meta, STR("name"), value_string(value_text(p, "name")));
    value_put(&arena, meta, STR("namespace"), value_string(STR("ns")));
    value_put(&arena, meta, STR("uid"), value_string(value_text(p, "name")));
    if (value_get(p, STR("labels")))
        value_put(&arena, meta, STR("labels"), value_clone(&arena, value_get(p, STR("labels"))));
    if (value_text(p, "on").n)
        value_put(&arena, spec, STR("nodeName"), value_string(value_text(p, "on")));
    int64_t priority = 0;
    (void)value_to_int(value_get(p, STR("priority")), &priority);
    value_put(&arena, spec, STR("priority"), value_int(priority));
    if (value_text(p, "cpu").n) {
        struct value *list = value_set(&arena, spec, STR("containers"), value_array());
        struct value *c = value_push(&arena, list, value_object());
        struct value *requests =
            value_ensure(&arena, value_ensure(&arena, c, STR("resources")), STR("requests"));
        value_put(&arena, requests, STR("cpu"), value_string(value_text(p, "cpu")));
    }
    return world_set_pod(w, pod_facts_new(&pod, &w->resources));
}
