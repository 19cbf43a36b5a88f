/* garbage.c - dead containers and sandboxes, and logs of pods that are gone. */
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

enum { KEPT_PER_CONTAINER = 1 };

/* ---- One pod ---- */

static void remove_sandbox(struct agent *ag, struct str id, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct value req = value_object(), answer;
    value_put_new(a, &req, STR("pod_sandbox_id"), value_string(id));
    if (cri_call(ag->parts.cri, "StopPodSandbox", &req, 0, a, &answer, &err) < 0)
        return;
    if (cri_call(ag->parts.cri, "RemovePodSandbox", &req, 0, a, &answer, &err) < 0)
        log_warn("a sandbox could not be removed", LOG_ERR(&err));
}

static bool has_containers(const struct runtime_pod *p, struct str sandbox)
{
    for (size_t i = 0; i < p->n_containers; i++)
        if (str_eq(p->containers[i].sandbox_id, sandbox))
            return true;
    return false;
}

/* How many newer ones of that name have ended. */
static size_t newer_dead(const struct runtime_pod *p, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < i; k++)
        n += p->containers[k].state == CONTAINER_EXITED &&
             str_eq(p->containers[k].name, p->containers[i].name);
    return n;
}

static int remove_tree(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st;
    (void)flag;
    (void)at;
    (void)remove(path); /* what cannot go is tried again the next time */
    return 0;
}

/* Folders of logs are named NS_NAME_UID. */
static void remove_logs(struct agent *ag, struct str uid, struct arena *a)
{
    struct str logs = ag->parts.node->log_dir;
    DIR *dir = opendir(str_cstr(a, logs));
    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct str name = str_of(d->d_name);
        if (!str_ends(name, uid) || name.n <= uid.n || name.p[name.n - uid.n - 1] != '_')
            continue;
        const char *path =
            str_cstr(a, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(logs), STR_ARG(name)));
        (void)nftw(path, remove_tree, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
    if (dir)
        (void)closedir(dir);
}

void garbage_containers(struct agent *ag, struct str uid, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct runtime_pod have;
    if (runtime_read(ag->parts.cri, uid, a, &have, &err) < 0)
        return;
    for (size_t i = 0; i < have.n_containers; i++) {
        struct err why = ERR_INIT(a);
        if (have.containers[i].state == CONTAINER_EXITED)
            (void)remove_container(ag, &have.containers[i], false, a, &why);
    }
}

void garbage_pod(struct agent *ag, struct str uid, bool all, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct runtime_pod have;
    if (runtime_read(ag->parts.cri, uid, a, &have, &err) < 0)
        return;
    for (size_t i = 0; i < have.n_containers; i++) {
        const struct runtime_container *c = &have.containers[i];
        struct err why = ERR_INIT(a);
        bool is_dead = c->state == CONTAINER_EXITED || (all && c->state != CONTAINER_RUNNING);
        if (!is_dead || (!all && newer_dead(&have, i) < KEPT_PER_CONTAINER))
            continue;
        if (remove_container(ag, c, false, a, &why) < 0)
            log_warn("a container could not be removed", LOG_ERR(&why));
    }
    for (size_t i = 0; i < have.n_sandboxes; i++) {
        const struct runtime_sandbox *s = &have.sandboxes[i];
        if (!s->is_ready && (all || (i > 0 && !has_containers(&have, s->id))))
            remove_sandbox(ag, s->id, a);
    }
    if (all)
        remove_logs(ag, uid, a);
}

/* ---- All of them ---- */

static bool is_over(struct agent *ag, struct str uid)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    bool is = p && p->stage == STAGE_FINISHED && p->is_removed;
    (void)pthread_mutex_unlock(&ag->lock);
    return is;
}

void garbage_run(struct agent *ag)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    struct str *uids = pods_uids(ag, &a, &n);
    for (size_t i = 0; i < n; i++)
        garbage_pod(ag, uids[i], is_over(ag, uids[i]), &a);
    arena_done(&a);
}
