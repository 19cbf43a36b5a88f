/* What a start makes of files that a crash, a bad disk or a stranger has left. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "store/failpoint.h"
#include "store/record.h"
#include "store/suite_fixture.h"

/* ---- Files ---- */

static void copy_file(const char *from, const char *to)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    autobuf bytes = { 0 };
    assert_int_equal(file_read(from, SIZE_MAX, &bytes, &err), 0);
    autoclose int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, buf_str(&bytes), &err), 0);
    arena_done(&a);
}

static const char *copy_to;
static size_t copy_skip;

static int copy_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)at;
    char to[256];
    (void)snprintf(to, sizeof(to), "%s%s", copy_to, path + copy_skip);
    if (flag == FTW_D)
        return mkdir(to, 0700) < 0 && errno != EEXIST;
    if (S_ISREG(st->st_mode))
        copy_file(path, to);
    return 0;
}

static void copy_tree(const char *from, const char *to)
{
    remove_tree(to);
    copy_to = to;
    copy_skip = strlen(from);
    assert_int_equal(nftw(from, copy_one, 16, FTW_PHYS), 0);
}

/* The path of the last segment. */
static void last_segment(const char *dir, char ret[static 256])
{
    char pattern[256];
    glob_t found;
    (void)snprintf(pattern, sizeof(pattern), "%s/log/*.log", dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    (void)snprintf(ret, 256, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
}

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 ? -1 : st.st_size;
}

/* Where the good records of a segment end. */
static off_t end_of(const char *path)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    autobuf bytes = { 0 };
    struct record_segment head;
    struct record rec;
    size_t need;
    assert_int_equal(file_read(path, SIZE_MAX, &bytes, &err), 0);
    assert_true(record_segment_read(buf_str(&bytes), &head));
    struct str rest = str_skip(buf_str(&bytes), RECORD_SEGMENT_BYTES);
    while (record_read(rest, head.seed, &rec, &need) == RECORD_GOOD)
        rest = str_skip(rest, rec.bytes);
    arena_done(&a);
    return (off_t)(bytes.n - rest.n);
}

/* Zeros from `at` on, as long as the file is: what a crash leaves of a write that it cut short. */
static void tear(const char *path, off_t at)
{
    off_t size = size_of(path);
    assert_int_equal(truncate(path, at), 0);
    assert_int_equal(truncate(path, size), 0);
}

static void flip(const char *path, off_t at, unsigned char bits)
{
    autoclose int fd = open(path, O_RDWR);
    unsigned char c;
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c ^= bits;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
}

/* ---- Stores ---- */

static int open_dir(struct fixture *f, const char *dir, struct store **ret)
{
    arena_reset(&f->arena);
    f->err = ERR_INIT(&f->arena);
    struct store_options opt = f->opt;
    opt.dir = dir;
    return store_open(&opt, ret, &f->err);
}

static bool says(struct fixture *f, const char *word)
{
    return memmem(f->err.msg.p, f->err.msg.n, word, strlen(word)) != NULL;
}

/* Copies the folder as it is: what a crash at this moment would leave. */
static void crash_copy(struct fixture *f, char to[static 128])
{
    (void)snprintf(to, 128, "%s-copy", f->dir);
    copy_tree(f->dir, to);
}

static uint64_t rev_of(struct fixture *f, const char *dir)
{
    struct store *s;
    int r = open_dir(f, dir, &s);
    if (r < 0)
        fail_msg("open: " STR_FMT, STR_ARG(f->err.msg));
    uint64_t rev = store_rev(s);
    store_close(s);
    return rev;
}

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

/* ---- Backup ---- */

static const struct store_restore_options as_it_was = { .bump = 0 };

