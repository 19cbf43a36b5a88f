#include "main/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static int answer;

static int act(struct arena *a, const char *dir, void *arg, struct err *err)
{
    (void)a;
    assert_non_null(dir);
    *(int *)arg += 1;
    return answer < 0 ? err_set(err, (enum err_code) - answer, "it %s", "broke") : answer;
}

/* What `run` prints to standard error while it runs; at most one line. */
static int captured(const char *given_dir, int *calls, char *ret_text, size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int old = dup(STDERR_FILENO);
    assert_true(old >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    int r = command_in_folder("frame", given_dir, act, calls);
    fflush(stderr);
    assert_true(dup2(old, STDERR_FILENO) >= 0);
    close(old);
    rewind(file);
    if (!fgets(ret_text, (int)size, file))
        ret_text[0] = '\0';
    (void)fclose(file);
    return r;
}

static void act_decides_the_exit_status(void **state)
{
    (void)state;
    char text[128];
    int calls = 0;
    answer = 0;
    assert_int_equal(captured("/d", &calls, text, sizeof(text)), 0);
    assert_string_equal(text, "");
    answer = 3;
    assert_int_equal(captured("/d", &calls, text, sizeof(text)), 3);
    assert_string_equal(text, "");
    answer = -ERR_IO;
    assert_int_equal(captured("/d", &calls, text, sizeof(text)), 1);
    assert_string_equal(text, "sampan frame: it broke\n");
    assert_int_equal(calls, 3);
}

static void nothing_runs_without_a_folder(void **state)
{
    (void)state;
    char text[128];
    int calls = 0;
    answer = 0;
    unsetenv("HOME");
    unsetenv("XDG_STATE_HOME");
    assert_int_equal(captured(NULL, &calls, text, sizeof(text)), 1);
    assert_string_equal(text, "sampan frame: HOME is not set; use --data-dir DIR\n");
    assert_int_equal(calls, 0);
    setenv("HOME", "/nowhere", 1);
    assert_int_equal(captured(NULL, &calls, text, sizeof(text)), 0);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(act_decides_the_exit_status),
        cmocka_unit_test(nothing_runs_without_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
