#include "node/serve/container_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/go/gotime.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/banned.h"

enum {
    READ_BYTES = 64 << 10,
    TAIL_BYTES = 4096,
    LOOK_MS = 100,      /* between looks at a file that is followed */
    LOOKS_PER_ASK = 10, /* between questions whether the container still runs */
    NANO_DIGITS = 9,
};

/* ---- Lines ---- */

bool log_line_parse(struct str line, struct log_line *ret)
{
    struct log_line l = { 0 };
    struct str rest = line, tags;
    l.time = str_cut(&rest, ' ');
    struct str stream = str_cut(&rest, ' ');
    if (!rest.p || !l.time.n)
        return false;
    l.is_stderr = str_eq(stream, STR("stderr"));
    if (!l.is_stderr && !str_eq(stream, STR("stdout")))
        return false;
    tags = str_cut(&rest, ' ');
    if (!rest.p)
        return false;
    l.goes_on = str_eq(str_cut(&tags, ':'), STR("P"));
    l.text = rest;
    if (l.goes_on && str_ends(rest, STR("\n")))
        l.text.n--;
    *ret = l;
    return true;
}

struct str log_time_text(struct str time, char out[static LOG_TIME_BYTES])
{
    const ptrdiff_t dot = str_find(time, '.');
    size_t whole = dot >= 0 ? (size_t)dot : 0, digits = 0, n = 0;
    if (dot < 0) /* "...:48Z" or "...:48+01:00" */
        while (whole < time.n && whole < 19)
            whole++;
    struct str zone = str_skip(time, whole + (dot >= 0));
    while (digits < zone.n && zone.p[digits] >= '0' && zone.p[digits] <= '9')
        digits++;
    struct str part = str_take(zone, digits);
    zone = str_skip(zone, digits);
    if (whole + NANO_DIGITS + zone.n + 1 > LOG_TIME_BYTES)
        return time;
    memcpy(out, time.p, whole);
    n = whole;
    out[n++] = '.';
    for (size_t i = 0; i < NANO_DIGITS; i++)
        out[n++] = i < part.n ? part.p[i] : '0';
    memcpy(out + n, zone.p, zone.n);
    return (struct str){ out, n + zone.n };
}

/* ---- Reading ---- */

struct reader {
    const char *path;
    const struct log_view *view;
    const struct log_sink *sink;
    int fd;
    struct buf held;  /* what was read and not told yet */
    int64_t left;     /* bytes that may still be told; negative: any number */
    int64_t lines;    /* that may still be told; negative: any number */
    bool is_new_line; /* the next piece begins a line */
    bool is_over;
};

static int fail_open(struct reader *r, struct err *err)
{
    const int why = errno;
    return err_errno(err, why, "failed to try resolving symlinks in path \"%s\"", r->path);
}

/* Where the last lines begin. */
static off_t tail_start(int fd, int64_t n)
{
    struct stat st;
    char block[TAIL_BYTES];
    int64_t ends = 0;
    if (n < 0 || fstat(fd, &st) < 0)
        return 0;
    for (off_t right = st.st_size; right > 0;) {
        const off_t left = right > TAIL_BYTES ? right - TAIL_BYTES : 0;
        const ssize_t got = pread(fd, block, (size_t)(right - left), left);
        for (ssize_t i = got - 1; i >= 0; i--)
            if (block[i] == '\n' && ends++ == n)
                return left + i + 1;
        right = left;
    }
    return 0;
}

static void tell(struct reader *r, struct str text)
{
    if (r->left >= 0) {
        text = str_take(text, (size_t)r->left);
        r->left -= (int64_t)text.n;
    }
    if (text.n && r->sink->write(r->sink->arg, text) < 0)
        r->is_over = true;
    if (r->left == 0)
        r->is_over = true;
}

