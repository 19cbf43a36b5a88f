/* What a start makes of a log that a crash or a bad disk has left, and of strangers. */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "store/record.h"
#include "store/suite_files.h"

/* ---- The log ---- */

static void a_torn_tail_is_cut_off(void **state)
{
    struct fixture *f = *state;
    char dir[128], seg[256], whole[160];
    for (int i = 0; i < 5; i++)
        (void)put(f, "a", "12345678");
    crash_copy(f, dir);
    last_segment(dir, seg);
    off_t before = end_of(seg);
    (void)put(f, "b", "last");
    crash_copy(f, dir);
    last_segment(dir, seg);
    off_t after = end_of(seg);
    assert_true(before < after);
    (void)snprintf(whole, sizeof(whole), "%s-whole", dir);
    copy_tree(dir, whole);
    for (off_t n = before; n <= after; n++) {
        copy_tree(whole, dir);
        tear(seg, n);
        uint64_t rev = rev_of(f, dir);
        assert_true(rev == 6 || (rev == 7 && n > after - 8)); /* the padding is zeros */
        assert_int_equal(rev_of(f, dir), rev);
    }
    remove_tree(dir);
    remove_tree(whole);
}

/* No crash makes a segment shorter than it was made. */
/* Of a transaction of two parts the second one did not reach the disk: then neither did. */
static void half_a_transaction_is_cut_off(void **state)
{
    struct fixture *f = *state;
    char dir[128], seg[256], whole[160];
    uint64_t rev = (uint64_t)put(f, "a", "1");
    struct store_op ops[2] = {
        { STORE_PUT, STR("b"), STR("2"), STORE_ABSENT },
        { STORE_PUT, STR("a"), STR("2"), rev, .goes_first = true },
    };
    struct store_txn t = { .ops = ops, .n_ops = 2 };
    crash_copy(f, dir);
    last_segment(dir, seg);
    off_t before = end_of(seg);
    assert_int_equal(run(f, &t), rev + 2);
    crash_copy(f, dir);
    last_segment(dir, seg);
    off_t after = end_of(seg);
    (void)snprintf(whole, sizeof(whole), "%s-whole", dir);
    copy_tree(dir, whole);
    for (off_t n = before; n <= after; n++) {
        copy_tree(whole, dir);
        tear(seg, n);
        uint64_t left = rev_of(f, dir);
        assert_true(left == rev || (left == rev + 2 && n > after - 8)); /* the padding is zeros */
        assert_int_equal(rev_of(f, dir), left);
    }
    remove_tree(dir);
    remove_tree(whole);
}

static void a_log_that_was_cut_off_is_refused(void **state)
{
    struct fixture *f = *state;
    char dir[128], seg[256];
    for (int i = 0; i < 200; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "k%d", i);
        (void)put(f, key, "12345678");
    }
    crash_copy(f, dir);
    last_segment(dir, seg);
    off_t size = size_of(seg), end = end_of(seg);
    const off_t cuts[] = { end / 2, end - 1, end, size - 1, RECORD_SEGMENT_BYTES };
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        crash_copy(f, dir);
        assert_int_equal(truncate(seg, cuts[i]), 0);
        struct store *s;
        assert_int_equal(open_dir(f, dir, &s), -ERR_DAMAGED);
        assert_true(says(f, ".log was cut off"));
        assert_int_equal(store_verify(dir, NULL, &f->err), -ERR_DAMAGED);
        assert_int_equal(size_of(seg), cuts[i]); /* nothing was changed */
    }
    crash_copy(f, dir);
    assert_int_equal(rev_of(f, dir), 201);
    remove_tree(dir);
}

static void a_cut_store_goes_on(void **state)
{
    struct fixture *f = *state;
    char dir[128], seg[256];
    (void)put(f, "a", "1");
    (void)put(f, "a", "2");
    crash_copy(f, dir);
    last_segment(dir, seg);
    tear(seg, end_of(seg) - 9);
    struct store *whole = f->s;
    assert_int_equal(open_dir(f, dir, &f->s), 0);
    assert_string_equal(list(f, "", 0), "a=1");
    assert_int_equal(put(f, "b", "3"), 3);
    f->s = store_close(f->s);
    assert_int_equal(open_dir(f, dir, &f->s), 0);
    assert_string_equal(list(f, "", 0), "a=1 b=3");
    store_close(f->s);
    f->s = whole;
    remove_tree(dir);
}

