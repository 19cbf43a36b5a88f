#include "node/register/machine.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/banned.h"

enum { FILE_MAX = 1 << 20, ROUTE_UP = 1, ROUTE_FIELDS = 8 };

/* The whole of a small file, trimmed; empty if it cannot be read. */
static struct str read_text(struct arena *a, const char *path)
{
    autobuf text = { 0 };
    if (file_read(path, FILE_MAX, &text, NULL) < 0)
        return STR("");
    return arena_str(a, str_trim(buf_str(&text)));
}

static struct str read_first(struct arena *a, const char *const *paths, size_t n)
{
    struct str text = STR("");
    for (size_t i = 0; i < n && !text.n; i++)
        text = read_text(a, paths[i]);
    return text;
}

bool machine_meminfo(struct str text, struct str name, uint64_t *ret_bytes)
{
    while (text.n) {
        struct str line = str_cut(&text, '\n'), key = str_cut(&line, ':');
        uint64_t kib;
        if (!str_eq(key, name))
            continue;
        line = str_trim(line);
        if (!str_to_u64(str_cut(&line, ' '), &kib) || kib > UINT64_MAX / 1024)
            return false;
        *ret_bytes = kib * 1024;
        return true;
    }
    return false;
}

struct str machine_os_release(struct str text, struct str key)
{
    while (text.n) {
        struct str line = str_cut(&text, '\n'), name = str_cut(&line, '=');
        if (!str_eq(str_trim(name), key))
            continue;
        line = str_trim(line);
        if (line.n >= 2 && (line.p[0] == '"' || line.p[0] == '\'') &&
            line.p[line.n - 1] == line.p[0])
            line = str_take(str_skip(line, 1), line.n - 2);
        return line;
    }
    return STR("");
}

/* ---- Huge pages ---- */

static int by_size(const void *a, const void *b)
{
    const struct machine_pages *x = a, *y = b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Folders are named "hugepages-2048kB". */
static void read_pages(struct arena *a, struct machine *m)
{
    DIR *dir = opendir("/sys/kernel/mm/hugepages");
    const struct dirent *e;
    while (dir && m->n_pages < MACHINE_PAGE_SIZES && (e = readdir(dir))) {
        struct str name = str_of(e->d_name);
        uint64_t kib, count;
        if (!str_starts(name, STR("hugepages-")) || !str_ends(name, STR("kB")))
            continue;
        struct str size = str_skip(str_take(name, name.n - 2), STR("hugepages-").n);
        struct str path = arena_printf(a, "/sys/kernel/mm/hugepages/%s/nr_hugepages", e->d_name);
        if (str_to_u64(size, &kib) && str_to_u64(read_text(a, str_cstr(a, path)), &count))
            m->pages[m->n_pages++] = (struct machine_pages){ kib * 1024, count };
    }
    if (dir)
        (void)closedir(dir);
    qsort(m->pages, m->n_pages, sizeof(m->pages[0]), by_size);
}

/* ---- Names ---- */

static struct str architecture(struct arena *a, const char *machine)
{
    static const char *const rows[][2] = {
        { "x86_64", "amd64" },    { "aarch64", "arm64" },   { "armv7l", "arm" },
        { "i686", "386" },        { "ppc64le", "ppc64le" }, { "s390x", "s390x" },
        { "riscv64", "riscv64" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(str_of(machine), str_of(rows[i][0])))
            return str_of(rows[i][1]);
    return arena_str(a, str_of(machine));
}

static struct str lower_case(struct arena *a, struct str s)
{
    char *text = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] |= 0x20;
    return (struct str){ text, s.n };
}

static void read_names(struct arena *a, struct machine *m)
{
    static const char *const ids[] = { "/etc/machine-id", "/var/lib/dbus/machine-id" };
    static const char *const uuids[] = { "/sys/class/dmi/id/product_uuid",
                                         "/proc/device-tree/system-id", "/proc/device-tree/vm,uuid",
                                         "/etc/machine-id" };
    static const char *const systems[] = { "/etc/os-release", "/usr/lib/os-release" };
    struct utsname host;
    m->machine_id = read_first(a, ids, ARRAY_LEN(ids));
    m->system_uuid = read_first(a, uuids, ARRAY_LEN(uuids));
    m->boot_id = read_text(a, "/proc/sys/kernel/random/boot_id");
    m->os_image =
        machine_os_release(read_first(a, systems, ARRAY_LEN(systems)), STR("PRETTY_NAME"));
    if (!m->os_image.n)
        m->os_image = STR("Linux");
    if (uname(&host) < 0)
        return;
    m->kernel = arena_str(a, str_of(host.release));
    m->architecture = architecture(a, host.machine);
    m->hostname = lower_case(a, str_trim(str_of(host.nodename)));
}

/* Ids of the whole machine are the same inside and outside, unless this is a user namespace. */
static bool is_in_user_namespace(struct arena *a)
{
    struct str map = read_text(a, "/proc/self/uid_map"), words[3];
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        map = str_trim(map);
        words[i] = str_cut(&map, ' ');
    }
    return words[2].n && !(str_eq(words[0], STR("0")) && str_eq(words[1], STR("0")) &&
                           str_eq(words[2], STR("4294967295")) && !map.n);
}

