/* Damage in the view: it is found, named, and can be repaired. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "store/suite_files.h"

/* ---- The view ---- */

/* 0: everything is there and right, 1: damage was reported, more: neither. */
static int read_all(struct store *s, const char *expect)
{
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    struct store_snap *snap;
    struct store_entry e;
    autobuf text = { 0 };
    if (store_snap_begin(s, 0, &snap, &err) < 0)
        return 2;
    store_range_begin(snap, STR(""), STR(""));
    int r;
    while ((r = store_range_next(snap, &e, &err)) > 0)
        buf_printf(&text, STR_FMT "=" STR_FMT " ", STR_ARG(e.key), STR_ARG(e.value));
    store_snap_end(snap);
    arena_done(&arena);
    if (r < 0)
        return r == -ERR_DAMAGED ? 1 : 2;
    return str_eq(buf_str(&text), str_of(expect)) ? 0 : 3;
}

/* In a process of its own: whatever the file holds, it ends with an exit code. */
static int try_view(struct fixture *f, const char *dir, const char *expect)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct store *s;
        int r = open_dir(f, dir, &s);
        if (r < 0)
            _exit(r == -ERR_DAMAGED && f->err.msg.n ? 1 : 2);
        int outcome = read_all(s, expect);
        store_close(s);
        _exit(outcome);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status))
        fail_msg("a damaged view ended the process by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void damage_in_the_view_is_found(void **state)
{
    struct fixture *f = *state;
    char dir[128], view[160], keep[160], key[16], big[9000];
    autobuf expect = { 0 };
    memset(big, 'B', sizeof(big));
    big[sizeof(big) - 1] = '\0';
    for (int i = 0; i < 300; i++) {
        (void)snprintf(key, sizeof(key), "k%04d", i);
        const char *value = i % 50 ? "a value of some length" : big;
        (void)put(f, key, "before");
        (void)put(f, key, value);
        buf_printf(&expect, "%s=%s ", key, value);
        if (i % 100 == 0)
            fixture_checkpoint(f);
    }
    buf_byte(&expect, '\0');
    fixture_checkpoint(f);
    crash_copy(f, dir);
    (void)snprintf(view, sizeof(view), "%s/view.mdb", dir);
    (void)snprintf(keep, sizeof(keep), "%s/keep", dir);
    copy_file(view, keep);
    f->s = store_close(f->s); /* no thread of this process may run when it forks */
    off_t size = size_of(view);
    int found = 0, same = 0;
    uint32_t dice = 12345;
    for (int i = 0; i < 400; i++) {
        dice = dice * 1664525 + 1013904223;
        off_t at = i < 200 ? i * 2 : (off_t)((dice >> 4) % (uint32_t)size);
        if (i >= 200 && i % 2) /* heads of pages, where it hurts */
            at = at / 4096 * 4096 + i % 32;
        copy_file(keep, view);
        flip(view, at, (unsigned char)(1u << (dice >> 28 & 7)));
        int r = try_view(f, dir, expect.p);
        if (r > 1)
            fail_msg("a flipped bit at %lld: outcome %d", (long long)at, r);
        found += r == 1;
        same += r == 0;
    }
    assert_true(found > 100 && same > 10);
    copy_file(keep, view);
    for (off_t n = size - 4096; n > 0; n -= 16384) {
        assert_int_equal(truncate(view, n), 0);
        assert_true(try_view(f, dir, expect.p) <= 1);
    }
    assert_int_equal(truncate(view, 100), 0);
    assert_int_equal(try_view(f, dir, expect.p), 1);
    assert_int_equal(truncate(view, 0), 0);
    assert_int_equal(try_view(f, dir, expect.p), 1);
    remove_tree(dir);
}

static void verify_reads_everything(void **state)
{
    struct fixture *f = *state;
    char dir[128], seg[256], view[160];
    for (int i = 0; i < 100; i++)
        (void)put(f, i % 2 ? "a" : "b", "a value to be flipped");
    assert_int_equal(store_verify(f->dir, NULL, &f->err), -ERR_CONFLICT);
    f->s = store_close(f->s);
    assert_int_equal(store_verify(f->dir, NULL, &f->err), 0);
    crash_copy(f, dir);
    last_segment(dir, seg);
    flip(seg, end_of(seg) / 2, 4);
    assert_int_equal(store_verify(dir, NULL, &f->err), -ERR_DAMAGED);
    assert_true(says(f, ".log"));
    crash_copy(f, dir);
    (void)snprintf(view, sizeof(view), "%s/view.mdb", dir);
    autobuf bytes = { 0 };
    assert_int_equal(file_read(view, SIZE_MAX, &bytes, &f->err), 0);
    char *at = memmem(bytes.p, bytes.n, "flipped", 7);
    assert_non_null(at);
    int n_found = 0; /* some copies are on pages that are free by now */
    for (; at; at = memmem(at + 1, (size_t)(bytes.p + bytes.n - at - 1), "flipped", 7)) {
        flip(view, at - bytes.p, 1);
        n_found += store_verify(dir, NULL, &f->err) == -ERR_DAMAGED;
        flip(view, at - bytes.p, 1);
    }
    assert_true(n_found >= 2);
    assert_int_equal(store_verify(dir, NULL, &f->err), 0);
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    remove_tree(dir);
}

/* ---- Repair ---- */

/* Each name that was told, once more as text. */
static const char *repaired(struct fixture *f, const char *dir)
{
    autobuf taken_out = { 0 };
    struct store_skip told = { note_damaged, &taken_out };
    if (store_repair(dir, &told, &f->err) < 0)
        fail_msg("repair: " STR_FMT, STR_ARG(f->err.msg));
    if (store_verify(dir, NULL, &f->err) < 0)
        fail_msg("verify: " STR_FMT, STR_ARG(f->err.msg));
    return str_cstr(&f->arena, buf_str(&taken_out));
}

static void expect_list(struct fixture *f, const char *dir, const char *expect, uint64_t least_rev)
{
    struct store *first = f->s;
    assert_int_equal(open_dir(f, dir, &f->s), 0);
    assert_string_equal(list(f, "", 0), expect);
    assert_true(store_rev(f->s) >= least_rev);
    assert_true(put(f, "after", "all") > 0);
    store_close(f->s);
    f->s = first;
}

static void a_repair_takes_damaged_objects_out(void **state)
{
    struct fixture *f = *state;
    char dir[128], view[160], kept[160];
    fill_words(f);
    (void)put(f, "two", "the second value, changed"); /* the history has what was there before */
    fixture_checkpoint(f);
    crash_copy(f, dir);
    (void)snprintf(view, sizeof(view), "%s/view.mdb", dir);
    assert_string_equal(repaired(f, dir), ""); /* nothing to do is nothing done */
    assert_true(flip_text(f, view, "third value"));
    autobuf named = { 0 };
    struct store_skip all = { note_damaged, &named };
    assert_int_equal(store_verify(dir, &all, &f->err), -ERR_DAMAGED);
    assert_true(str_eq(buf_str(&named), STR("three ")));
    assert_string_equal(repaired(f, dir), "three ");
    (void)snprintf(kept, sizeof(kept), "%s/damaged.1/1", dir);
    autobuf bytes = { 0 };
    assert_int_equal(file_read(kept, SIZE_MAX, &bytes, &f->err), 0);
    assert_true(str_starts(buf_str(&bytes), STR("three\nthe ")));
    expect_list(f, dir, "one=the first value two=the second value, changed", 0);
    remove_tree(dir);
}

/* The revision in an entry's head is damaged, too: it may be of the future, or none. */
static void damaged_revisions_can_be_deleted(void **state)
{
    struct fixture *f = *state;
    char dir[128], view[160];
    fill_words(f);
    crash_copy(f, dir);
    (void)snprintf(view, sizeof(view), "%s/view.mdb", dir);
    autobuf bytes = { 0 };
    assert_int_equal(file_read(view, SIZE_MAX, &bytes, &f->err), 0);
    for (char *at = bytes.p; (at = memmem(at, (size_t)(bytes.p + bytes.n - at), "the first", 9));
         at++)
        flip(view, at - bytes.p - 6, 0xff); /* of the revision that last changed it */
    assert_string_equal(repaired(f, dir), "one ");
    expect_list(f, dir, "three=the third value two=the second value", 0);
    remove_tree(dir);
}

static void a_repair_goes_on_with_what_is_left_of_the_log(void **state)
{
    struct fixture *f = *state;
    char dir[128], seg[256], moved[160];
    (void)put(f, "a", "1");
    (void)put(f, "b", "2");
    crash_copy(f, dir);
    last_segment(dir, seg);
    off_t end = end_of(seg);
    (void)put(f, "c", "3");
    (void)put(f, "d", "4");
    for (int i = 0; i < 2; i++) {
        crash_copy(f, dir);
        if (i == 0)
            assert_int_equal(truncate(seg, end), 0);
        else
            flip(seg, end + 20, 1);
        struct store *s;
        assert_int_equal(open_dir(f, dir, &s), -ERR_DAMAGED);
        assert_string_equal(repaired(f, dir), "the log ");
        (void)snprintf(moved, sizeof(moved), "%s/damaged.1/log", dir);
        assert_true(size_of(moved) >= 0);
        expect_list(f, dir, "a=1 b=2", STORE_BUMP); /* as after a restore */
    }
    remove_tree(dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    suite_engine = STORE_LMDB;
    const struct CMUnitTest tests[] = {
        TEST(damage_in_the_view_is_found),
        TEST(verify_reads_everything),
        TEST(a_repair_takes_damaged_objects_out),
        TEST(damaged_revisions_can_be_deleted),
        TEST(a_repair_goes_on_with_what_is_left_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