static void a_backup_restores(void **state)
{
    struct fixture *f = *state;
    char file[128], dir[128], bad[160], tmp[160];
    (void)put(f, "a", "1");
    (void)put(f, "b", "1");
    (void)put(f, "a", "2");
    (void)snprintf(file, sizeof(file), "%s/backup", f->dir);
    (void)snprintf(dir, sizeof(dir), "%s-restored", f->dir);
    (void)snprintf(bad, sizeof(bad), "%s.bad", file);
    assert_int_equal(store_backup(f->s, file, NULL, &f->err), 0);
    assert_int_equal(store_backup(f->s, file, NULL, &f->err), -ERR_EXISTS);
    (void)put(f, "c", "later");
    assert_int_equal(store_restore(file, dir, &as_it_was, &f->err), 0);
    assert_int_equal(store_restore(file, dir, &as_it_was, &f->err), -ERR_EXISTS);
    (void)snprintf(tmp, sizeof(tmp), "%s.restoring", dir);
    assert_int_equal(size_of(tmp), -1);
    assert_int_equal(store_verify(dir, NULL, &f->err), 0);
    struct store *first = f->s;
    assert_int_equal(open_dir(f, dir, &f->s), 0);
    assert_string_equal(list(f, "", 0), "a=2 b=1");
    assert_int_equal(store_rev(f->s), 4);
    assert_int_equal(store_floor(f->s), 4);
    assert_int_equal(put(f, "d", "1"), 5);
    store_close(f->s);
    f->s = first;
    remove_tree(dir);

    off_t size = size_of(file);
    for (off_t at = 0; at < size; at += at < 200 || at > size - 100 ? 1 : 997) {
        copy_file(file, bad);
        flip(bad, at, 0x10);
        assert_int_equal(store_restore(bad, dir, &as_it_was, &f->err), -ERR_DAMAGED);
        assert_int_equal(size_of(dir), -1);
    }
    copy_file(file, bad);
    assert_int_equal(truncate(bad, size - 1), 0);
    assert_int_equal(store_restore(bad, dir, &as_it_was, &f->err), -ERR_DAMAGED);
    assert_int_equal(truncate(bad, 0), 0);
    assert_int_equal(store_restore(bad, dir, &as_it_was, &f->err), -ERR_DAMAGED);
}

/* Flips a bit wherever `text` stands in the file, also on pages that are free by now. */
static bool flip_text(struct fixture *f, const char *path, const char *text)
{
    autobuf bytes = { 0 };
    assert_int_equal(file_read(path, SIZE_MAX, &bytes, &f->err), 0);
    bool any = false;
    for (char *at = bytes.p;
         (at = memmem(at, (size_t)(bytes.p + bytes.n - at), text, strlen(text))); at++) {
        flip(path, at - bytes.p, 1);
        any = true;
    }
    return any;
}

static void note_damaged(void *arg, struct str key, struct str what)
{
    assert_true(what.n > 0);
    buf_printf(arg, STR_FMT " ", STR_ARG(key));
}

static void fill_words(struct fixture *f)
{
    (void)put(f, "one", "the first value");
    (void)put(f, "three", "the third value");
    (void)put(f, "two", "the second value");
    fixture_checkpoint(f);
}

/* The store runs on; the file is changed under it. */
static void a_backup_sums_what_it_writes(void **state)
{
    struct fixture *f = *state;
    char file[128], tmp[160], view[128], dir[128];
    (void)snprintf(file, sizeof(file), "%s/backup", f->dir);
    (void)snprintf(tmp, sizeof(tmp), "%s.tmp", file);
    (void)snprintf(view, sizeof(view), "%s/view.mdb", f->dir);
    (void)snprintf(dir, sizeof(dir), "%s-restored", f->dir);
    fill_words(f);
    assert_true(flip_text(f, view, "third"));
    assert_int_equal(store_backup(f->s, file, NULL, &f->err), -ERR_DAMAGED);
    assert_true(says(f, "\"three\""));
    assert_int_equal(size_of(file), -1);
    assert_int_equal(size_of(tmp), -1);

    autobuf left_out = { 0 };
    struct store_skip skip = { note_damaged, &left_out };
    assert_int_equal(store_backup(f->s, file, &skip, &f->err), 0);
    assert_true(str_eq(buf_str(&left_out), STR("three ")));
    assert_int_equal(store_restore(file, dir, &as_it_was, &f->err), 0);
    assert_int_equal(store_verify(dir, NULL, &f->err), 0);
    struct store *first = f->s;
    assert_int_equal(open_dir(f, dir, &f->s), 0);
    assert_string_equal(list(f, "", 0), "one=the first value two=the second value");
    store_close(f->s);
    f->s = first;
    remove_tree(dir);
    assert_true(put(f, "three", "new") > 0); /* the same bit again would do, too */
    assert_int_equal(unlink(file), 0);
    assert_int_equal(store_backup(f->s, file, NULL, &f->err), 0);
}