/* Every byte of the log, one after the other. Each record is a group of its own here, so only the
 * last one can be taken for a torn tail. */
static void damage_in_the_log_is_named(void **state)
{
    struct fixture *f = *state;
    char dir[128], whole[160], seg[256], name[160];
    for (int i = 0; i < 3; i++)
        (void)put(f, "a", "12345678");
    crash_copy(f, dir);
    last_segment(dir, seg);
    off_t last = end_of(seg);
    (void)put(f, "b", "last");
    crash_copy(f, dir);
    /* Kept as it is: in a slow run the living store moves on to a checkpoint meanwhile. */
    (void)snprintf(whole, sizeof(whole), "%s-whole", dir);
    copy_tree(dir, whole);
    last_segment(dir, seg);
    (void)snprintf(name, sizeof(name), "%s/log/", dir);
    off_t end = end_of(seg);
    for (off_t at = 0; at < end; at++) {
        flip(seg, at, (unsigned char)(1 << at % 8));
        struct store *s = NULL;
        int r = open_dir(f, dir, &s);
        if (at < last) {
            assert_int_equal(r, -ERR_DAMAGED);
            assert_true(says(f, name) && says(f, "offset"));
            flip(seg, at, (unsigned char)(1 << at % 8));
        } else {
            if (r < 0)
                fail_msg("byte %lld: " STR_FMT, (long long)at, STR_ARG(f->err.msg));
            assert_int_equal(store_rev(s), 4);
            store_close(s);
            copy_tree(whole, dir);
        }
    }
    remove_tree(whole);
    remove_tree(dir);
}

static void a_missing_segment_is_named(void **state)
{
    struct fixture *f = *state;
    char dir[128], value[4096];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    f->s = store_close(f->s);
    f->opt.history_bytes = 1 << 20; /* segments of 64 KiB */
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    for (int i = 0; i < 60; i++)
        (void)put(f, "a", value);
    char pattern[160];
    glob_t found;
    (void)snprintf(pattern, sizeof(pattern), "%s/log/*.log", f->dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 3);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char gone[256];
        crash_copy(f, dir);
        (void)snprintf(gone, sizeof(gone), "%s%s", dir, found.gl_pathv[i] + strlen(f->dir));
        assert_int_equal(unlink(gone), 0);
        struct store *s;
        int r = open_dir(f, dir, &s);
        if (i + 1 < found.gl_pathc || r < 0) {
            assert_int_equal(r, -ERR_DAMAGED);
            assert_true(says(f, "missing") || says(f, "log ends"));
        } else {
            store_close(s); /* nothing tells that a last segment was there */
        }
    }
    globfree(&found);
    remove_tree(dir);
}

static void a_missing_view_is_named(void **state)
{
    struct fixture *f = *state;
    char dir[128], view[160];
    (void)put(f, "a", "1");
    crash_copy(f, dir);
    (void)snprintf(view, sizeof(view), "%s/view.mdb", dir);
    assert_int_equal(unlink(view), 0);
    struct store *s;
    assert_int_equal(open_dir(f, dir, &s), -ERR_DAMAGED);
    assert_true(says(f, "view.mdb is missing"));
    remove_tree(dir);
}

/* What stood behind the hole must be gone when a record of the same length fills it. */
static void fill_the_hole(struct fixture *f, struct store *s, const char *dir, uint64_t rev)
{
    char after[160];
    struct store_op op = { STORE_PUT, STR("c"), STR("3"), STORE_ANY };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(s, &t, &f->err), 0);
    assert_int_equal(t.rev, rev);
    (void)snprintf(after, sizeof(after), "%s-after", dir);
    copy_tree(dir, after);
    store_close(s);
    assert_int_equal(rev_of(f, after), rev);
    remove_tree(after);
}

/* A group of which a later part reached the disk and an earlier one did not was never
 * acknowledged; the same hole with a later group behind it was. */
