/* start.c - one container: its image, its configuration, its start, its postStart hook. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

enum { CREATE_MS = 240000 };

struct starter {
    struct agent *ag;
    struct arena *a;
    struct sync_place *at;
    const struct value *pod, *spec;
    const struct runtime_pod *have;
    struct str name, sandbox_id;
    struct start_failure *ret;
};

static bool fail(struct starter *s, struct str reason, struct str message)
{
    s->ret->reason = reason;
    s->ret->message = message;
    return false;
}

/* The same with the event that goes with it. */
static bool fail_told(struct starter *s, struct str reason, struct str message)
{
    tell_container(s->ag, s->pod, s->name, SPN_WARNING, "Failed", "Error: " STR_FMT,
                   STR_ARG(message));
    return fail(s, reason, message);
}

/* ---- Which time it is ---- */

/* The number of "5.log", "5.log.20240101-000000.gz": -1 for other names. */
static int64_t log_number(struct str name)
{
    int64_t n;
    struct str number = str_cut(&name, '.');
    bool is_log = str_eq(name, STR("log")) || str_starts(name, STR("log."));
    return is_log && str_to_i64(number, &n) ? n : -1;
}

/* A runtime that has lost its memory has left the logs. */
static int64_t attempt_by_logs(struct starter *s)
{
    struct str folder = pod_log_folder(s->a, s->ag->parts.node, s->pod);
    const char *path =
        str_cstr(s->a, arena_printf(s->a, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(s->name)));
    int64_t next = 0;
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        int64_t n = log_number(str_of(d->d_name));
        next = n + 1 > next ? n + 1 : next;
    }
    if (dir)
        (void)closedir(dir);
    else
        (void)mkdir(path, 0755);
    return next;
}

static uint32_t attempt_of(struct starter *s)
{
    const struct runtime_container *c = runtime_find(s->have, s->name);
    int64_t by_logs = attempt_by_logs(s);
    return (uint32_t)(c ? c->restarts + 1 : by_logs);
}

/* ---- Making ---- */

/* The container whose processes an ephemeral one shares. */
static bool find_target(struct starter *s, struct str *ret)
{
    struct str target = value_text(s->spec, "targetContainerName");
    *ret = STR("");
    if (!target.n)
        return true;
    const struct runtime_container *c = runtime_find(s->have, target);
    if (!c)
        return fail_told(
            s, STR("CreateContainerConfigError"),
            arena_printf(s->a, "unable to find target container " STR_FMT, STR_ARG(target)));
    *ret = c->id;
    return true;
}

static bool make_config(struct starter *s, struct str image, const struct value *image_status,
                        struct value *ret)
{
    struct err err = ERR_INIT(s->a);
    struct container_case c = {
        .spec = s->spec,
        .attempt = attempt_of(s),
        .image = image,
        .image_status = image_status,
    };
    if (!find_target(s, &c.target_id))
        return false;
    if (pod_container_config(&s->at->place, &c, s->a, ret, &err) < 0)
        return fail_told(s, STR("CreateContainerConfigError"), cri_description(err.msg));
    actuated_put(s->ag, s->pod, s->spec, s->a);
    return true;
}

static bool create(struct starter *s, struct value *config, struct str *ret_id)
{
    struct err err = ERR_INIT(s->a);
    struct value req = value_object(), answer;
    value_put_new(s->a, &req, STR("pod_sandbox_id"), value_string(s->sandbox_id));
    value_put_new(s->a, &req, STR("config"), value_borrow(config));
    value_put_new(s->a, &req, STR("sandbox_config"), value_borrow(&s->at->sandbox_config));
    if (cri_call(s->ag->parts.cri, "CreateContainer", &req, CREATE_MS, s->a, &answer, &err) < 0)
        return fail_told(s, STR("CreateContainerError"), cri_description(err.msg));
    *ret_id = value_text(&answer, "container_id");
    s->ret->has_made = true;
    tell_container(s->ag, s->pod, s->name, SPN_NORMAL, "Created", "Container created");
    return true;
}

static bool start(struct starter *s, struct str id)
{
    struct err err = ERR_INIT(s->a);
    struct value req = value_object(), answer;
    value_put_new(s->a, &req, STR("container_id"), value_string(id));
    if (cri_call(s->ag->parts.cri, "StartContainer", &req, CREATE_MS, s->a, &answer, &err) < 0)
        return fail_told(s, STR("RunContainerError"), cri_description(err.msg));
    tell_container(s->ag, s->pod, s->name, SPN_NORMAL, "Started", "Container started");
    return true;
}

/* ---- postStart ---- */

static bool run_post_start(struct starter *s, struct str id)
{
    const struct value *hook = value_dig(s->spec, "lifecycle", "postStart");
    struct err err = ERR_INIT(s->a);
    if (!hook || hook_run(s->ag, s->pod, s->spec, id, hook, -1, s->a, &err) == 0)
        return true;
    tell_container(s->ag, s->pod, s->name, SPN_WARNING, "FailedPostStartHook",
                   "PostStartHook failed");
    struct str why = err.msg;
    struct runtime_container c = { .id = id, .name = s->name };
    struct err ignored = ERR_INIT(s->a);
    (void)kill_container(s->ag, s->pod, &c, STR("FailedPostStartHook"), KILL_OTHER, -1, &ignored);
    return fail(s, STR("PostStartHookError"), why);
}

/* A volume that is an image which cannot be had. */
static bool has_volumes(struct starter *s)
{
    for (size_t i = 0; i < s->at->place.n_volumes; i++) {
        const struct start_failure *f = &s->at->volume_failures[i];
        const struct value *mounts = value_get(s->spec, STR("volumeMounts"));
        if (!f->reason.n || !list_named(mounts, s->at->place.volumes[i].name))
            continue;
        tell_container(s->ag, s->pod, s->name, SPN_WARNING, "Failed", "Error: " STR_FMT,
                       STR_ARG(f->reason));
        return fail(s, f->reason, f->message);
    }
    return true;
}

bool start_container(struct agent *ag, struct sync_place *at, const struct value *spec,
                     const struct runtime_pod *have, struct str sandbox_id, struct arena *a,
                     struct start_failure *ret)
{
    struct starter s = {
        .ag = ag,
        .a = a,
        .at = at,
        .pod = at->place.pod,
        .spec = spec,
        .have = have,
        .name = value_text(spec, "name"),
        .sandbox_id = sandbox_id,
        .ret = ret,
    };
    struct str image, id;
    struct value image_status = value_object(), config;
    if (!has_volumes(&s))
        return false;
    if (!image_ensure(ag, s.pod, s.name, value_text(spec, "image"),
                      value_text(spec, "imagePullPolicy"), &at->sandbox_config, a, &image,
                      &image_status, ret)) {
        tell_container(ag, s.pod, s.name, SPN_WARNING, "Failed", "Error: " STR_FMT,
                       STR_ARG(ret->reason));
        return false;
    }
    return make_config(&s, image, &image_status, &config) && create(&s, &config, &id) &&
           start(&s, id) && run_post_start(&s, id);
}
