#include "node/agent/termination_message.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/banned.h"

enum { LOG_READ_MAX = 256 << 10 }; /* lines of a log may be long, and some are left out */

/* The last bytes of a file. False: there is none, or it cannot be read; `ret_errno` tells why. */
static bool read_end(const char *path, size_t max, struct buf *ret, int *ret_errno)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        *ret_errno = fd < 0 ? errno : EINVAL;
        return false;
    }
    if (st.st_size > (off_t)max)
        (void)lseek(fd, st.st_size - (off_t)max, SEEK_SET);
    buf_reserve(ret, max);
    while (ret->n < max) {
        ssize_t n = read(fd, ret->p + ret->n, max - ret->n);
        if (n <= 0)
            break;
        ret->n += (size_t)n;
    }
    return true;
}

/* Objects have UTF-8 only: other bytes become U+FFFD. */
static struct str as_text(struct arena *a, struct str s)
{
    autobuf out = { 0 };
    while (s.n) {
        size_t n = utf8_step(s.p, s.n);
        if (n)
            buf_add(&out, s.p, n);
        else
            buf_str_add(&out, STR("\xef\xbf\xbd"));
        s = str_skip(s, n ? n : 1);
    }
    return arena_str(a, buf_str(&out));
}

/* "TIME STREAM TAGS TEXT": the text, and whether the line ends there. */
static struct str line_text(struct str line, bool *ret_is_partial)
{
    (void)str_cut(&line, ' ');
    (void)str_cut(&line, ' ');
    struct str tags = str_cut(&line, ' ');
    *ret_is_partial = str_eq(str_cut(&tags, ':'), STR("P"));
    return line;
}

struct str termination_log_tail(struct arena *a, struct str log)
{
    if (log.n && log.p[log.n - 1] == '\n')
        log.n--;
    const char *from = log.p + log.n;
    for (unsigned lines = 0; from > log.p; from--)
        if (from[-1] == '\n' && ++lines == TERMINATION_LOG_LINES)
            break;
    struct str rest = { from, log.n - (size_t)(from - log.p) };
    autobuf out = { 0 };
    while (rest.n) {
        bool is_partial;
        struct str line = str_cut(&rest, '\n');
        buf_str_add(&out, line_text(line, &is_partial));
        if (!is_partial)
            buf_byte(&out, '\n');
    }
    struct str all = buf_str(&out);
    return as_text(a,
                   all.n > TERMINATION_LOG_MAX ? str_skip(all, all.n - TERMINATION_LOG_MAX) : all);
}

static struct str from_log(struct arena *a, const struct value *status)
{
    autobuf log = { 0 };
    int errnum = 0;
    const char *path = str_cstr(a, value_text(status, "log_path"));
    if (!read_end(path, LOG_READ_MAX, &log, &errnum))
        return arena_printf(a, "Error on reading termination message from logs: open %s: %s", path,
                            errnum == ENOENT ? "no such file or directory" : "cannot be read");
    return termination_log_tail(a, buf_str(&log));
}

/* Where the program's file is on this machine; empty: it was not mounted. */
static struct str file_of(const struct value *status, struct str path)
{
    value_each_item (m, value_get(status, STR("mounts")))
        if (str_eq(value_text(m, "container_path"), path))
            return value_text(m, "host_path");
    return STR("");
}

struct str termination_message(struct arena *a, const struct value *status, int64_t exit_code)
{
    const struct value *notes = value_get(status, STR("annotations"));
    struct str path = value_text(notes, "io.kubernetes.container.terminationMessagePath");
    struct str policy = value_text(notes, "io.kubernetes.container.terminationMessagePolicy");
    bool may_use_log = str_eq(policy, STR("FallbackToLogsOnError")) && exit_code &&
                       !str_eq(value_text(status, "reason"), STR("ContainerCannotRun"));
    struct str file = path.n ? file_of(status, path) : STR("");
    autobuf text = { 0 };
    int errnum = 0;
    if (file.n && !read_end(str_cstr(a, file), TERMINATION_MESSAGE_MAX, &text, &errnum) &&
        errnum != ENOENT)
        return arena_printf(a, "Error on reading termination log " STR_FMT ": it cannot be read",
                            STR_ARG(file));
    if (!text.n && may_use_log)
        return from_log(a, status);
    return as_text(a, buf_str(&text));
}