static void a_hole_is_judged_by_what_follows(void **state)
{
    struct fixture *f = *state;
    for (int later = 0; later < 2; later++) {
        char dir[128], seg[256], head[RECORD_SEGMENT_BYTES];
        (void)put(f, "a", "1");
        uint64_t rev = store_rev(f->s);
        crash_copy(f, dir);
        last_segment(dir, seg);
        autoclose int fd = open(seg, O_RDWR);
        struct record_segment segment;
        assert_int_equal(pread(fd, head, sizeof(head), 0), sizeof(head));
        assert_true(record_segment_read((struct str){ head, sizeof(head) }, &segment));
        autobuf bytes = { 0 };
        struct record_op op = { STORE_PUT, STR("b"), STR("2"), rev + 1, 0 };
        for (uint64_t i = 1; i <= 3; i++) {
            size_t at = record_begin(&bytes, rev + i, later && i == 3 ? rev + 3 : rev + 1, 0);
            record_add(&bytes, at, &op);
            record_end(&bytes, at, segment.seed);
            if (i == 2)
                memset(bytes.p + at, 0, bytes.n - at); /* the hole */
        }
        assert_int_equal(pwrite(fd, bytes.p, bytes.n, end_of(seg)), bytes.n);
        struct store *s;
        int r = open_dir(f, dir, &s);
        assert_int_equal(r, later ? -ERR_DAMAGED : 0);
        if (r == 0) {
            assert_int_equal(store_rev(s), rev + 1);
            fill_the_hole(f, s, dir, rev + 2);
        }
        remove_tree(dir);
    }
}

/* ---- Strangers ---- */

static void an_open_folder_is_refused(void **state)
{
    struct fixture *f = *state;
    char dir[128];
    crash_copy(f, dir);
    assert_int_equal(chmod(dir, 0777), 0);
    struct store *s;
    assert_int_equal(open_dir(f, dir, &s), -ERR_FORBIDDEN);
    assert_int_equal(chmod(dir, 0700), 0);
    remove_tree(dir);
}

static void a_second_process_is_refused(void **state)
{
    struct fixture *f = *state;
    char pid[32];
    (void)snprintf(pid, sizeof(pid), "process %d", (int)getpid());
    struct store *s;
    assert_int_equal(open_dir(f, f->dir, &s), -ERR_CONFLICT);
    assert_true(says(f, pid));
    pid_t child = fork();
    if (child == 0)
        _exit(open_dir(f, f->dir, &s) == -ERR_CONFLICT && says(f, pid) ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Writes until that fails; nobody may go on for ever. */
static int64_t put_until_refused(struct fixture *f)
{
    int64_t r = 0;
    for (int i = 0; i < 3000 && (r = put(f, "a", "into the void")) > 0; i++)
        (void)usleep(10000);
    return r;
}

static void a_folder_that_is_gone_is_noticed(void **state)
{
    struct fixture *f = *state;
    char away[128], path[160];
    struct store_stats stats;
    (void)snprintf(away, sizeof(away), "%s-away", f->dir);
    (void)put(f, "a", "1");
    assert_int_equal(rename(f->dir, away), 0);
    assert_int_equal(put_until_refused(f), -ERR_IO);
    assert_true(says(f, "was removed or replaced"));
    store_stats(f->s, &stats);
    assert_int_equal(stats.failing, -ERR_IO);
    assert_int_equal(store_compact(f->s, store_rev(f->s), &f->err), -ERR_IO);

    /* Another one under its name is left alone. */
    assert_int_equal(mkdir(f->dir, 0700), 0);
    assert_int_equal(put(f, "a", "2"), -ERR_IO);
    assert_int_equal(rmdir(f->dir), 0);
    assert_int_equal(rename(away, f->dir), 0);
    assert_true(put(f, "a", "back") > 0);
    assert_string_equal(list(f, "", 0), "a=back");

    (void)snprintf(path, sizeof(path), "%s/log", f->dir);
    remove_tree(path);
    assert_int_equal(put_until_refused(f), -ERR_IO);
    (void)snprintf(path, sizeof(path), "%s/view.mdb", f->dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(put_until_refused(f), -ERR_IO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    suite_engine = STORE_LMDB;
    const struct CMUnitTest tests[] = {
        TEST(a_torn_tail_is_cut_off),
        TEST(half_a_transaction_is_cut_off),
        TEST(a_log_that_was_cut_off_is_refused),
        TEST(a_cut_store_goes_on),
        TEST(damage_in_the_log_is_named),
        TEST(a_missing_segment_is_named),
        TEST(a_missing_view_is_named),
        TEST(a_hole_is_judged_by_what_follows),
        TEST(an_open_folder_is_refused),
        TEST(a_second_process_is_refused),
        TEST(a_folder_that_is_gone_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
