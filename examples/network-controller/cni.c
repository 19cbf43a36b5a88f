/* cni.c - see cni.h. */
#include "cni.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sampan/value.h>

#define CNI_FRONT "90-"
#define CNI_END   ".conflist"

/* The network's name in CNI, which allows no slash. A namespace has no dot, so it is unique. */
static struct spn_text network_name(struct spn_arena *a, struct spn_text key)
{
    char *name = (char *)spn_arena_text(a, key).p;
    for (size_t i = 0; i < key.n; i++)
        if (name[i] == '/')
            name[i] = '.';
    return (struct spn_text){ name, key.n };
}

static struct spn_value *wrap(struct spn_arena *a, struct spn_value *item)
{
    struct spn_value *list = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, list, item);
    return list;
}

static struct spn_value *address_plugin(struct spn_arena *a, const struct plan_want *want)
{
    char text[PREFIX_TEXT];
    struct spn_value *range = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, range, "subnet",
                       spn_arena_text(a, spn_text_of(prefix_text(&want->cidr, text))));
    spn_value_set_text(a, range, "gateway",
                       spn_arena_text(a, spn_text_of(prefix_address_text(&want->address, text))));
    struct spn_value *route = spn_value_new(a, SPN_OBJECT);
    bool is_v4 = prefix_bytes(want->cidr.family) == 4;
    spn_value_set_text(a, route, "dst", is_v4 ? SPN_TEXT("0.0.0.0/0") : SPN_TEXT("::/0"));

    struct spn_value *ipam = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, ipam, "type", SPN_TEXT("host-local"));
    spn_value_set(a, ipam, "ranges", wrap(a, wrap(a, range)));
    spn_value_set(a, ipam, "routes", wrap(a, route));
    return ipam;
}

/* The bridge, its address and NAT are the controller's, so the plugin only attaches pods. */
static struct spn_value *bridge_plugin(struct spn_arena *a, const struct plan_want *want)
{
    struct spn_value *plugin = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, plugin, "type", SPN_TEXT("bridge"));
    spn_value_set_text(a, plugin, "bridge", spn_arena_text(a, spn_text_of(want->bridge)));
    spn_value_set_bool(a, plugin, "isGateway", false);
    spn_value_set_bool(a, plugin, "ipMasq", false);
    spn_value_set_bool(a, plugin, "hairpinMode", true);
    spn_value_set_int(a, plugin, "mtu", want->mtu);
    spn_value_set(a, plugin, "ipam", address_plugin(a, want));
    return plugin;
}

struct spn_text cni_text(struct spn_arena *a, struct spn_text key, const struct plan_want *want)
{
    struct spn_value *list = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, list, "cniVersion", SPN_TEXT("0.4.0"));
    spn_value_set_text(a, list, "name", network_name(a, key));
    spn_value_set(a, list, "plugins", wrap(a, bridge_plugin(a, want)));
    return spn_arena_printf(a, SPN_FMT "\n", SPN_ARG(spn_value_json(a, list)));
}

static void path_of(const char *folder, const char *bridge, const char *end, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%s/" CNI_FRONT "%s%s", folder, bridge, end);
}

static int fail(struct spn_err *err, const char *path)
{
    return spn_err_set(err, SPN_FILE, "%s: %s", path, strerror(errno));
}

static bool has_text(const char *path, struct spn_text text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char buf[4096];
    ssize_t n = read(fd, buf, sizeof(buf));
    close(fd);
    return n >= 0 && (size_t)n == text.n && memcmp(buf, text.p, text.n) == 0;
}

static bool write_all(int fd, struct spn_text text)
{
    size_t done = 0;
    while (done < text.n) {
        ssize_t n = write(fd, text.p + done, text.n - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) == 0;
}

static int write_file(const char *path, struct spn_text text, struct spn_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return fail(err, path);
    int r = write_all(fd, text) ? 0 : fail(err, path);
    close(fd);
    return r;
}

int cni_write(const char *folder, const char *bridge, struct spn_text text, struct spn_err *err)
{
    char path[PATH_MAX], beside[PATH_MAX];
    path_of(folder, bridge, CNI_END, path);
    path_of(folder, bridge, ".new", beside);
    if (has_text(path, text))
        return 0;
    int r = write_file(beside, text, err);
    if (r < 0)
        return r;
    return rename(beside, path) < 0 ? fail(err, path) : 1;
}

int cni_remove(const char *folder, const char *bridge, struct spn_err *err)
{
    char path[PATH_MAX];
    path_of(folder, bridge, ".new", path);
    (void)unlink(path);
    path_of(folder, bridge, CNI_END, path);
    return unlink(path) < 0 && errno != ENOENT ? fail(err, path) : 0;
}

/* False: the file is not one of ours. */
static bool bridge_of(const char *file, char ret[PLAN_NAME])
{
    if (strncmp(file, CNI_FRONT, strlen(CNI_FRONT)) != 0)
        return false;
    const char *bridge = file + strlen(CNI_FRONT);
    size_t n = strcspn(bridge, ".");
    if (n >= PLAN_NAME || strcmp(bridge + n, CNI_END) != 0)
        return false;
    memcpy(ret, bridge, n);
    ret[n] = 0;
    uint8_t mac[6];
    return plan_bridge_mac(ret, mac);
}

int cni_each_bridge(const char *folder, void (*fn)(void *arg, const char *bridge), void *arg,
                    struct spn_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return errno == ENOENT ? 0 : fail(err, folder);
    const struct dirent *entry;
    char bridge[PLAN_NAME];
    while ((entry = readdir(dir)))
        if (bridge_of(entry->d_name, bridge))
            fn(arg, bridge);
    closedir(dir);
    return 0;
}
