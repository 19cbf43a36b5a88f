#include "node/pod/user_namespace.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "node/pod/cri_tree.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

enum { RANGE = 65536, RANGES = 65535, FILE_MAX = 4096 };

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

static struct str file_of(struct arena *a, const struct node_facts *node, struct str uid)
{
    return path_join(a, pod_folder(a, node, uid), STR("userns"));
}

/* The first id of the range that a pod has; 0: it has none. */
static int64_t read_range(struct arena *a, const struct node_facts *node, struct str uid)
{
    autobuf text = { 0 };
    struct err err = ERR_INIT(a);
    struct value v;
    int64_t id;
    if (file_read(str_cstr(a, file_of(a, node, uid)), FILE_MAX, &text, &err) < 0 ||
        json_read(a, arena_str(a, buf_str(&text)), NULL, &v, &err) < 0)
        return 0;
    const struct value *first = value_at(value_get(&v, STR("uidMappings")), 0);
    if (!value_to_int(value_get(first, STR("hostId")), &id) || id % RANGE || id < RANGE ||
        id / RANGE > RANGES)
        return 0;
    return id;
}

/* Marks which ranges other pods have. */
static void mark_used(struct arena *a, const struct node_facts *node, unsigned char *used)
{
    DIR *dir = opendir(str_cstr(a, path_join(a, node->root_dir, STR("pods"))));
    if (!dir)
        return;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
        if (e->d_name[0] != '.')
            used[read_range(a, node, str_of(e->d_name)) / RANGE] = 1;
    (void)closedir(dir);
}

static int write_range(struct arena *a, const struct node_facts *node, struct str uid, int64_t id,
                       struct err *err)
{
    struct str map = arena_printf(a, "[{\"hostId\":%lld,\"containerId\":0,\"length\":%d}]",
                                  (long long)id, RANGE);
    struct str text = arena_printf(a, "{\"uidMappings\":" STR_FMT ",\"gidMappings\":" STR_FMT "}",
                                   STR_ARG(map), STR_ARG(map));
    return file_write_atomic(str_cstr(a, file_of(a, node, uid)), text, 0644, FILE_KEPT, err);
}

static int take_range(struct arena *a, const struct node_facts *node, struct str uid, int64_t *ret,
                      struct err *err)
{
    *ret = read_range(a, node, uid);
    if (*ret)
        return 0;
    autofree unsigned char *used = mem_array(RANGES + 1, 1);
    mark_used(a, node, used);
    for (int64_t i = 1; i <= RANGES; i++)
        if (!used[i]) {
            *ret = i * RANGE;
            return write_range(a, node, uid, *ret, err);
        }
    return err_set(err, ERR_UNAVAILABLE,
                   "create user namespace: could not find an empty slot to allocate a user "
                   "namespace");
}

static struct value mapping(struct arena *a, int64_t id)
{
    struct value list = value_array(), one = value_object();
    tree_int(a, &one, STR("host_id"), id);
    tree_int(a, &one, STR("length"), RANGE);
    value_put_item(a, &list, one);
    return list;
}

int user_namespace(const struct pod_place *p, struct arena *a, struct value *ret, struct err *err)
{
    int64_t id;
    const struct value *host = value_dig(p->pod, "spec", "hostUsers");
    *ret = value_object();
    if (!value_is(host, VALUE_BOOL) || host->b) {
        tree_text(a, ret, STR("mode"), STR("NODE"));
        return 0;
    }
    if (!p->node->runtime_has_userns)
        return err_set(err, ERR_INVALID,
                       "can't set `spec.hostUsers: false`, runtime does not support user "
                       "namespaces");
    (void)pthread_mutex_lock(&files_lock);
    int r = take_range(a, p->node, pod_uid(p->pod), &id, err);
    (void)pthread_mutex_unlock(&files_lock);
    if (r < 0)
        return r;
    tree_text(a, ret, STR("mode"), STR("POD"));
    value_put_new(a, ret, STR("uids"), mapping(a, id));
    value_put_new(a, ret, STR("gids"), mapping(a, id));
    return 0;
}
