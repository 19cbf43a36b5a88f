/* log.h - one line per event, as text for people or JSON for machines.
 *
 * A line is a fixed message and named fields; a whole line goes out in one write(2), so lines of
 * several threads never mix. Errors are logged once, at the top (request finisher, reconcile
 * loop, main); below that only log_debug. Fields never carry credentials or object bodies. */
#pragma once

#include "base/err.h"
#include "base/idiom.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_field {
    const char *name;
    enum { LOG_FIELD_STR, LOG_FIELD_INT } type;
    struct str str;
    int64_t num;
};

#define LOG_STR(key, value)  ((struct log_field){ (key), LOG_FIELD_STR, (value), 0 })
#define LOG_CSTR(key, value) ((struct log_field){ (key), LOG_FIELD_STR, str_of(value), 0 })
#define LOG_INT(key, value) \
    ((struct log_field){ (key), LOG_FIELD_INT, { NULL, 0 }, (int64_t)(value) })
#define LOG_ERR(errp) LOG_STR("err", (errp)->msg)

/* Set once, before other threads start. Starts as text, info, standard error. */
void log_setup(enum log_format format, enum log_level least, int fd);
bool log_enabled(enum log_level level);

void log_write(enum log_level level, const char *msg, const struct log_field *fields, size_t n);

#define log_fields(level, msg, ...)                                       \
    do {                                                                  \
        if (log_enabled(level)) {                                         \
            const struct log_field fields__[] = { { 0 }, ##__VA_ARGS__ }; \
            log_write(level, msg, fields__ + 1, ARRAY_LEN(fields__) - 1); \
        }                                                                 \
    } while (0)

#define log_debug(...) log_fields(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_fields(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_fields(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_fields(LOG_ERROR, __VA_ARGS__)
