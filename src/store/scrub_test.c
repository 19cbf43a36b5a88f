/* A store whose old bytes are gone. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "store/suite_files.h"

/* In how many files of the folder, and those below, the text stands. */
static int files_with(const char *dir, const char *text)
{
    int found = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        char path[512];
        struct stat st;
        (void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            found += files_with(path, text);
            continue;
        }
        autobuf bytes = { 0 };
        assert_int_equal(file_read(path, 64 << 20, &bytes, NULL), 0);
        found += bytes.n && memmem(bytes.p, bytes.n, text, strlen(text)) != NULL;
    }
    closedir(d);
    return found;
}

/* Old values on pages of all kinds: replaced, deleted, small, large, before and after checkpoints.
 */
static void fill(struct fixture *f)
{
    char key[32], small[64], large[9000];
    memset(large, '.', sizeof(large));
    memcpy(large + 4000, "old-secret", 10);
    large[sizeof(large) - 1] = '\0';
    for (int i = 0; i < 200; i++) {
        (void)snprintf(key, sizeof(key), "k%03d", i);
        (void)snprintf(small, sizeof(small), "old-secret-%d", i);
        (void)put(f, key, i % 10 ? small : large);
        if (i == 100)
            fixture_checkpoint(f);
    }
    fixture_checkpoint(f);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(key, sizeof(key), "k%03d", i);
        if (i % 3)
            (void)put(f, key, "now");
        else
            (void)del(f, key);
    }
}

static void old_bytes_are_gone(void **state)
{
    struct fixture *f = *state;
    fill(f);
    const char *before = list(f, "", 0);
    uint64_t rev = store_rev(f->s);
    f->s = store_close(f->s);
    assert_true(files_with(f->dir, "old-secret") > 0);
    assert_int_equal(store_scrub(f->dir, &f->err), 0);
    assert_int_equal(files_with(f->dir, "old-secret"), 0);
    assert_true(files_with(f->dir, "now") > 0);
    assert_int_equal(store_verify(f->dir, NULL, &f->err), 0);

    assert_int_equal(open_dir(f, f->dir, &f->s), 0);
    assert_string_equal(list(f, "", 0), before);
    assert_int_equal(store_rev(f->s), rev);
    assert_int_equal(store_floor(f->s), rev);
    assert_int_equal(put(f, "more", "1"), (int64_t)rev + 1);
}

/* The view of a scrubbed store with the log that it had. */
static void a_crash_in_between_does_no_harm(void **state)
{
    struct fixture *f = *state;
    char half[128], from[256], to[256];
    fill(f);
    const char *before = list(f, "", 0);
    uint64_t rev = store_rev(f->s);
    f->s = store_close(f->s);
    crash_copy(f, half);
    assert_int_equal(store_scrub(f->dir, &f->err), 0);
    (void)snprintf(from, sizeof(from), "%s/view.mdb", f->dir);
    (void)snprintf(to, sizeof(to), "%s/view.mdb", half);
    assert_int_equal(remove(to), 0);
    copy_file(from, to);
    assert_int_equal(open_dir(f, half, &f->s), 0);
    assert_string_equal(list(f, "", 0), before);
    assert_int_equal(store_rev(f->s), rev);
    f->s = store_close(f->s);
    assert_int_equal(store_scrub(half, &f->err), 0);
    assert_int_equal(files_with(half, "old-secret"), 0);
    remove_tree(half);
    assert_int_equal(open_dir(f, f->dir, &f->s), 0);
}

static void there_must_be_a_store(void **state)
{
    struct fixture *f = *state;
    char dir[128];
    (void)snprintf(dir, sizeof(dir), "%s/none", f->dir);
    assert_int_equal(store_scrub(dir, &f->err), -ERR_NOT_FOUND);
    assert_int_equal(size_of(dir), -1);
    assert_int_equal(store_scrub(f->dir, &f->err), -ERR_CONFLICT); /* it is open */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    suite_engine = STORE_LMDB;
    const struct CMUnitTest tests[] = {
        TEST(old_bytes_are_gone),
        TEST(a_crash_in_between_does_no_harm),
        TEST(there_must_be_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
