/* Files of LMDB with one thing wrong in each, at the places where its format has them. */
#include "store/mdbcheck.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "store/suite_fixture.h"
#include "store/view.h"

/* Offsets in a meta page, and in a tree that it describes. */
enum {
    PAGE_NUMBER = 0,
    PAGE_FLAGS = 10,
    META_MAGIC = 16,
    META_VERSION = 20,
    META_ADDRESS = 24,
    META_FREE = 40, /* whose first word is the size of a page */
    META_MAIN = 88,
    META_LAST_PAGE = 136,
    META_TXN = 144,
    TREE_FLAGS = 4,
    TREE_DEPTH = 6,
    TREE_LEAVES = 16,
    TREE_ENTRIES = 32,
    TREE_ROOT = 40,
};

struct file {
    char dir[64], path[96];
    struct buf bytes; /* of a sound file */
    struct arena arena;
    struct err err;
};

static uint64_t get64(const struct buf *b, size_t at)
{
    uint64_t v;
    memcpy(&v, b->p + at, sizeof(v));
    return le64toh(v);
}

static uint32_t page_bytes(const struct file *f)
{
    uint32_t n;
    memcpy(&n, f->bytes.p + META_FREE, sizeof(n));
    return le32toh(n);
}

/* Where the meta page stands that counts. */
static size_t newest_meta(const struct file *f)
{
    size_t second = page_bytes(f);
    return get64(&f->bytes, second + META_TXN) > get64(&f->bytes, META_TXN) ? second : 0;
}

/* Small values, some that need pages of their own, and pages that became free again. */
static void fill(struct file *f, int round)
{
    struct view *v;
    struct view_write *w;
    autofree char *large = mem_zalloc(20000);
    assert_int_equal(view_open(&(struct view_options){ .path = f->path }, &v, &f->err), 0);
    assert_int_equal(view_write_begin(v, 4 << 20, &w, &f->err), 0);
    for (int i = 0; i < 500; i++) {
        struct view_entry e = { .key = arena_printf(&f->arena, "key-%04d", i) };
        e.value = (struct str){ large, i % 100 == round ? 20000 : 50 };
        assert_int_equal(view_write_put(w, &e, &f->err), 0);
    }
    assert_int_equal(view_write_commit(w, &(struct view_meta){ 7, 2, 1, 500 }, &f->err), 0);
    view_close(v);
}

static int setup(void **state)
{
    struct file *f = mem_new(struct file);
    arena_init(&f->arena);
    f->err = ERR_INIT(&f->arena);
    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/sampan-mdbcheck-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    (void)snprintf(f->path, sizeof(f->path), "%s/view.mdb", f->dir);
    struct view_meta meta = { .store_id = 7, .rev = 1, .floor = 1 };
    if (view_create(f->path, &meta, false, &f->err) < 0)
        return -1;
    fill(f, 0);
    fill(f, 1);
    *state = f;
    return file_read(f->path, 64 << 20, &f->bytes, &f->err);
}

