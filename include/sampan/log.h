/* sampan/log.h - what the library has to say to people.
 *
 * It says nothing unless somebody listens: the library writes to no file and to no terminal by
 * itself. A line is text without a line feed: a message, then fields as name=value. An error that a
 * function returns is not logged, too; what is logged has nobody to be returned to, such as an
 * error of a reconcile, which is tried again. */
#pragma once

#include <sampan/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum spn_log_level { SPN_LOG_DEBUG, SPN_LOG_INFO, SPN_LOG_WARN, SPN_LOG_ERROR };

/* The line is lent. Called on any thread, by several at once. */
typedef void spn_log_fn(void *arg, enum spn_log_level level, struct spn_text line);

/* Who listens from now on, to lines of this level and above; NULL: nobody. Set it before there are
 * threads. */
SPN_API void spn_log_to(spn_log_fn *fn, void *arg, enum spn_log_level least);
/* One for spn_log_to(): each line goes to standard error, with the time, in one piece. */
SPN_API void spn_log_stderr(void *arg, enum spn_log_level level, struct spn_text line);

/* For programs that want their lines in the same place. */
SPN_API void spn_log(enum spn_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
