/* suite_fixture.h - a store of its own for each test, and words to write tests with. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store.h"

extern enum store_engine suite_engine; /* that is being tested */

/* Of an engine that needs somebody else; each test gets it new. NULL: it needs nobody. */
struct suite_peer {
    int (*begin)(const char *dir); /* 0, or -1 */
    int (*open)(const struct store_options *opt, struct store **ret, struct err *err);
    void (*end)(void);
};
extern const struct suite_peer *suite_peer;

struct fixture {
    char dir[64];
    struct store *s;
    struct clock_fake clock;
    struct arena arena;
    struct err err;
    struct store_options opt;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);
int fixture_open(struct fixture *f);    /* what is closed */
void fixture_reopen(struct fixture *f); /* a store in memory stays open */
void fixture_checkpoint(struct fixture *f);

/* One operation; the revision, or the negative code. */
int64_t put(struct fixture *f, const char *key, const char *value);
int64_t put_if(struct fixture *f, const char *key, const char *value, uint64_t expect_rev);
int64_t del(struct fixture *f, const char *key);
int64_t run(struct fixture *f, struct store_txn *t);
/* "key=value key=value" of a range at a revision (0: newest). */
const char *list(struct fixture *f, const char *prefix, uint64_t rev);

void remove_tree(const char *dir);