static void a_damaged_backup_names_the_object(void **state)
{
    struct fixture *f = *state;
    char file[128], dir[128];
    (void)snprintf(file, sizeof(file), "%s/backup", f->dir);
    (void)snprintf(dir, sizeof(dir), "%s-restored", f->dir);
    fill_words(f);
    assert_int_equal(store_backup(f->s, file, NULL, &f->err), 0);
    assert_true(flip_text(f, file, "first value"));
    assert_true(flip_text(f, file, "second value"));
    assert_int_equal(store_restore(file, dir, &as_it_was, &f->err), -ERR_DAMAGED);
    assert_true(says(f, "\"one\""));
    assert_int_equal(size_of(dir), -1);

    autobuf left_out = { 0 };
    struct store_skip skip = { note_damaged, &left_out };
    struct store_restore_options opt = { .skip = &skip };
    assert_int_equal(store_restore(file, dir, &opt, &f->err), 0);
    assert_true(str_eq(buf_str(&left_out), STR("one two ")));
    assert_int_equal(store_verify(dir, NULL, &f->err), 0);
    struct store *first = f->s;
    assert_int_equal(open_dir(f, dir, &f->s), 0);
    assert_string_equal(list(f, "", 0), "three=the third value");
    store_close(f->s);
    f->s = first;
    remove_tree(dir);
}

