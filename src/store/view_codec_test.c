/* What the bytes of the view mean, and what damaged ones become. */
#include "store/view_impl.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;
static struct view view = { .path = (char *)"/some/folder/view.mdb" };

static struct view_entry entry(void)
{
    struct view_entry e = { STR("key"), STR("value"), 3, 7, 0, 0 };
    e.crc = view_entry_sum(&e);
    return e;
}

static void an_entry_comes_back_as_it_was(void **state)
{
    (void)state;
    autobuf b = { 0 };
    struct view_entry e = entry(), back;
    MDB_val data = view__entry_encode(&b, &e);
    view__entry_decode(view__val(e.key), data, &back);
    assert_true(str_eq(back.key, e.key) && str_eq(back.value, e.value));
    assert_true(back.create_rev == 3 && back.mod_rev == 7 && back.super_rev == 0);
    assert_int_equal(view_entry_check(&view, &back, NULL), 0);

    e.value = STR("");
    e.crc = view_entry_sum(&e);
    data = view__entry_encode(&b, &e); /* of the same buffer: nothing of the first is left */
    view__entry_decode(view__val(e.key), data, &back);
    assert_int_equal(back.value.n, 0);
    assert_int_equal(view_entry_check(&view, &back, NULL), 0);
}

/* A damaged entry stays damaged when it is copied: its sum goes along as it was. */
static void damage_is_carried_on(void **state)
{
    (void)state;
    autobuf b = { 0 };
    struct view_entry e = entry(), back;
    e.crc ^= 1;
    view__entry_decode(view__val(e.key), view__entry_encode(&b, &e), &back);
    assert_int_equal(back.crc, e.crc);
    assert_int_equal(view_entry_check(&view, &back, NULL), -ERR_DAMAGED);
}

static void every_bit_of_an_entry_is_summed(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autobuf b = { 0 };
    struct view_entry e = entry(), back;
    MDB_val data = view__entry_encode(&b, &e);
    for (size_t bit = 0; bit < 8 * data.mv_size; bit++) {
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
        view__entry_decode(view__val(e.key), data, &back);
        assert_int_equal(view_entry_check(&view, &back, &err), -ERR_DAMAGED);
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
    }
    /* The name of the file, not where it lies. */
    assert_true(str_eq(err.msg, STR("view.mdb: the value of key \"key\" is damaged")));
    view__entry_decode(view__val(STR("kez")), data, &back);
    assert_int_equal(view_entry_check(&view, &back, NULL), -ERR_DAMAGED);
}

static void bytes_that_are_no_entry_are_a_damaged_one(void **state)
{
    (void)state;
    char bytes[32] = { 0 };
    for (size_t n = 0; n < 20; n++) {
        struct view_entry e;
        view__entry_decode(view__val(STR("key")), (MDB_val){ n, bytes }, &e);
        assert_true(str_eq(e.key, STR("key")));
        assert_int_equal(e.value.n, n);
        assert_int_equal(view_entry_check(&view, &e, NULL), -ERR_DAMAGED);
    }
}

/* LMDB sorts bytes: history must come in the order of revisions, then of keys. */
static void old_keys_sort_by_revision(void **state)
{
    (void)state;
    static const struct {
        uint64_t rev;
        const char *key;
    } rows[] = {
        { 1, "z" }, { 2, "a" }, { 2, "ab" }, { 255, "a" }, { 256, "a" }, { UINT64_MAX, "" }
    };
    char before[VIEW__OLD_KEY_BYTES], text[VIEW__OLD_KEY_BYTES];
    size_t before_n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        MDB_val k = view__old_key(text, rows[i].rev, str_of(rows[i].key));
        struct str a = { before, before_n }, b = { k.mv_data, k.mv_size };
        assert_true(str_cmp(a, b) < 0);
        memcpy(before, text, k.mv_size);
        before_n = k.mv_size;
    }
}

static void an_old_entry_knows_what_replaced_it(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autobuf b = { 0 };
    char text[VIEW__OLD_KEY_BYTES];
    struct view_entry e = entry(), back;
    MDB_val data = view__entry_encode(&b, &e), k = view__old_key(text, 9, e.key);
    assert_int_equal(view__old_decode(&view, k, data, &back, &err), 1);
    assert_int_equal(back.super_rev, 9);
    assert_true(str_eq(back.key, STR("key")) && back.mod_rev == 7);
    assert_int_equal(view_entry_check(&view, &back, NULL), 0);
    for (k.mv_size = 0; k.mv_size <= 8; k.mv_size++)
        assert_int_equal(view__old_decode(&view, k, data, &back, &err), -ERR_DAMAGED);
    assert_true(str_eq(err.msg, STR("view.mdb: a key of the history is too short")));
}

static void the_codes_of_lmdb_become_ours(void **state)
{
    (void)state;
    static const struct {
        int rc;
        enum err_code code;
    } rows[] = {
        { ENOSPC, ERR_NO_SPACE },
        { EDQUOT, ERR_NO_SPACE },
        { EACCES, ERR_IO },
        { ENOENT, ERR_NOT_FOUND },
        { EIO, ERR_IO },
        { MDB_MAP_FULL, ERR_NO_SPACE },
        { MDB_CORRUPTED, ERR_DAMAGED },
        { MDB_PAGE_NOTFOUND, ERR_DAMAGED },
        { MDB_INVALID, ERR_DAMAGED },
        { MDB_VERSION_MISMATCH, ERR_DAMAGED },
        { MDB_PANIC, ERR_IO },
        { MDB_READERS_FULL, ERR_UNAVAILABLE },
        { MDB_BAD_VALSIZE, ERR_INTERNAL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        assert_int_equal(view__error(&view, rows[i].rc, "write", &err), -(int)rows[i].code);
        assert_true(str_starts(err.msg, STR("write /some/folder/view.mdb: ")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_comes_back_as_it_was),
        cmocka_unit_test(damage_is_carried_on),
        cmocka_unit_test(every_bit_of_an_entry_is_summed),
        cmocka_unit_test(bytes_that_are_no_entry_are_a_damaged_one),
        cmocka_unit_test(old_keys_sort_by_revision),
        cmocka_unit_test(an_old_entry_knows_what_replaced_it),
        cmocka_unit_test(the_codes_of_lmdb_become_ours),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
