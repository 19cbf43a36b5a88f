#include <sampan/log.h>

#include <stdarg.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/banned.h"

static struct {
    spn_log_fn *fn;
    void *arg;
    enum spn_log_level least;
} listener;

void spn_log_to(spn_log_fn *fn, void *arg, enum spn_log_level least)
{
    listener.fn = fn;
    listener.arg = arg;
    listener.least = least;
}

static const char *level_name(enum spn_log_level level)
{
    static const char *const names[] = { "debug", "info", "warn", "error" };
    return names[level];
}

void spn_log_stderr(void *arg, enum spn_log_level level, struct spn_text line)
{
    (void)arg;
    char time[CLOCK_TEXT_BYTES];
    struct str now = clock_format(clock_wall_ns(&clock_system), true, time);
    autobuf out = { 0 };
    buf_printf(&out, STR_FMT " %-5s " SPN_FMT "\n", STR_ARG(now), level_name(level), SPN_ARG(line));
    ssize_t written = write(STDERR_FILENO, out.p, out.n);
    (void)written;
}

void spn_log(enum spn_log_level level, const char *fmt, ...)
{
    if (!listener.fn || level < listener.least)
        return;
    autobuf line = { 0 };
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&line, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] == '\n' || line.p[i] == '\r')
            line.p[i] = ' ';
    listener.fn(listener.arg, level, (struct spn_text){ line.p, line.n });
}
