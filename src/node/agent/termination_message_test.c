#include "node/agent/termination_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"

static void the_end_of_a_log(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str got =
        termination_log_tail(&a, STR("2024-01-01T00:00:00.000000001Z stdout F one\n"
                                     "2024-01-01T00:00:00.000000002Z stderr P two \n"
                                     "2024-01-01T00:00:00.000000003Z stderr F three\n"));
    assert_true(str_eq(got, STR("one\ntwo three\n")));
    struct buf many = { 0 };
    for (int i = 0; i < 100; i++)
        buf_printf(&many, "t stdout F %d\n", i);
    got = termination_log_tail(&a, buf_str(&many));
    assert_true(str_starts(got, STR("20\n")));
    assert_true(str_ends(got, STR("\n99\n")));
    buf_reset(&many);
    for (int i = 0; i < 10; i++)
        buf_printf(&many, "t stdout F %0500d\n", i);
    got = termination_log_tail(&a, buf_str(&many));
    assert_int_equal(got.n, TERMINATION_LOG_MAX);
    assert_true(str_eq(termination_log_tail(&a, STR("t stdout F \xff\n")), STR("\xef\xbf\xbd\n")));
    buf_done(&many);
    arena_done(&a);
}

/* The file wins over the log; the log is only for failures, and for those who ask. */
static void file_or_log(void **state)
{
    (void)state;
    static const struct {
        const char *file, *policy;
        int64_t code;
        const char *want;
    } rows[] = {
        { "said", "File", 1, "said" },
        { "", "File", 1, "" },
        { "", "FallbackToLogsOnError", 1, "log\n" },
        { "", "FallbackToLogsOnError", 0, "" },
        { "said", "FallbackToLogsOnError", 1, "said" },
    };
    char file[] = "/tmp/termination-XXXXXX", log[] = "/tmp/termination-XXXXXX";
    int f = mkstemp(file), l = mkstemp(log);
    assert_true(f >= 0 && l >= 0 && write(l, "t stderr F log\n", 15) == 15);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena a;
        struct value status;
        arena_init(&a);
        assert_int_equal(ftruncate(f, 0), 0);
        assert_true(pwrite(f, rows[i].file, strlen(rows[i].file), 0) >= 0);
        struct str text = arena_printf(
            &a,
            "{\"log_path\":\"%s\",\"mounts\":[{\"container_path\":\"/t\",\"host_path\":\"%s\"}],"
            "\"annotations\":{\"io.kubernetes.container.terminationMessagePath\":\"/t\","
            "\"io.kubernetes.container.terminationMessagePolicy\":\"%s\"}}",
            log, file, rows[i].policy);
        assert_int_equal(json_read(&a, text, NULL, &status, NULL), 0);
        struct str got = termination_message(&a, &status, rows[i].code);
        if (!str_eq(got, str_of(rows[i].want)))
            fail_msg("row %zu: " STR_FMT, i, STR_ARG(got));
        arena_done(&a);
    }
    (void)close(f);
    (void)close(l);
    (void)unlink(file);
    (void)unlink(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_end_of_a_log),
                                        cmocka_unit_test(file_or_log) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
