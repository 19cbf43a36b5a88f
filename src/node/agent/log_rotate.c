/* log_rotate.c - logs of containers that grow too long are put aside; the oldest go. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/words.h"
#include "base/clock.h"
#include "base/log.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

/* "0.log.20240131-235959", by age since that is in the name. */
static size_t old_logs(struct arena *a, struct str folder, struct str name, struct str **ret)
{
    enum { MAX = 1000 };
    size_t n = 0;
    struct str prefix = arena_printf(a, STR_FMT ".", STR_ARG(name));
    *ret = arena_array(a, struct str, MAX);
    DIR *dir = opendir(str_cstr(a, folder));
    for (struct dirent *d; dir && n < MAX && (d = readdir(dir));)
        if (str_starts(str_of(d->d_name), prefix))
            (*ret)[n++] = arena_printf(a, STR_FMT "/%s", STR_ARG(folder), d->d_name);
    if (dir)
        (void)closedir(dir);
    qsort(*ret, n, sizeof(**ret), words_compare);
    return n;
}

static bool reopen(struct agent *ag, struct str id, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct value req = value_object(), answer;
    value_put_new(a, &req, STR("container_id"), value_string(id));
    if (cri_call(ag->parts.cri, "ReopenContainerLog", &req, 0, a, &answer, &err) == 0)
        return true;
    log_warn("a log could not be opened again", LOG_ERR(&err));
    return false;
}

static void rotate(struct agent *ag, struct str id, struct str path, struct arena *a)
{
    char stamp[32];
    struct tm tm;
    time_t now = (time_t)(agent_wall_ns() / NS_PER_SEC);
    (void)gmtime_r(&now, &tm);
    (void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
    const char *from = str_cstr(a, path);
    const char *to = str_cstr(a, arena_printf(a, STR_FMT ".%s", STR_ARG(path), stamp));
    size_t slash = path.n;
    while (slash && path.p[slash - 1] != '/')
        slash--;
    struct str *old, folder = str_take(path, slash ? slash - 1 : 0);
    size_t n = old_logs(a, folder, str_skip(path, slash), &old);
    /* The one that is being written and the one that is put aside now count, too. */
    size_t keep = ag->opt.log_max_files > 2 ? ag->opt.log_max_files - 2 : 0;
    for (size_t i = 0; i + keep < n; i++)
        (void)unlink(str_cstr(a, old[i]));
    if (rename(from, to) == 0 && !reopen(ag, id, a))
        (void)rename(to, from);
}

void log_rotate_run(struct agent *ag)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value req = value_object(), filter = value_object(), state = value_object(), found;
    value_put_new(&a, &state, STR("state"), value_string(STR("CONTAINER_RUNNING")));
    value_put_new(&a, &filter, STR("state"), state);
    value_put_new(&a, &req, STR("filter"), filter);
    if (cri_call(ag->parts.cri, "ListContainers", &req, 0, &a, &found, &err) == 0) {
        value_each_item (c, value_get(&found, STR("containers"))) {
            struct value ask = value_object(), answer;
            struct stat st;
            struct str id = value_text(c, "id");
            value_put_new(&a, &ask, STR("container_id"), value_string(id));
            if (cri_call(ag->parts.cri, "ContainerStatus", &ask, 0, &a, &answer, &err) < 0)
                continue;
            struct str path = value_str(value_dig(&answer, "status", "log_path"));
            if (path.n && stat(str_cstr(&a, path), &st) == 0 &&
                (uint64_t)st.st_size >= ag->opt.log_max_bytes)
                rotate(ag, id, path, &a);
        }
    }
    arena_done(&a);
}