/* Revisions that clients have seen since the backup are not given out again. */
static void a_restored_store_begins_far_above(void **state)
{
    struct fixture *f = *state;
    char file[128], dir[128];
    struct store_snap *snap;
    (void)snprintf(file, sizeof(file), "%s/backup", f->dir);
    (void)snprintf(dir, sizeof(dir), "%s-restored", f->dir);
    int64_t rev = put(f, "a", "kept");
    assert_int_equal(store_backup(f->s, file, NULL, &f->err), 0);
    int64_t lost = put(f, "a", "lost");
    const uint64_t bumps[] = { 0, 1000, STORE_BUMP, STORE_BUMP_AUTO };
    for (size_t i = 0; i < ARRAY_LEN(bumps); i++) {
        struct store_restore_options opt = { .bump = bumps[i] };
        assert_int_equal(store_restore(file, dir, &opt, &f->err), 0);
        struct store *first = f->s;
        assert_int_equal(open_dir(f, dir, &f->s), 0);
        uint64_t begin = store_rev(f->s);
        if (bumps[i] == STORE_BUMP_AUTO)
            assert_true(begin > (uint64_t)rev + 1000 * STORE_BUMP); /* the time is later */
        else
            assert_int_equal(begin, (uint64_t)rev + bumps[i]);
        assert_int_equal(store_floor(f->s), begin);
        if (bumps[i])
            assert_int_equal(store_snap_begin(f->s, (uint64_t)lost, &snap, &f->err), -ERR_EXPIRED);
        assert_int_equal(put_if(f, "a", "by a client of old", (uint64_t)lost), -ERR_CONFLICT);
        assert_int_equal(put_if(f, "a", "by one that is right", (uint64_t)rev), begin + 1);
        fixture_checkpoint(f);
        f->s = store_close(f->s);
        assert_int_equal(store_verify(dir, NULL, &f->err), 0);
        f->s = first;
        remove_tree(dir);
    }
    struct store_restore_options far = { .bump = INT64_MAX };
    assert_int_equal(store_restore(file, dir, &far, &f->err), -ERR_INVALID);
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

/* ---- A disk that fails ---- */

static void a_full_disk_is_survived(void **state)
{
    struct fixture *f = *state;
    struct store_stats stats;
    (void)put(f, "a", "1");
    failpoint_arm("wal-write", ENOSPC, 1, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        assert_int_equal(put(f, "a", "2"), -ERR_NO_SPACE);
    assert_int_equal(del(f, "a"), -ERR_NO_SPACE); /* not even the reserve has room */
    store_stats(f->s, &stats);
    assert_true(stats.is_tight);
    assert_int_equal(stats.failing, -ERR_NO_SPACE);
    assert_string_equal(list(f, "", 0), "a=1");
    failpoint_disarm("wal-write");
    int64_t r = 0;
    for (int i = 0; i < 1000 && (r = put(f, "a", "3")) < 0; i++)
        (void)usleep(10000);
    assert_int_equal(r, 3);
    store_stats(f->s, &stats);
    assert_int_equal(stats.failing, 0);
    assert_false(stats.is_tight);
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "a=3");
}

static void a_failed_sync_is_survived(void **state)
{
    struct fixture *f = *state;
    char dir[128];
    for (int round = 0; round < 3; round++) {
        char value[16], text[32];
        int64_t rev = put(f, "a", "acknowledged");
        assert_true(rev > 0);
        failpoint_arm("wal-sync", EIO, 1, round == 2 ? 4 : 1);
        for (int i = 0; i < (round == 2 ? 3 : 1); i++)
            assert_int_equal(put(f, "a", "failed"), -ERR_IO);
        failpoint_disarm("wal-sync");
        assert_string_equal(list(f, "", 0), "a=acknowledged");
        /* What was written but not acknowledged must not come back. */
        crash_copy(f, dir);
        struct store *first = f->s;
        if (round < 2) { /* in the last round even the mending failed: both are right */
            assert_int_equal(open_dir(f, dir, &f->s), 0);
            assert_string_equal(list(f, "", 0), "a=acknowledged");
            store_close(f->s);
            f->s = first;
        }
        (void)snprintf(value, sizeof(value), "%d", round);
        (void)snprintf(text, sizeof(text), "a=%d", round);
        assert_int_equal(put(f, "a", value), rev + 1);
        if (round == 1)
            fixture_reopen(f);
        assert_string_equal(list(f, "", 0), text);
        assert_string_equal(list(f, "", (uint64_t)rev), "a=acknowledged");
    }
    f->s = store_close(f->s);
    assert_int_equal(store_verify(f->dir, NULL, &f->err), 0);
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    remove_tree(dir);
}

/* Preparing the next segment is a favour: when it fails, it leaves nothing behind, and the log goes
 * on without. */
static void a_failed_preparation_is_survived(void **state)
{
    struct fixture *f = *state;
    char path[128], value[16384];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    failpoint_arm("wal-prepare", ENOSPC, 1, UINT32_MAX);
    for (int i = 0; i < 60; i++)
        assert_true(put(f, "a", value) > 0);
    for (int i = 0; i < 500 && failpoint_hits("wal-prepare") == 0; i++)
        (void)usleep(10000);
    fixture_checkpoint(f);
    assert_int_equal(failpoint_hits("wal-prepare"), 1);
    (void)snprintf(path, sizeof(path), "%s/log/prepared.tmp", f->dir);
    assert_int_equal(size_of(path), 0);
    for (int i = 0; i < 60; i++)
        assert_true(put(f, "a", value) > 0);
    failpoint_disarm("wal-prepare");
    fixture_reopen(f);
    assert_int_equal(store_rev(f->s), 121);
}

/* The view cannot be written: writers go on until memory is full, then they get the error; when
 * there is room again everything goes on. */
static void a_failed_checkpoint_is_survived(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    f->opt.history_bytes = 1 << 20;
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    char value[4096];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    failpoint_arm("view-commit", EIO, 1, UINT32_MAX);
    int64_t r = 0, last = 0;
    for (int i = 0; i < 10000 && (r = put(f, "a", value)) > 0; i++)
        last = r;
    assert_int_equal(r, -ERR_IO);
    struct store_stats stats;
    store_stats(f->s, &stats);
    assert_true(stats.memory_bytes < 3 << 20);
    assert_int_equal(stats.failing, -ERR_IO);
    struct store_snap *snap; /* reading goes on */
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    assert_int_equal(store_snap_rev(snap), last);
    store_snap_end(snap);
    failpoint_disarm("view-commit");
    for (int i = 0; i < 500 && (r = put(f, "a", "small")) < 0; i++)
        (void)usleep(10000);
    assert_int_equal(r, last + 1);
    fixture_checkpoint(f);
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "a=small");
}

