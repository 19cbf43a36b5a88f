#include "node/stats/node_usage.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/banned.h"

enum { FILE_MAX = 1 << 20, TICK_NS = 10000000, CPU_WORDS = 8, IDLE = 3, IOWAIT = 4 };

/* The next word, whatever space is between. */
static struct str word(struct str *rest)
{
    size_t n = 0;
    while (rest->n && (rest->p[0] == ' ' || rest->p[0] == '\t'))
        *rest = str_skip(*rest, 1);
    while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t')
        n++;
    struct str w = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return w;
}

bool node_usage_cpu(struct str proc_stat, struct node_usage *ret)
{
    struct str line = str_cut(&proc_stat, '\n');
    uint64_t ticks = 0, n;
    if (!str_eq(word(&line), STR("cpu")))
        return false;
    for (int i = 0; i < CPU_WORDS; i++) {
        if (!str_to_u64(word(&line), &n))
            return false;
        if (i != IDLE && i != IOWAIT)
            ticks += n;
    }
    ret->cpu_ns = ticks * TICK_NS;
    return true;
}

/* The number behind NAME in lines "NAME: 12 kB" or "NAME 12". */
static uint64_t number_of(struct str text, const char *name)
{
    while (text.n) {
        struct str line = str_cut(&text, '\n'), key = word(&line);
        uint64_t n = 0;
        if (str_ends(key, STR(":")))
            key.n--;
        if (str_eq(key, str_of(name)))
            return str_to_u64(word(&line), &n) ? n : 0;
    }
    return 0;
}

bool node_usage_memory(struct str meminfo, struct str vmstat, struct node_usage *ret)
{
    const uint64_t total = number_of(meminfo, "MemTotal") * 1024;
    const uint64_t free_bytes = number_of(meminfo, "MemFree") * 1024;
    const uint64_t inactive = number_of(meminfo, "Inactive(file)") * 1024;
    if (!total || free_bytes > total)
        return false;
    ret->memory_total = total;
    ret->memory_usage = total - free_bytes;
    ret->working_set = ret->memory_usage > inactive ? ret->memory_usage - inactive : 0;
    ret->rss = number_of(meminfo, "AnonPages") * 1024;
    ret->swap_usage =
        (number_of(meminfo, "SwapTotal") - number_of(meminfo, "SwapFree")) * UINT64_C(1024);
    ret->swap_free = number_of(meminfo, "SwapFree") * 1024;
    ret->faults = number_of(vmstat, "pgfault");
    ret->major_faults = number_of(vmstat, "pgmajfault");
    return true;
}

/* "some avg10=0.12 avg60=0.00 avg300=0.00 total=12345", in microseconds. */
static struct node_psi psi_of(struct str line)
{
    struct node_psi psi = { 0 };
    while (line.n) {
        struct str value = word(&line), key = str_cut(&value, '=');
        char text[32] = { 0 };
        if (value.n >= sizeof(text))
            continue;
        memcpy(text, value.p, value.n);
        if (str_eq(key, STR("avg10")))
            psi.avg10 = strtod(text, NULL);
        else if (str_eq(key, STR("avg60")))
            psi.avg60 = strtod(text, NULL);
        else if (str_eq(key, STR("avg300")))
            psi.avg300 = strtod(text, NULL);
        else if (str_eq(key, STR("total")) && str_to_u64(value, &psi.total))
            psi.total *= 1000;
    }
    return psi;
}

struct node_pressures node_usage_pressure(struct str text)
{
    struct node_pressures p = { 0 };
    while (text.n) {
        struct str line = str_cut(&text, '\n'), what = word(&line);
        if (str_eq(what, STR("some")))
            p.some = psi_of(line);
        else if (str_eq(what, STR("full")))
            p.full = psi_of(line);
    }
    return p;
}

bool node_usage_network(struct str net_dev, struct str interface, struct node_usage *ret)
{
    while (net_dev.n) {
        struct str line = str_cut(&net_dev, '\n'), name = str_trim(str_cut(&line, ':'));
        uint64_t n[11] = { 0 };
        if (!line.n || !str_eq(name, interface))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(n); i++)
            if (!str_to_u64(word(&line), &n[i]))
                return false;
        ret->rx_bytes = n[0];
        ret->rx_errors = n[2];
        ret->tx_bytes = n[8];
        ret->tx_errors = n[10];
        return true;
    }
    return false;
}

/* ---- The machine ---- */

static struct str read_text(struct arena *a, const char *path)
{
    autobuf text = { 0 };
    if (file_read(path, FILE_MAX, &text, NULL) < 0)
        return STR("");
    return arena_str(a, buf_str(&text));
}

static struct str default_interface(struct arena *a)
{
    struct str rest = read_text(a, "/proc/net/route");
    (void)str_cut(&rest, '\n');
    while (rest.n) {
        struct str line = str_cut(&rest, '\n'), name = word(&line);
        if (str_eq(word(&line), STR("00000000")))
            return name;
    }
    return STR("");
}

static void read_disk(struct arena *a, struct str root_dir, struct node_usage *u)
{
    struct statvfs fs;
    if (statvfs(str_cstr(a, root_dir), &fs) < 0 && statvfs("/", &fs) < 0)
        return;
    u->fs_capacity = (uint64_t)fs.f_blocks * fs.f_frsize;
    u->fs_available = (uint64_t)fs.f_bavail * fs.f_frsize;
    u->fs_used = (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_frsize;
    u->inodes = fs.f_files;
    u->inodes_free = fs.f_ffree;
}

int node_usage_read(struct arena *a, struct str root_dir, struct node_usage *ret, struct err *err)
{
    struct node_usage u = { .at_ns = clock_wall_ns(&clock_system) };
    struct sysinfo info;
    struct str device = default_interface(a);
    if (!node_usage_cpu(read_text(a, "/proc/stat"), &u) ||
        !node_usage_memory(read_text(a, "/proc/meminfo"), read_text(a, "/proc/vmstat"), &u))
        return err_set(err, ERR_UNAVAILABLE, "/proc does not tell what this machine uses");
    u.cpu = node_usage_pressure(read_text(a, "/proc/pressure/cpu"));
    u.memory = node_usage_pressure(read_text(a, "/proc/pressure/memory"));
    u.io = node_usage_pressure(read_text(a, "/proc/pressure/io"));
    if (device.n && device.n < sizeof(u.interface) &&
        node_usage_network(read_text(a, "/proc/net/dev"), device, &u))
        memcpy(u.interface, device.p, device.n);
    if (sysinfo(&info) == 0)
        u.processes = info.procs;
    (void)str_to_u64(str_trim(read_text(a, "/proc/sys/kernel/pid_max")), &u.max_pids);
    read_disk(a, root_dir, &u);
    *ret = u;
    return 0;
}
