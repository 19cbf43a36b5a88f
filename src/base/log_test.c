#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"

/* One line as it went through the file descriptor, without its time stamp and newline. */
static struct str logged(int fd, char *line, size_t size)
{
    ssize_t n = read(fd, line, size);
    assert_true(n > 0 && line[n - 1] == '\n');
    return (struct str){ line, (size_t)n - 1 };
}

static void text_lines_quote_only_what_needs_it(void **state)
{
    (void)state;
    int fds[2];
    char line[1000];
    assert_int_equal(pipe(fds), 0);
    log_setup(LOG_TEXT, LOG_INFO, fds[1]);
    log_warn("disk is slow", LOG_CSTR("path", "/data"), LOG_INT("ms", -5), LOG_CSTR("why", "a b"),
             LOG_CSTR("none", ""), LOG_STR("bytes", STR("\xff\"\n")));
    struct str s = logged(fds[0], line, sizeof(line));
    assert_true(str_ends(s, STR(" warn  disk is slow path=/data ms=-5 why=\"a b\" none=\"\" "
                                "bytes=\"\\ufffd\\\"\\n\"")));
    assert_int_equal(s.p[4], '-');
    close(fds[0]);
    close(fds[1]);
}

static void json_lines_are_json(void **state)
{
    (void)state;
    int fds[2];
    char line[1000];
    assert_int_equal(pipe(fds), 0);
    log_setup(LOG_JSON, LOG_DEBUG, fds[1]);
    log_debug("say \"hi\"", LOG_INT("n", INT64_MIN), LOG_CSTR("s", "x\ty"));
    struct str s = logged(fds[0], line, sizeof(line));
    assert_true(str_starts(s, STR("{\"ts\":\"2")));
    assert_true(str_ends(s, STR("\"level\":\"debug\",\"msg\":\"say \\\"hi\\\"\","
                                "\"n\":-9223372036854775808,\"s\":\"x\\ty\"}")));
    close(fds[0]);
    close(fds[1]);
}

static int evaluated;

static struct str count_me(void)
{
    evaluated++;
    return STR("x");
}

static void below_the_level_nothing_is_evaluated(void **state)
{
    (void)state;
    int fds[2];
    char line[1000];
    assert_int_equal(pipe(fds), 0);
    log_setup(LOG_TEXT, LOG_WARN, fds[1]);
    assert_false(log_enabled(LOG_INFO));
    log_info("not seen", LOG_STR("s", count_me()));
    log_error("seen", LOG_STR("s", count_me()));
    assert_int_equal(evaluated, 1);
    assert_true(str_ends(logged(fds[0], line, sizeof(line)), STR(" error seen s=x")));
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lines_quote_only_what_needs_it),
        cmocka_unit_test(json_lines_are_json),
        cmocka_unit_test(below_the_level_nothing_is_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