/* A real one: the largest file this process may write is smaller than what it wants to. */
static void a_file_size_limit_is_survived(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    pid_t pid = fork();
    if (pid == 0) {
        char dir[128], value[65536];
        (void)snprintf(dir, sizeof(dir), "%s/limited", f->dir);
        memset(value, 'x', sizeof(value));
        value[sizeof(value) - 1] = '\0';
        (void)signal(SIGXFSZ, SIG_IGN);
        if (open_dir(f, dir, &f->s) < 0)
            _exit(1);
        int64_t r = put(f, "a", value);
        struct rlimit limit = { 200000, RLIM_INFINITY };
        if (r != 2 || setrlimit(RLIMIT_FSIZE, &limit) < 0)
            _exit(2);
        for (int i = 0; i < 10 && r > 0; i++)
            r = put(f, "b", value);
        if (r != -ERR_IO && r != -ERR_NO_SPACE)
            _exit(3);
        limit.rlim_cur = RLIM_INFINITY;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        if (put(f, "c", "1") < 0)
            _exit(4);
        uint64_t rev = store_rev(f->s);
        store_close(f->s);
        if (open_dir(f, dir, &f->s) < 0 || store_rev(f->s) != rev)
            _exit(5);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* A disk that is really full, for the log and for the view. Needs the right to mount. */
static int fill_a_disk(struct fixture *f)
{
    enum { DISK = 6 << 20 };
    char dir[128], filler[160], value[65536];
    (void)snprintf(dir, sizeof(dir), "%s/disk", f->dir);
    if (mkdir(dir, 0700) < 0 || unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", dir, "tmpfs", 0, "size=6m,mode=0700") < 0)
        return 77;
    f->opt.history_bytes = 1 << 20;
    if (open_dir(f, dir, &f->s) < 0)
        return 1;
    (void)snprintf(filler, sizeof(filler), "%s/filler", dir);
    int fd = open(filler, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 0) < 0 || posix_fallocate(fd, 0, 2 << 20) != 0)
        return 2;
    (void)close(fd);
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    int64_t r = 1, last = 0;
    char key[16];
    for (int i = 0; i < 2 * DISK / (int)sizeof(value) && r > 0; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        r = put(f, key, value);
        last = r > 0 ? r : last;
    }
    if (r != -ERR_NO_SPACE)
        return 3;
    (void)unlink(filler);
    for (int i = 0; i < 500 && (r = put(f, "after", "room")) < 0; i++)
        (void)usleep(10000);
    if (r != last + 1)
        return 4;
    store_close(f->s);
    if (store_verify(dir, NULL, &f->err) < 0)
        return 5;
    if (open_dir(f, dir, &f->s) < 0 || store_rev(f->s) != (uint64_t)last + 1)
        return 6;
    store_close(f->s);
    return 0;
}

static void a_full_file_system_is_survived(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    pid_t pid = fork();
    if (pid == 0)
        _exit(fill_a_disk(f));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* ---- Deleting on a full disk ---- */

/* Runs `body` on a disk of its own; needs the right to mount. */
static void on_small_disk(struct fixture *f, int (*body)(struct fixture *f, const char *dir))
{
    f->s = store_close(f->s);
    pid_t pid = fork();
    if (pid == 0) {
        char dir[128];
        (void)snprintf(dir, sizeof(dir), "%s/disk", f->dir);
        if (mkdir(dir, 0700) < 0 || unshare(CLONE_NEWNS) < 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", dir, "tmpfs", 0, "size=32m,mode=0700") < 0)
            _exit(77);
        _exit(body(f, dir));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* Puts large values until there is no room. How many there are. */
static int fill_store(struct fixture *f, char *value)
{
    int64_t r = 1;
    char key[16];
    int n = 0;
    for (; n < 5000 && r > 0; n++) {
        (void)snprintf(key, sizeof(key), "k%d", n);
        r = put(f, key, value);
    }
    return r == -ERR_NO_SPACE ? n - 1 : 0;
}

/* Somebody else takes what is left, to the last byte. */
static void take_the_rest(const char *dir)
{
    char filler[160], bytes[4096] = { 0 };
    (void)snprintf(filler, sizeof(filler), "%s/filler", dir);
    int fd = open(filler, O_WRONLY | O_CREAT | O_APPEND, 0600);
    while (fd >= 0 && write(fd, bytes, sizeof(bytes)) > 0)
        ;
    (void)close(fd);
}

/* A store that fills its disk with values like this one. How many there are, or 0. */
static int open_and_fill(struct fixture *f, const char *dir, char *value, size_t bytes)
{
    char reserve[160];
    memset(value, 'x', bytes);
    value[bytes - 1] = '\0';
    f->opt.history_bytes = 1 << 20;
    if (open_dir(f, dir, &f->s) < 0)
        return 0;
    (void)snprintf(reserve, sizeof(reserve), "%s/reserve", dir);
    for (int i = 0; i < 1000 && size_of(reserve) < 0; i++)
        (void)usleep(10000);
    return fill_store(f, value);
}

static bool delete_all(struct fixture *f, int n)
{
    char key[16];
    for (int i = 0; i < n; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        if (del(f, key) < 0) {
            print_error("%s was not deleted: " STR_FMT "\n", key, STR_ARG(f->err.msg));
            return false;
        }
    }
    return true;
}

static int delete_what_fills_the_disk(struct fixture *f, const char *dir)
{
    char value[16384];
    struct store_stats stats;
    int n = open_and_fill(f, dir, value, sizeof(value));
    if (n < 100)
        return 2;
    take_the_rest(dir);
    store_stats(f->s, &stats);
    if (!stats.is_tight || put(f, "more", value) != -ERR_NO_SPACE || !says(f, "nearly full"))
        return 3;
    struct store_op marks = { STORE_PUT, STR("k0"), STR("ending"), STORE_ANY, true };
    struct store_txn t = { .ops = &marks, .n_ops = 1 };
    if (store_commit(f->s, &t, &f->err) < 0)
        return 4;
    if (!delete_all(f, n))
        return 5;
    int64_t r = -1;
    for (int i = 0; i < 3000 && (r = put(f, "after", value)) < 0; i++)
        (void)usleep(10000);
    if (r < 0)
        return 6;
    store_close(f->s);
    return store_verify(dir, NULL, &f->err) < 0 ? 7 : 0;
}

static void a_full_disk_can_be_emptied(void **state)
{
    on_small_disk(*state, delete_what_fills_the_disk);
}

/* A start takes room, too. */
static int open_on_full_disk(struct fixture *f, const char *dir)
{
    char value[16384];
    struct store_stats stats;
    int n = open_and_fill(f, dir, value, sizeof(value));
    if (n < 100)
        return 2;
    store_close(f->s);
    take_the_rest(dir);
    if (open_dir(f, dir, &f->s) < 0)
        return 3;
    store_stats(f->s, &stats);
    if (!stats.is_tight || put(f, "more", value) != -ERR_NO_SPACE)
        return 4;
    return delete_all(f, n) ? 0 : 5;
}

static void a_store_opens_on_a_full_disk(void **state)
{
    on_small_disk(*state, open_on_full_disk);
}

/* The same where the disk does not say so before: a write fails, and what it was about decides. */
static void what_deletes_goes_through(void **state)
{
    struct fixture *f = *state;
    struct store_stats stats;
    (void)put(f, "a", "1");
    failpoint_arm("wal-write", ENOSPC, 1, 1);
    assert_true(del(f, "a") > 0);
    store_stats(f->s, &stats);
    assert_true(stats.is_tight);
    assert_int_equal(put(f, "b", "1"), -ERR_NO_SPACE);
    for (int i = 0; i < 1000 && put(f, "b", "1") < 0; i++)
        (void)usleep(10000); /* there is room, and that is seen soon */
    assert_string_equal(list(f, "", 0), "b=1");
}

/* Neither as it is nor in the reserve: the keeper must give up history first. */
static void a_delete_waits_for_room(void **state)
{
    struct fixture *f = *state;
    (void)put(f, "a", "1");
    (void)put(f, "b", "1");
    uint64_t rev = store_rev(f->s);
    failpoint_arm("wal-write", ENOSPC, 1, 2);
    assert_int_equal(del(f, "a"), rev + 1);
    assert_int_equal(failpoint_hits("wal-write"), 3);
    assert_int_equal(store_floor(f->s), rev);
    assert_string_equal(list(f, "", 0), "b=1");
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "b=1");
}

/* Both tables are full and the view has no room. The keeper would try again in a while; somebody
 * who deletes has it try at once. */
static void a_delete_does_not_wait_for_a_retry(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    f->opt.history_bytes = 1 << 20;
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    char value[4096];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    failpoint_arm("view-commit", ENOSPC, 1, UINT32_MAX);
    struct store_op marks = { STORE_PUT, STR("a"), str_of(value), STORE_ANY, true };
    struct store_txn t = { .ops = &marks, .n_ops = 1 };
    int64_t r = 0;
    for (int i = 0; i < 10000 && r >= 0; i++)
        r = run(f, &t);
    assert_int_equal(r, -ERR_NO_SPACE);
    assert_int_equal(del(f, "a"), -ERR_NO_SPACE);
    failpoint_disarm("view-commit");
    assert_true(del(f, "a") > 0);
    assert_string_equal(list(f, "", 0), "");
}

static _Atomic bool compaction_stops;

static void *compact_on_and_on(void *arg)
{
    struct fixture *f = arg;
    while (!compaction_stops)
        if (store_compact(f->s, store_rev(f->s), NULL) < 0)
            abort();
    return NULL;
}

/* The keeper waits for a table to be sealed, by a thread that waits for the keeper. */
static void room_is_made_while_others_compact(void **state)
{
    struct fixture *f = *state;
    struct store_op marks = { STORE_PUT, STR("a"), STR("1"), STORE_ANY, true };
    struct store_txn t = { .ops = &marks, .n_ops = 1 };
    pthread_t thread;
    compaction_stops = false;
    assert_int_equal(pthread_create(&thread, NULL, compact_on_and_on, f), 0);
    for (int i = 0; i < 200; i++) {
        assert_true(run(f, &t) > 0);
        failpoint_arm("wal-write", ENOSPC, 1, 2);
        assert_true(del(f, "a") > 0);
    }
    compaction_stops = true;
    (void)pthread_join(thread, NULL);
    failpoint_disarm("wal-write");
    assert_string_equal(list(f, "", 0), "");
}

static void the_reserve_is_for_deletes(void **state)
{
    struct fixture *f = *state;
    char reserve[160];
    (void)put(f, "a", "1");
    (void)snprintf(reserve, sizeof(reserve), "%s/reserve", f->dir);
    for (int i = 0; i < 1000 && size_of(reserve) < 0; i++)
        (void)usleep(10000);
    failpoint_arm("view-commit", ENOSPC, 1, UINT32_MAX);
    assert_int_equal(store_compact(f->s, store_rev(f->s), &f->err), -ERR_NO_SPACE);
    failpoint_arm("wal-write", ENOSPC, 1, 1);
    assert_int_equal(put(f, "b", "1"), -ERR_NO_SPACE);
    assert_true(size_of(reserve) > 0);
    failpoint_disarm("view-commit");
}

/* What was deleted gives its space back by itself, also while somebody reads. */
static void an_emptied_store_becomes_small(void **state)
{
    struct fixture *f = *state;
    struct store_stats stats;
    struct store_snap *snap;
    char key[16], value[16384];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 600; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        (void)put(f, key, value);
    }
    fixture_checkpoint(f);
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    for (int i = 0; i < 600; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        (void)del(f, key);
    }
    (void)put(f, "stays", "here");
    assert_int_equal(store_compact(f->s, store_rev(f->s), &f->err), 0);
    store_stats(f->s, &stats);
    assert_true(stats.view_bytes > 10 << 20);
    for (int i = 0; i < 3000 && stats.view_bytes > 1 << 20; i++) {
        (void)usleep(10000);
        store_stats(f->s, &stats);
    }
    assert_true(stats.view_bytes < 1 << 20);
    struct store_entry e;
    assert_int_equal(store_snap_get(snap, STR("k17"), &e, &f->err), 1);
    store_snap_end(snap);
    assert_string_equal(list(f, "", 0), "stays=here");
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "stays=here");
}

/* ---- Backup while writes go on ---- */

static _Atomic bool writers_stop;

static void *write_pairs(void *arg)
{
    struct fixture *f = arg;
    for (int i = 0; !writers_stop; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%d", i);
        struct store_op ops[2] = {
            { STORE_PUT, STR("left"), str_of(text), STORE_ANY },
            { STORE_PUT, STR("right"), str_of(text), STORE_ANY },
        };
        struct store_txn t = { .ops = ops, .n_ops = 2 };
        if (store_commit(f->s, &t, NULL) < 0)
            abort();
    }
    return NULL;
}

static void a_backup_is_of_one_moment(void **state)
{
    struct fixture *f = *state;
    char file[128], dir[128];
    pthread_t thread;
    writers_stop = false;
    assert_int_equal(pthread_create(&thread, NULL, write_pairs, f), 0);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(file, sizeof(file), "%s/backup%d", f->dir, i);
        (void)snprintf(dir, sizeof(dir), "%s-restored%d", f->dir, i);
        uint64_t least = store_rev(f->s);
        assert_int_equal(store_backup(f->s, file, NULL, &f->err), 0);
        assert_int_equal(store_restore(file, dir, &as_it_was, &f->err), 0);
        struct fixture other = *f;
        assert_int_equal(open_dir(&other, dir, &other.s), 0);
        assert_true(store_rev(other.s) >= least);
        const char *text = list(&other, "", 0);
        unsigned left = 0, right = 1;
        if (store_rev(other.s) > 1) {
            assert_int_equal(sscanf(text, "left=%u right=%u", &left, &right), 2);
            assert_int_equal(left, right);
        }
        store_close(other.s);
        f->arena = other.arena; /* it was used in between */
        f->err = ERR_INIT(&f->arena);
        remove_tree(dir);
    }
    writers_stop = true;
    (void)pthread_join(thread, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    suite_engine = STORE_LMDB;
    const struct CMUnitTest tests[] = {
        TEST(a_torn_tail_is_cut_off),
        TEST(a_log_that_was_cut_off_is_refused),
        TEST(a_cut_store_goes_on),
        TEST(damage_in_the_log_is_named),
        TEST(a_missing_segment_is_named),
        TEST(a_missing_view_is_named),
        TEST(a_hole_is_judged_by_what_follows),
        TEST(damage_in_the_view_is_found),
        TEST(verify_reads_everything),
        TEST(an_open_folder_is_refused),
        TEST(a_second_process_is_refused),
        TEST(a_folder_that_is_gone_is_noticed),
        TEST(a_backup_restores),
        TEST(a_backup_sums_what_it_writes),
        TEST(a_damaged_backup_names_the_object),
        TEST(a_restored_store_begins_far_above),
        TEST(a_repair_takes_damaged_objects_out),
        TEST(damaged_revisions_can_be_deleted),
        TEST(a_repair_goes_on_with_what_is_left_of_the_log),
        TEST(a_full_disk_is_survived),
        TEST(a_failed_sync_is_survived),
        TEST(a_failed_preparation_is_survived),
        TEST(a_failed_checkpoint_is_survived),
        TEST(a_file_size_limit_is_survived),
        TEST(a_full_file_system_is_survived),
        TEST(a_full_disk_can_be_emptied),
        TEST(a_delete_waits_for_room),
        TEST(a_delete_does_not_wait_for_a_retry),
        TEST(room_is_made_while_others_compact),
        TEST(the_reserve_is_for_deletes),
        TEST(a_store_opens_on_a_full_disk),
        TEST(what_deletes_goes_through),
        TEST(an_emptied_store_becomes_small),
        TEST(a_backup_is_of_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
