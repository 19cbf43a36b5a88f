#include <sampan/log.h>

#include <stdio.h>
#include <unistd.h>

#include "client/suite_client.h"

static char last[256];
static unsigned lines;

static void keep(void *arg, enum spn_log_level level, struct spn_text line)
{
    assert_ptr_equal(arg, &lines);
    lines++;
    (void)snprintf(last, sizeof(last), "%d " SPN_FMT, level, SPN_ARG(line));
}

static void lines_go_to_who_listens(void **state)
{
    (void)state;
    spn_log(SPN_LOG_ERROR, "nobody listens");
    spn_log_to(keep, &lines, SPN_LOG_WARN);
    spn_log(SPN_LOG_INFO, "too low");
    assert_int_equal(lines, 0);
    spn_log(SPN_LOG_WARN, "two\nlines of %s", "text");
    assert_int_equal(lines, 1);
    assert_string_equal(last, "2 two lines of text");
    spn_log_to(NULL, NULL, SPN_LOG_DEBUG);
    spn_log(SPN_LOG_ERROR, "nobody listens");
    assert_int_equal(lines, 1);
}

/* Standard error is a pipe for a moment. */
static void standard_error_gets_whole_lines(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDERR_FILENO);
    char text[256];
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    spn_log(SPN_LOG_ERROR, "not asked for");
    spn_log_to(spn_log_stderr, NULL, SPN_LOG_DEBUG);
    spn_log(SPN_LOG_INFO, "hello n=%d", 5);
    spn_log_to(NULL, NULL, SPN_LOG_DEBUG);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    close(saved);
    assert_int_equal(n, strlen("2026-11-16T12:00:00.000000Z info  hello n=5\n"));
    text[n] = '\0';
    assert_string_equal(text + strlen("2026-11-16T12:00:00.000000Z "), "info  hello n=5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_to_who_listens),
        cmocka_unit_test(standard_error_gets_whole_lines),
    };
    return cmocka_run_group_tests_name("spn_log", tests, NULL, NULL);
}