static int teardown(void **state)
{
    struct file *f = *state;
    remove_tree(f->dir);
    buf_done(&f->bytes);
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* Checks a copy, so that what reads behind its end is seen by the tools that look for it. */
static int check(struct file *f, size_t n)
{
    autofree char *copy = mem_dup(f->bytes.p, n ? n : 1);
    err_clear(&f->err);
    return mdbcheck_bytes((struct str){ copy, n }, "file", &f->err);
}

static void a_sound_file_is_sound(void **state)
{
    struct file *f = *state;
    assert_int_equal(check(f, f->bytes.n), 0);
    assert_int_equal(mdbcheck_file(f->path, &f->err), 0);
    buf_add(&f->bytes, f->bytes.p, page_bytes(f)); /* pages that nobody speaks of */
    assert_int_equal(check(f, f->bytes.n), 0);
}

static void files_that_are_none_are_refused(void **state)
{
    struct file *f = *state;
    assert_int_equal(mdbcheck_file("/nowhere/at/all", &f->err), -ERR_NOT_FOUND);
    assert_int_equal(file_write_atomic(f->path, STR(""), 0600, FILE_CHEAP, &f->err), 0);
    assert_int_equal(mdbcheck_file(f->path, &f->err), -ERR_DAMAGED);
    assert_non_null(strstr(f->err.msg.p, "view.mdb: is empty"));
    assert_int_equal(file_write_atomic(f->path, STR("{}"), 0600, FILE_CHEAP, &f->err), 0);
    assert_int_equal(mdbcheck_file(f->path, &f->err), -ERR_DAMAGED);
    assert_non_null(strstr(f->err.msg.p, "is not a meta page"));
}

static void a_file_that_was_cut_is_refused(void **state)
{
    struct file *f = *state;
    for (size_t n = 0; n < 400; n++)
        assert_int_equal(check(f, n), -ERR_DAMAGED);
    size_t page = page_bytes(f), end = (size_t)(get64(&f->bytes, newest_meta(f) + META_LAST_PAGE));
    for (size_t n = 0; n < end; n++) {
        assert_int_equal(check(f, n * page), -ERR_DAMAGED);
        assert_int_equal(check(f, n * page + 1), -ERR_DAMAGED);
    }
}

/* One changed byte of a meta page. `is_newest`: only that one is believed, and looked at. */
static void each_word_of_a_meta_page_counts(void **state)
{
    struct file *f = *state;
    static const struct {
        size_t at;
        bool is_newest;
        const char *says;
    } rows[] = {
        { PAGE_NUMBER, false, "is not a meta page" },
        { PAGE_FLAGS, false, "is not a meta page" },
        { META_VERSION, false, "is not of LMDB's data version 1" },
        { META_ADDRESS, false, "has a bad address or page size" },
        { META_FREE + TREE_FLAGS, false, "has trees of an unknown kind" },
        { META_MAIN + TREE_FLAGS, false, "has trees of an unknown kind" },
        { META_LAST_PAGE + 7, false, "speaks of pages far behind the end of the file" },
        { META_MAIN + TREE_DEPTH + 1, true, "is the root of a tree that is too deep" },
        { META_MAIN + TREE_LEAVES, true, "is the root of a tree with other sizes" },
        { META_MAIN + TREE_ENTRIES, true, "is the root of a tree with other sizes" },
        { META_FREE + TREE_ENTRIES, true, "is the root of a tree with other sizes" },
        { META_MAIN + TREE_ROOT + 6, true, "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t page = 0; page < 2; page++) {
            size_t meta = page * page_bytes(f);
            f->bytes.p[meta + rows[i].at] ^= 0x20;
            if (rows[i].is_newest && meta != newest_meta(f)) {
                assert_int_equal(check(f, f->bytes.n), 0);
            } else {
                assert_int_equal(check(f, f->bytes.n), -ERR_DAMAGED);
                assert_non_null(strstr(f->err.msg.p, rows[i].says));
            }
            f->bytes.p[meta + rows[i].at] ^= 0x20;
        }
    }
}

static void the_size_of_a_page_is_checked_first(void **state)
{
    struct file *f = *state;
    static const uint32_t sizes[] = { 0, 1, 128, 4097, 1 << 20, UINT32_MAX };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        uint32_t n = htole32(sizes[i]);
        memcpy(f->bytes.p + META_FREE, &n, sizeof(n));
        assert_int_equal(check(f, f->bytes.n), -ERR_DAMAGED);
        assert_non_null(strstr(f->err.msg.p, "has a bad page size"));
    }
}

/* A root that is a page of another kind, or a page of the tree that has another number. */
static void a_tree_leads_only_to_its_own_pages(void **state)
{
    struct file *f = *state;
    size_t meta = newest_meta(f), page = page_bytes(f);
    uint64_t root = get64(&f->bytes, meta + META_MAIN + TREE_ROOT);
    f->bytes.p[root * page + PAGE_NUMBER] ^= 1;
    assert_int_equal(check(f, f->bytes.n), -ERR_DAMAGED);
    f->bytes.p[root * page + PAGE_NUMBER] ^= 1;
    f->bytes.p[root * page + PAGE_FLAGS] ^= 1;
    assert_int_equal(check(f, f->bytes.n), -ERR_DAMAGED);
    f->bytes.p[root * page + PAGE_FLAGS] ^= 1;
    assert_int_equal(check(f, f->bytes.n), 0);

    static const uint64_t elsewhere[] = { 0, 1, UINT64_C(1) << 40, UINT64_MAX - 1 };
    for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++) {
        uint64_t n = htole64(elsewhere[i]);
        memcpy(f->bytes.p + meta + META_MAIN + TREE_ROOT, &n, sizeof(n));
        assert_int_equal(check(f, f->bytes.n), -ERR_DAMAGED);
    }
}

/* Whatever stands in the file: an answer, and no byte read behind its end. */
static void every_word_may_be_anything(void **state)
{
    struct file *f = *state;
    enum { HEADS = 200 }; /* of each page: its head and where its nodes are */
    size_t page = page_bytes(f), damaged = 0;
    for (size_t at = 0; at < f->bytes.n; at += at % page < HEADS ? 2 : page - HEADS) {
        char was[2];
        memcpy(was, f->bytes.p + at, 2);
        memset(f->bytes.p + at, 0xff, 2);
        int r = mdbcheck_bytes(buf_str(&f->bytes), "file", NULL);
        assert_true(r == 0 || r == -ERR_DAMAGED);
        damaged += r < 0;
        memcpy(f->bytes.p + at, was, 2);
    }
    assert_true(damaged > 500);
    assert_int_equal(check(f, f->bytes.n), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sound_file_is_sound, setup, teardown),
        cmocka_unit_test_setup_teardown(files_that_are_none_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_was_cut_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(each_word_of_a_meta_page_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(the_size_of_a_page_is_checked_first, setup, teardown),
        cmocka_unit_test_setup_teardown(a_tree_leads_only_to_its_own_pages, setup, teardown),
        cmocka_unit_test_setup_teardown(every_word_may_be_anything, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