static void take_line(struct reader *r, struct str line)
{
    const struct log_view *v = r->view;
    struct log_line l;
    int64_t at;
    char time[LOG_TIME_BYTES];
    autobuf out = { 0 };
    if (!log_line_parse(line, &l))
        return;
    const bool is_old = v->since_ns && gotime_read_ns(l.time, &at) && at < v->since_ns;
    const bool is_wanted = l.is_stderr ? !v->no_stderr : !v->no_stdout;
    if (v->timestamps && r->is_new_line) {
        buf_str_add(&out, log_time_text(l.time, time));
        buf_byte(&out, ' ');
    }
    buf_str_add(&out, l.text);
    if (!is_old && is_wanted)
        tell(r, buf_str(&out));
    if (r->lines > 0)
        r->lines--;
    r->is_new_line = !l.text.n || l.text.p[l.text.n - 1] == '\n';
}

/* Tells whole lines, and what is left if `to_end`. */
static void take_held(struct reader *r, bool to_end)
{
    struct str rest = buf_str(&r->held);
    while (rest.n && !r->is_over && r->lines != 0) {
        const ptrdiff_t at = str_find(rest, '\n');
        if (at < 0 && !to_end && rest.n < LIMIT_LOG_LINE_BYTES)
            break;
        struct str line = at < 0 ? rest : str_take(rest, (size_t)at + 1);
        rest = str_skip(rest, line.n);
        take_line(r, line);
    }
    if (r->lines == 0)
        r->is_over = true;
    buf_drop(&r->held, r->held.n - rest.n);
}

/* All there is now. */
static int read_on(struct reader *r, struct err *err)
{
    while (!r->is_over) {
        buf_reserve(&r->held, READ_BYTES);
        const ssize_t n = read(r->fd, r->held.p + r->held.n, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "failed to read log file \"%s\"", r->path);
        if (n == 0)
            return 0;
        r->held.n += (size_t)n;
        take_held(r, false);
    }
    return 0;
}

/* ---- Following ---- */

/* The log goes on in another file. */
static bool was_rotated(const struct reader *r)
{
    struct stat open_one, named;
    return fstat(r->fd, &open_one) == 0 && stat(r->path, &named) == 0 &&
           (open_one.st_ino != named.st_ino || open_one.st_dev != named.st_dev);
}

static bool has_grown(const struct reader *r)
{
    struct stat st;
    return fstat(r->fd, &st) == 0 && st.st_size > lseek(r->fd, 0, SEEK_CUR);
}

/* Waits for more. False: there will be none. */
static bool wait_for_more(struct reader *r)
{
    const struct timespec pause = { .tv_nsec = LOOK_MS * NS_PER_MS };
    for (int looks = 1;; looks++) {
        if (r->sink->is_gone(r->sink->arg)) {
            r->is_over = true;
            return false;
        }
        if (has_grown(r) || was_rotated(r))
            return true;
        if (looks % LOOKS_PER_ASK == 0 && !r->sink->is_running(r->sink->arg))
            return false;
        (void)nanosleep(&pause, NULL);
    }
}

static int follow(struct reader *r, struct err *err)
{
    bool goes_on = r->sink->is_running(r->sink->arg);
    while (!r->is_over) {
        int rc = read_on(r, err);
        if (rc < 0)
            return rc;
        if (was_rotated(r)) {
            autoclose int next = open(r->path, O_RDONLY | O_CLOEXEC);
            rc = read_on(r, err); /* what came before it was renamed */
            if (next >= 0 && rc == 0) {
                const int old_fd = r->fd;
                r->fd = take_fd(&next);
                (void)close(old_fd);
            }
            continue;
        }
        if (!goes_on)
            break;
        goes_on = wait_for_more(r);
    }
    return 0;
}

int container_log_read(const char *path, const struct log_view *view, const struct log_sink *sink,
                       struct err *err)
{
    struct reader r = { .path = path,
                        .view = view,
                        .sink = sink,
                        .left = view->limit,
                        .lines = view->follow ? -1 : view->tail,
                        .is_new_line = true };
    r.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r.fd < 0)
        return fail_open(&r, err);
    (void)lseek(r.fd, tail_start(r.fd, view->tail), SEEK_SET);
    int rc = view->follow ? follow(&r, err) : read_on(&r, err);
    if (rc == 0 && !r.is_over)
        take_held(&r, true);
    buf_done(&r.held);
    (void)close(r.fd);
    return rc;
}
