#include "base/log.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/banned.h"

static struct {
    enum log_format format;
    enum log_level least;
    int fd;
} sink = { LOG_TEXT, LOG_INFO, STDERR_FILENO };

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_setup(enum log_format format, enum log_level least, int fd)
{
    sink.format = format;
    sink.least = least;
    sink.fd = fd;
}

bool log_enabled(enum log_level level)
{
    return level >= sink.least;
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] == '"' || s.p[i] == '=' || s.p[i] == '\\' || s.p[i] == 0x7f)
            return false;
    return s.n > 0;
}

static void add_text(struct buf *line, struct str now, enum log_level level, const char *msg,
                     const struct log_field *fields, size_t n)
{
    buf_printf(line, STR_FMT " %-5s %s", STR_ARG(now), level_names[level], msg);
    for (size_t i = 0; i < n; i++) {
        buf_printf(line, " %s=", fields[i].name);
        if (fields[i].type == LOG_FIELD_INT)
            buf_printf(line, "%lld", (long long)fields[i].num);
        else if (is_plain(fields[i].str))
            buf_str_add(line, fields[i].str);
        else
            json_write_string(line, fields[i].str);
    }
}

static void add_json(struct buf *line, struct str now, enum log_level level, const char *msg,
                     const struct log_field *fields, size_t n)
{
    buf_printf(line, "{\"ts\":\"" STR_FMT "\",\"level\":\"%s\",\"msg\":", STR_ARG(now),
               level_names[level]);
    json_write_string(line, str_of(msg));
    for (size_t i = 0; i < n; i++) {
        buf_printf(line, ",\"%s\":", fields[i].name);
        if (fields[i].type == LOG_FIELD_INT)
            buf_printf(line, "%lld", (long long)fields[i].num);
        else
            json_write_string(line, fields[i].str);
    }
    buf_byte(line, '}');
}

void log_write(enum log_level level, const char *msg, const struct log_field *fields, size_t n)
{
    char text[CLOCK_TEXT_BYTES];
    struct str now = clock_format(clock_wall_ns(&clock_system), true, text);
    autobuf line = { 0 };
    if (sink.format == LOG_JSON)
        add_json(&line, now, level, msg, fields, n);
    else
        add_text(&line, now, level, msg, fields, n);
    buf_byte(&line, '\n');
    /* A log that cannot be written has nowhere to complain. */
    (void)!write(sink.fd, line.p, line.n);
}
