/* Backups, and stores that are made from them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "store/suite_files.h"

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
        TEST(a_backup_restores),
        TEST(a_backup_sums_what_it_writes),
        TEST(a_damaged_backup_names_the_object),
        TEST(a_restored_store_begins_far_above),
        TEST(a_backup_is_of_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
