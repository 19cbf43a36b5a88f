#include "client/config/process.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

#include "client/suite_client.h"

static enum process_end run(const char *script, int64_t max_ms, struct buf *out, int *ret_code)
{
    const char *const argv[] = { "sh", "-c", script, NULL };
    const char *const envp[] = { "WORD=hello", "PATH=/usr/bin:/bin", NULL };
    struct process p = { .argv = argv, .envp = envp, .max_bytes = 100000, .max_ms = max_ms };
    return process_run(&p, out, ret_code);
}

enum { PLENTY_MS = 60000 };

static void output_and_exit_code(void **state)
{
    (void)state;
    autobuf out = { 0 };
    int code = -1;
    assert_int_equal(run("echo $WORD; cat", PLENTY_MS, &out, &code), PROCESS_EXITED);
    assert_int_equal(code, 0);
    assert_true(str_eq(buf_str(&out), STR("hello\n")));
    assert_int_equal(run("exit 7", PLENTY_MS, &out, &code), PROCESS_EXITED);
    assert_int_equal(code, 7);
    assert_int_equal(run("kill -TERM $$", PLENTY_MS, &out, &code), PROCESS_SIGNALLED);
    assert_int_equal(code, SIGTERM);
    assert_int_equal(run("exec >&-; sleep 0.05; exit 3", PLENTY_MS, &out, &code), PROCESS_EXITED);
    assert_int_equal(code, 3);
}

static void children_that_nobody_may_wait_for(void **state)
{
    (void)state;
    autobuf out = { 0 };
    int code = -1;
    (void)signal(SIGCHLD, SIG_IGN);
    assert_int_equal(run("echo $WORD; exit 1", PLENTY_MS, &out, &code), PROCESS_EXITED);
    (void)signal(SIGCHLD, SIG_DFL);
    assert_int_equal(code, 0);
    assert_true(str_eq(buf_str(&out), STR("hello\n")));
}

static void what_cannot_be_started(void **state)
{
    (void)state;
    const char *const argv[] = { "/nowhere/program", NULL }, *const envp[] = { NULL };
    struct process p = { .argv = argv, .envp = envp, .max_bytes = 1, .max_ms = PLENTY_MS };
    autobuf out = { 0 };
    int code = 0;
    assert_int_equal(process_run(&p, &out, &code), PROCESS_NOT_STARTED);
    assert_int_equal(code, ENOENT);
}

/* Gone, or waiting for its parent to ask. */
static bool is_dead(unsigned long pid)
{
    char path[64], state = 'Z';
    (void)snprintf(path, sizeof(path), "/proc/%lu/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return true;
    (void)fscanf(f, "%*d (%*[^)]) %c", &state);
    (void)fclose(f);
    return state == 'Z';
}

static void what_it_has_started_is_killed_too(void **state)
{
    (void)state;
    autobuf out = { 0 };
    int code;
    assert_int_equal(run("sleep 3600 & echo $!; wait", 200, &out, &code), PROCESS_TOO_LONG);
    buf_byte(&out, '\0');
    unsigned long pid = strtoul(out.p, NULL, 10);
    assert_true(pid > 1);
    while (!is_dead(pid))
        sched_yield();
}

static void time_and_output_are_bounded(void **state)
{
    (void)state;
    autobuf out = { 0 };
    int code;
    assert_int_equal(run("sleep 3600 & sleep 3600", 50, &out, &code), PROCESS_TOO_LONG);
    assert_int_equal(run("exec >&-; sleep 3600", 50, &out, &code), PROCESS_TOO_LONG);
    assert_int_equal(run("while :; do echo yes; done", PLENTY_MS, &out, &code), PROCESS_TOO_MUCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_exit_code),
        cmocka_unit_test(children_that_nobody_may_wait_for),
        cmocka_unit_test(what_cannot_be_started),
        cmocka_unit_test(time_and_output_are_bounded),
        cmocka_unit_test(what_it_has_started_is_killed_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
