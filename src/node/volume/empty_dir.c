#include "node/volume/empty_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/quantity.h"
#include "api/resource_name.h"
#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_spec.h"
#include "node/volume/ownership.h"
#include "base/banned.h"

static int fault(struct arena *a, const char *what, struct str path, struct err *err)
{
    return err_set(err, ERR_IO, "%s " STR_FMT ": " STR_FMT, what, STR_ARG(path),
                   STR_ARG(go_errno(a, errno)));
}

/* ---- Whether it was made before ---- */

static struct str mark_of(struct arena *a, const struct payload_case *c, struct str name)
{
    return arena_printf(a, STR_FMT "/plugins/kubernetes.io~empty-dir/" STR_FMT "/ready",
                        STR_ARG(pod_folder(a, c->node, pod_uid(c->pod))), STR_ARG(name));
}

static void set_mark(struct arena *a, struct str mark)
{
    if (mount_point_parents(a, mark, 0750) < 0)
        return;
    const int fd = open(str_cstr(a, mark), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd >= 0)
        close(fd);
}

/* ---- The folder ---- */

static int make_folder(struct arena *a, struct str path, struct err *err)
{
    struct stat st;
    const char *p = str_cstr(a, path);
    if (mount_point_parents(a, path, 0750) < 0 || (mkdir(p, 0777) < 0 && errno != EEXIST))
        return fault(a, "mkdir", path, err);
    if (lstat(p, &st) < 0 || !S_ISDIR(st.st_mode))
        return fault(a, "lstat", path, err);
    if ((st.st_mode & 0777) != 0777 && chmod(p, 0777) < 0)
        return fault(a, "chmod", path, err);
    return 0;
}

static int64_t smaller(int64_t most, int64_t limit)
{
    return limit > 0 && (most <= 0 || limit <= most) ? limit : most;
}

/* No more than the node has, the pod may use, or the volume says. */
static int64_t memory_size(struct arena *a, const struct payload_case *c,
                           const struct value *source)
{
    int64_t size = amount_units(value_text(&c->node->allocatable, "memory"));
    size = smaller(size, pod_limits(a, c->pod).memory);
    return smaller(size, amount_units(value_text(source, "sizeLimit")));
}

static int mount_memory(struct arena *a, const struct payload_case *c, const struct value *source,
                        struct str path, struct err *err)
{
    const char *p = str_cstr(a, path);
    const int64_t size = memory_size(a, c, source);
    struct str options =
        size > 0 ? arena_printf(a, "size=%lld", (long long)size) : STR("mode=1777");
    struct str no_swap = arena_printf(a, STR_FMT ",noswap", STR_ARG(options));
    if (mount_point_is(p) || mount("tmpfs", p, "tmpfs", 0, str_cstr(a, no_swap)) == 0)
        return 0;
    /* Older kernels do not know noswap. */
    return mount("tmpfs", p, "tmpfs", 0, str_cstr(a, options)) == 0 ? 0
                                                                    : fault(a, "mount", path, err);
}

/* ---- Huge pages ---- */

struct page_size {
    struct arena *arena;
    struct str medium, size; /* "2Mi" */
    bool is_found, is_ambiguous;
};

static void see_requests(struct page_size *s, const struct value *resources)
{
    struct str wanted = str_skip(s->medium, STR("HugePages-").n);
    value_each_field (f, value_get(resources, STR("requests"))) {
        struct str size = str_skip(f->key, RESOURCE_HUGE_PAGES.n);
        if (!resource_is_huge_page(f->key))
            continue;
        if (wanted.n && quantity_cmp(size, wanted) != 0)
            continue;
        s->is_ambiguous = s->is_ambiguous || (s->is_found && quantity_cmp(size, s->size) != 0);
        s->is_found = true;
        s->size = size;
    }
}

static bool see_container(void *arg, const struct value *container)
{
    see_requests(arg, value_get(container, STR("resources")));
    return true;
}

static int mount_huge_pages(struct arena *a, const struct payload_case *c, struct str medium,
                            struct str path, struct err *err)
{
    struct page_size s = { .arena = a, .medium = medium };
    see_requests(&s, value_dig(c->pod, "spec", "resources"));
    (void)pod_each_container(c->pod, see_container, &s);
    if (s.is_ambiguous)
        return err_set(err, ERR_INVALID,
                       "medium: " STR_FMT
                       " can't be used if container requests multiple huge page sizes",
                       STR_ARG(medium));
    if (!s.is_found)
        return err_set(err, ERR_INVALID,
                       "medium " STR_FMT ": hugePages storage requested, but there is no resource "
                       "request for huge pages",
                       STR_ARG(medium));
    struct str option = arena_printf(a, "pagesize=%lld", (long long)amount_units(s.size));
    const char *p = str_cstr(a, path);
    if (mount_point_is(p) || mount("nodev", p, "hugetlbfs", 0, str_cstr(a, option)) == 0)
        return 0;
    return fault(a, "mount", path, err);
}

/* ---- All of it ---- */

static int fill(struct arena *a, const struct payload_case *c, const struct value *source,
                struct str medium, struct str path, struct err *err)
{
    if (!medium.n)
        return 0;
    if (str_eq(medium, STR("Memory")))
        return mount_memory(a, c, source, path, err);
    if (str_starts(medium, STR("HugePages")))
        return mount_huge_pages(a, c, medium, path, err);
    return err_set(err, ERR_INVALID, "unknown storage medium " STR_FMT,
                   STR_ARG(go_quote(a, medium)));
}

int empty_dir_make(struct arena *a, const struct payload_case *c, struct str name, struct str path,
                   const struct value *source, bool in_memory, struct err *err)
{
    int64_t group;
    struct str medium = in_memory ? STR("Memory") : value_text(source, "medium");
    struct str mark = mark_of(a, c, name);
    const char *p = str_cstr(a, path);
    if (access(str_cstr(a, mark), F_OK) == 0 && access(p, F_OK) == 0 &&
        (!medium.n || mount_point_is(p)))
        return 0;
    int r = make_folder(a, path, err);
    if (r < 0)
        return r;
    r = fill(a, c, source, medium, path, err);
    if (r < 0)
        return r;
    if (pod_fs_group(c->pod, &group))
        (void)ownership_set(p, group, false, false);
    set_mark(a, mark);
    return 0;
}
