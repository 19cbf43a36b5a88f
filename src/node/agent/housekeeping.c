/* housekeeping.c - what no source has any more: pods of the runtime, folders, groups, mirrors. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "node/pod/pod_cgroups.h"
#include "base/banned.h"

/* Before everything is known nothing is unknown. */
static bool knows_all(struct agent *ag)
{
    (void)pthread_mutex_lock(&ag->lock);
    bool has_files = ag->has_files;
    (void)pthread_mutex_unlock(&ag->lock);
    return has_files && spn_informer_has_synced(ag->pod_informer);
}

static bool is_known(struct agent *ag, struct str uid)
{
    (void)pthread_mutex_lock(&ag->lock);
    bool is = pods_find(ag, uid);
    (void)pthread_mutex_unlock(&ag->lock);
    return is;
}

/* A pod that only the runtime knows is ended, and then forgotten like any other. */
static void adopt_orphans(struct agent *ag, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct value found;
    if (cri_call(ag->parts.cri, "ListPodSandbox", NULL, 0, a, &found, &err) < 0)
        return;
    value_each_item (s, value_get(&found, STR("items"))) {
        struct str uid = value_str(value_dig(s, "labels", "io.kubernetes.pod.uid"));
        if (!uid.n || is_known(ag, uid))
            continue;
        (void)pthread_mutex_lock(&ag->lock);
        struct agent_pod *p = pods_add(ag, uid);
        p->is_removed = true;
        (void)pthread_mutex_unlock(&ag->lock);
        agent_wake(ag, uid);
    }
}

static void remove_folders(struct agent *ag, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct str *uids = NULL;
    size_t n = 0;
    if (volumes_list(ag->parts.volumes, a, &uids, &n, &err) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        struct err why = ERR_INIT(a);
        if (!is_known(ag, uids[i]) && volumes_remove(ag->parts.volumes, uids[i], a, &why) < 0)
            log_warn("a pod's folder could not be removed", LOG_STR("uid", uids[i]), LOG_ERR(&why));
    }
}

static void remove_groups(struct agent *ag, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct str *uids = NULL;
    size_t n = 0;
    if (!ag->parts.node->cgroups_per_qos || pod_cgroup_list(ag->parts.node, a, &uids, &n, &err) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        struct err why = ERR_INIT(a);
        if (!is_known(ag, uids[i]) && pod_cgroup_remove(ag->parts.node, uids[i], a, &why) < 0)
            log_warn("a pod's group could not be removed", LOG_STR("uid", uids[i]), LOG_ERR(&why));
    }
}

static void remove_notes(struct agent *ag, struct arena *a)
{
    struct str root = ag->parts.node->root_dir;
    DIR *dir = opendir(str_cstr(a, arena_printf(a, STR_FMT "/agent_pods", STR_ARG(root))));
    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct str name = str_of(d->d_name);
        if (!str_ends(name, STR(".json")))
            continue;
        struct str uid = str_take(name, name.n - 5);
        if (!is_known(ag, uid))
            allocation_forget(ag, uid, a);
    }
    if (dir)
        (void)closedir(dir);
}

/* Mirrors of static pods that are gone. */
static void remove_mirrors(struct agent *ag, struct arena *a)
{
    size_t pos = 0, n = 0;
    struct str key;
    void *p;
    (void)pthread_mutex_lock(&ag->lock);
    struct str *keys = arena_array(a, struct str, ag->mirrors.n + 1);
    while (map_next(&ag->mirrors, &pos, &key, &p))
        keys[n++] = arena_str(a, key);
    (void)pthread_mutex_unlock(&ag->lock);
    for (size_t i = 0; i < n; i++) {
        struct str name = keys[i], ns = str_cut(&name, '/');
        mirror_remove(ag, ns, name, a);
    }
}

void housekeeping_run(struct agent *ag)
{
    if (!knows_all(ag))
        return;
    struct arena a;
    arena_init(&a);
    adopt_orphans(ag, &a);
    remove_folders(ag, &a);
    remove_groups(ag, &a);
    remove_notes(ag, &a);
    remove_mirrors(ag, &a);
    arena_done(&a);
}
