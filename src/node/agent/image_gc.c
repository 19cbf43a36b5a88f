/* image_gc.c - images that nobody has used for long go when the disk is full. */
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

struct image {
    struct str id;
    uint64_t size;
    bool is_used, is_pinned;
};

/* Where images lie; empty: the runtime does not say. */
static struct str image_folder(struct agent *ag, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct value info;
    if (cri_call(ag->parts.cri, "ImageFsInfo", NULL, 0, a, &info, &err) < 0)
        return STR("");
    const struct value *fs = value_at(value_get(&info, STR("image_filesystems")), 0);
    return value_str(value_dig(fs, "fs_id", "mountpoint"));
}

/* Images by what containers say they run. */
static bool is_used(const struct value *containers, struct str id)
{
    value_each_item (c, containers) {
        if (str_eq(value_text(c, "image_id"), id) || str_eq(value_text(c, "image_ref"), id) ||
            str_eq(value_str(value_dig(c, "image", "image")), id))
            return true;
    }
    return false;
}

static int by_size(const void *a, const void *b)
{
    const struct image *x = a, *y = b;
    return (x->size < y->size) - (x->size > y->size);
}

static size_t list_images(struct agent *ag, struct arena *a, struct image **ret)
{
    struct err err = ERR_INIT(a);
    struct value images, containers;
    if (cri_call(ag->parts.cri, "ListImages", NULL, 0, a, &images, &err) < 0 ||
        cri_call(ag->parts.cri, "ListContainers", NULL, 0, a, &containers, &err) < 0)
        return 0;
    const struct value *list = value_get(&images, STR("images"));
    size_t n = 0;
    *ret = arena_array(a, struct image, (list ? list->n : 0) + 1);
    value_each_item (it, list) {
        struct image *i = &(*ret)[n++];
        int64_t size = 0;
        (void)value_to_int(value_get(it, STR("size")), &size);
        i->id = value_text(it, "id");
        i->size = (uint64_t)size;
        i->is_pinned = value_is_true(value_get(it, STR("pinned")));
        i->is_used = is_used(value_get(&containers, STR("containers")), i->id);
    }
    qsort(*ret, n, sizeof(**ret), by_size);
    return n;
}

static bool remove_image(struct agent *ag, struct str id, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct value req = value_object(), spec = value_object(), answer;
    value_put_new(a, &spec, STR("image"), value_string(id));
    value_put_new(a, &req, STR("image"), spec);
    return cri_call(ag->parts.cri, "RemoveImage", &req, 0, a, &answer, &err) == 0;
}

uint64_t image_gc_free(struct agent *ag, uint64_t wanted, struct arena *a)
{
    struct image *all = NULL;
    size_t n = list_images(ag, a, &all);
    uint64_t freed = 0;
    for (size_t i = 0; i < n && freed < wanted; i++)
        if (!all[i].is_used && !all[i].is_pinned && remove_image(ag, all[i].id, a))
            freed += all[i].size;
    return freed;
}

void image_gc_run(struct agent *ag)
{
    struct arena a;
    struct statvfs fs;
    if (ag->opt.image_gc_high >= 100 ||
        agent_wall_ns() - ag->start_ns < ag->opt.image_min_age_ms * NS_PER_MS)
        return;
    arena_init(&a);
    struct str folder = image_folder(ag, &a);
    if (folder.n && statvfs(str_cstr(&a, folder), &fs) == 0 && fs.f_blocks) {
        uint64_t capacity = (uint64_t)fs.f_blocks * fs.f_frsize;
        uint64_t used = capacity - (uint64_t)fs.f_bavail * fs.f_frsize;
        uint64_t low = capacity / 100 * ag->opt.image_gc_low;
        if (used * 100 / capacity >= ag->opt.image_gc_high && used > low) {
            uint64_t freed = image_gc_free(ag, used - low, &a);
            log_info("images were removed because the disk is full", LOG_INT("bytes", freed));
        }
    }
    arena_done(&a);
}
