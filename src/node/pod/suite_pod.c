#include "node/pod/suite_pod.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"

struct value suite_json(struct arena *a, const char *text)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (json_read(a, str_of(text), NULL, &v, &err) < 0) {
        (void)fprintf(stderr, "%s: " STR_FMT "\n", text, STR_ARG(err.msg));
        abort();
    }
    return v;
}

struct str suite_text(struct arena *a, const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    return arena_str(a, buf_str(&out));
}

static int get(void *arg, const char *plural, struct str ns, struct str name, struct arena *a,
               struct value *ret, struct err *err)
{
    (void)ns;
    (void)a;
    const struct suite_world *w = arg;
    const struct value *found = value_get(value_get(&w->world, str_of(plural)), name);
    if (!found) {
        struct str kind = str_of(plural);
        kind.n--;
        return err_set(err, ERR_NOT_FOUND, STR_FMT " \"" STR_FMT "\" not found", STR_ARG(kind),
                       STR_ARG(name));
    }
    *ret = value_borrow(found);
    return 0;
}

static int services(void *arg, struct str ns, struct arena *a, struct value *ret, struct err *err)
{
    const struct suite_world *w = arg;
    const struct value *list = value_get(&w->world, STR("services"));
    if (!list)
        return err_set(err, ERR_UNAVAILABLE, "not yet");
    *ret = value_array();
    value_each_item (it, list)
        if (str_eq(value_str(value_dig(it, "metadata", "namespace")), ns))
            value_put_item(a, ret, value_borrow(it));
    return 0;
}

static int token(void *arg, const struct value *pod, const struct value *request, struct arena *a,
                 struct value *ret, struct err *err)
{
    struct suite_world *w = arg;
    struct str text = value_text(&w->world, "token");
    w->tokens++;
    if (!text.n)
        return err_set(err, ERR_FORBIDDEN, "no token for " STR_FMT, STR_ARG(pod_name(pod)));
    *ret = value_object();
    value_put_new(a, ret, STR("token"),
                  value_string(arena_printf(
                      a, STR_FMT " " STR_FMT, STR_ARG(text),
                      STR_ARG(value_str(value_at(value_get(request, STR("audiences")), 0))))));
    return 0;
}

struct pod_objects suite_objects(struct suite_world *w)
{
    return (struct pod_objects){ w, get, services, token };
}

/* ---- Files ---- */

struct str suite_folder(struct arena *a)
{
    char name[] = "/tmp/sampan-pod-XXXXXX";
    if (!mkdtemp(name))
        abort();
    return arena_str(a, str_of(name));
}

static int remove_one(struct arena *a, struct str path)
{
    struct str *places;
    size_t n = 0;
    struct err err = ERR_INIT(a);
    (void)mount_point_below(a, path, &places, &n, &err);
    for (size_t i = 0; i < n; i++)
        (void)umount2(str_cstr(a, places[i]), MNT_DETACH);
    return 0;
}

void suite_folder_remove(struct arena *a, struct str folder)
{
    (void)remove_one(a, folder);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)execlp("rm", "rm", "-rf", "--one-file-system", str_cstr(a, folder), NULL);
        _exit(1);
    }
    int status;
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        ;
}

void suite_write(struct arena *a, struct str folder, const char *name, const char *text)
{
    struct err err = ERR_INIT(a);
    struct str path = path_join(a, folder, str_of(name));
    if (mount_point_parents(a, path, 0755) < 0 ||
        file_write_atomic(str_cstr(a, path), str_of(text), 0644, FILE_CHEAP, &err) < 0)
        abort();
}

struct str suite_read(struct arena *a, struct str folder, const char *name)
{
    autobuf out = { 0 };
    struct err err = ERR_INIT(a);
    if (file_read(str_cstr(a, path_join(a, folder, str_of(name))), 1 << 20, &out, &err) < 0)
        return STR("(none)");
    return arena_str(a, buf_str(&out));
}

bool suite_can_mount(void)
{
    static int known;
    if (!known)
        known = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
                    ? 1
                    : -1;
    return known > 0;
}