/* ---- Sizes ---- */

static uint64_t disk_bytes(struct arena *a, struct str dir)
{
    struct statvfs fs;
    while (dir.n) {
        if (statvfs(str_cstr(a, dir), &fs) == 0)
            return (uint64_t)fs.f_blocks * fs.f_frsize;
        while (dir.n && dir.p[dir.n - 1] != '/')
            dir.n--;
        while (dir.n > 1 && dir.p[dir.n - 1] == '/')
            dir.n--;
    }
    return 0;
}

static int64_t boot_time(struct arena *a)
{
    struct str uptime = read_text(a, "/proc/uptime");
    struct str whole = str_cut(&uptime, '.');
    int64_t sec = 0;
    (void)str_to_i64(whole, &sec);
    return (clock_wall_ns(&clock_system) / NS_PER_SEC - sec) * NS_PER_SEC;
}

int machine_read(struct arena *a, struct str root_dir, struct machine *ret, struct err *err)
{
    struct machine m = { 0 };
    struct str memory = read_text(a, "/proc/meminfo");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!machine_meminfo(memory, STR("MemTotal"), &m.memory_bytes) || cores < 1)
        return err_set(err, ERR_UNAVAILABLE, "/proc does not tell what this machine has");
    (void)machine_meminfo(memory, STR("SwapTotal"), &m.swap_bytes);
    m.cores = (unsigned)cores;
    m.disk_bytes = disk_bytes(a, root_dir);
    (void)str_to_u64(read_text(a, "/proc/sys/kernel/pid_max"), &m.max_pids);
    m.boot_ns = boot_time(a);
    m.in_user_namespace = is_in_user_namespace(a);
    read_pages(a, &m);
    read_names(a, &m);
    *ret = m;
    return 0;
}

/* ---- Addresses ---- */

/* The interface of the default route with the least metric, in the words of /proc/net/route: name,
 * destination, gateway, flags, references, uses, metric, mask. */
static struct str default_interface(struct arena *a)
{
    struct str rest = read_text(a, "/proc/net/route"), best = STR("");
    uint64_t best_metric = UINT64_MAX;
    (void)str_cut(&rest, '\n');
    while (rest.n) {
        struct str line = str_cut(&rest, '\n'), f[ROUTE_FIELDS];
        uint64_t metric;
        for (size_t i = 0; i < ROUTE_FIELDS; i++)
            f[i] = str_trim(str_cut(&line, '\t'));
        const bool is_default = str_eq(f[1], STR("00000000")) && str_eq(f[7], STR("00000000"));
        const bool is_up = f[3].n && (str_hex_digit(f[3].p[f[3].n - 1]) & ROUTE_UP);
        if (is_default && is_up && str_to_u64(f[6], &metric) && metric < best_metric) {
            best = f[0];
            best_metric = metric;
        }
    }
    return best;
}

/* The text of an address that others can reach; empty: it is none. */
static struct str global_text(struct arena *a, const struct ifaddrs *i)
{
    char text[INET6_ADDRSTRLEN];
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP))
        return STR("");
    if (i->ifa_addr->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)i->ifa_addr;
        const uint32_t ip = ntohl(v4->sin_addr.s_addr);
        if (ip >> 24 == 127 || ip >> 16 == 0xa9fe || !ip)
            return STR("");
        return arena_str(a, str_of(inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text))));
    }
    if (i->ifa_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)i->ifa_addr;
        if (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
            return STR("");
        return arena_str(a, str_of(inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text))));
    }
    return STR("");
}

/* How good an address is: of the default route's interface before others, IPv4 before IPv6. */
static int rank(const struct ifaddrs *i, struct str device)
{
    return (device.n && str_eq(str_of(i->ifa_name), device) ? 2 : 0) +
           (i->ifa_addr->sa_family == AF_INET ? 1 : 0) + 1;
}

int machine_own_ip(struct arena *a, struct str *ret, struct err *err)
{
    struct str device = default_interface(a), best = STR("");
    struct ifaddrs *all = NULL;
    int best_rank = 0;
    if (getifaddrs(&all) < 0)
        return err_set(err, ERR_NOT_FOUND, "the interfaces of this machine cannot be listed");
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        struct str text = global_text(a, i);
        if (!text.n || rank(i, device) <= best_rank)
            continue;
        best = text;
        best_rank = rank(i, device);
    }
    freeifaddrs(all);
    if (!best.n)
        return err_set(err, ERR_NOT_FOUND,
                       "no interface of this machine has an address for the node; name one");
    *ret = best;
    return 0;
}
