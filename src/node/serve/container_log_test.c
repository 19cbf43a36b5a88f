/* Logs as runtimes write them: lines, tails, limits, following over a rotation. */
#include "node/serve/container_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"

#define T(n) "2026-11-18T09:04:4" #n ".12Z "
#define LOG                                                                              \
    T(1)                                                                                 \
    "stdout F one\n" T(2) "stderr F two\n" T(3) "stdout P thr\n" T(4) "stdout F ee\n" T( \
        5) "stdout F four\n"

static void test_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *text; /* NULL: it is none */
        bool is_stderr, goes_on;
    } rows[] = {
        { T(1) "stdout F hello there\n", "hello there\n", false, false },
        { T(1) "stderr P piece\n", "piece", true, true },
        { T(1) "stderr P:x piece\n", "piece", true, true },
        { T(1) "stdout F \n", "\n", false, false },
        { T(1) "stdout F", NULL, false, false },
        { T(1) "stdin F x\n", NULL, false, false },
        { "", NULL, false, false },
        { "\n", NULL, false, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct log_line l = { 0 };
        assert_int_equal(log_line_parse(str_of(rows[i].line), &l), rows[i].text != NULL);
        if (!rows[i].text)
            continue;
        assert_true(str_eq(l.text, str_of(rows[i].text)));
        assert_int_equal(l.is_stderr, rows[i].is_stderr);
        assert_int_equal(l.goes_on, rows[i].goes_on);
    }
}

static void test_times(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "2026-11-18T09:04:48.12Z", "2026-11-18T09:04:48.120000000Z" },
        { "2026-11-18T09:04:48Z", "2026-11-18T09:04:48.000000000Z" },
        { "2026-11-18T09:04:48.123456789+01:00", "2026-11-18T09:04:48.123456789+01:00" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[LOG_TIME_BYTES];
        assert_true(str_eq(log_time_text(str_of(rows[i][0]), out), str_of(rows[i][1])));
    }
}

/* A container that writes while its log is followed. */
struct scene {
    char path[64];
    struct buf out;
    unsigned asked;
};

static int on_write(void *arg, struct str text)
{
    struct scene *s = arg;
    buf_str_add(&s->out, text);
    return 0;
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "ae");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* It has written, was rotated, and has ended by the third question. */
static bool is_running(void *arg)
{
    struct scene *s = arg;
    char old[80];
    if (s->asked++ == 0)
        append(s->path, T(6) "stdout F more\n");
    if (s->asked == 2) {
        (void)snprintf(old, sizeof(old), "%s.old", s->path);
        assert_int_equal(rename(s->path, old), 0);
        append(s->path, T(7) "stdout F anew\n");
    }
    return s->asked < 3;
}

static bool is_gone(void *arg)
{
    (void)arg;
    return false;
}

static void scene_init(struct scene *s, const char *text)
{
    *s = (struct scene){ 0 };
    (void)snprintf(s->path, sizeof(s->path), "/tmp/sampan-log-XXXXXX");
    const int fd = mkstemp(s->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

static void scene_done(struct scene *s)
{
    char old[80];
    (void)snprintf(old, sizeof(old), "%s.old", s->path);
    (void)unlink(s->path);
    (void)unlink(old);
    buf_done(&s->out);
}

static void test_views(void **state)
{
    (void)state;
    static const struct {
        struct log_view view;
        const char *text;
    } rows[] = {
        { { .tail = -1, .limit = -1 }, "one\ntwo\nthree\nfour\n" },
        { { .tail = 0, .limit = -1 }, "" },
        { { .tail = 1, .limit = -1 }, "four\n" },
        { { .tail = 2, .limit = -1 }, "ee\nfour\n" }, /* lines of the file, as upstream */
        { { .tail = 99, .limit = -1 }, "one\ntwo\nthree\nfour\n" },
        { { .tail = -1, .limit = 6 }, "one\ntw" },
        { { .tail = -1, .limit = -1, .no_stdout = true }, "two\n" },
        { { .tail = -1, .limit = -1, .no_stderr = true }, "one\nthree\nfour\n" },
        { { .tail = -1, .limit = -1, .since_ns = INT64_C(1794992685000000000) }, "four\n" },
        { { .tail = 3, .limit = -1, .timestamps = true },
          "2026-11-18T09:04:43.120000000Z three\n2026-11-18T09:04:45.120000000Z four\n" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct scene s;
        scene_init(&s, LOG);
        const struct log_sink sink = { &s, on_write, is_running, is_gone };
        assert_int_equal(container_log_read(s.path, &rows[i].view, &sink, &err), 0);
        if (!str_eq(buf_str(&s.out), str_of(rows[i].text)))
            fail_msg("row %zu: " STR_FMT, i, STR_ARG(buf_str(&s.out)));
        scene_done(&s);
    }
    arena_done(&a);
}

static void test_follow(void **state)
{
    (void)state;
    const struct log_view view = { .tail = 1, .limit = -1, .follow = true };
    struct arena a;
    struct scene s;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    scene_init(&s, LOG);
    const struct log_sink sink = { &s, on_write, is_running, is_gone };
    assert_int_equal(container_log_read(s.path, &view, &sink, &err), 0);
    assert_true(str_eq(buf_str(&s.out), STR("four\nmore\nanew\n")));
    scene_done(&s);
    assert_true(container_log_read("/no/such/log", &view, &sink, &err) < 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
