#include "store/suite_fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

enum store_engine suite_engine;
const struct suite_peer *suite_peer;

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

void remove_tree(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int fixture_open(struct fixture *f)
{
    return suite_peer ? suite_peer->open(&f->opt, &f->s, &f->err)
                      : store_open(&f->opt, &f->s, &f->err);
}

static void open_store(struct fixture *f)
{
    int r = fixture_open(f);
    if (r < 0)
        fail_msg("open: " STR_FMT, STR_ARG(f->err.msg));
}

int fixture_setup(void **state)
{
    struct fixture *f = mem_new(struct fixture);
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(f->dir, sizeof(f->dir), "%s/store-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(f->dir))
        return -1;
    if (suite_peer && suite_peer->begin(f->dir) < 0)
        return -1;
    arena_init(&f->arena);
    f->err = ERR_INIT(&f->arena);
    clock_fake_init(&f->clock, INT64_C(1700000000) * NS_PER_SEC);
    f->opt =
        (struct store_options){ .engine = suite_engine, .dir = f->dir, .clock = &f->clock.clock };
    open_store(f);
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    if (suite_peer)
        suite_peer->end();
    remove_tree(f->dir);
    arena_done(&f->arena);
    free(f);
    return 0;
}

void fixture_reopen(struct fixture *f)
{
    if (suite_engine == STORE_MEMORY)
        return;
    f->s = store_close(f->s);
    open_store(f);
}

void fixture_checkpoint(struct fixture *f)
{
    assert_int_equal(store_compact(f->s, store_floor(f->s), &f->err), 0);
}

int64_t run(struct fixture *f, struct store_txn *t)
{
    int r = store_commit(f->s, t, &f->err);
    return r < 0 ? r : (int64_t)t->rev;
}

int64_t put_if(struct fixture *f, const char *key, const char *value, uint64_t expect_rev)
{
    struct store_op op = { STORE_PUT, str_of(key), str_of(value), expect_rev };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    return run(f, &t);
}

int64_t put(struct fixture *f, const char *key, const char *value)
{
    return put_if(f, key, value, STORE_ANY);
}

int64_t del(struct fixture *f, const char *key)
{
    struct store_op op = { STORE_DELETE, str_of(key), STR(""), STORE_ANY };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    return run(f, &t);
}

const char *list(struct fixture *f, const char *prefix, uint64_t rev)
{
    struct store_snap *snap;
    int r = store_snap_begin(f->s, rev, &snap, &f->err);
    if (r < 0)
        return str_cstr(&f->arena, err_reason((enum err_code) - r));
    autobuf text = { 0 };
    struct store_entry e;
    store_range_begin(snap, str_of(prefix), STR(""));
    while ((r = store_range_next(snap, &e, &f->err)) > 0)
        buf_printf(&text, "%s" STR_FMT "=" STR_FMT, text.n ? " " : "", STR_ARG(e.key),
                   STR_ARG(e.value));
    assert_int_equal(r, 0);
    store_snap_end(snap);
    return str_cstr(&f->arena, buf_str(&text));
}
