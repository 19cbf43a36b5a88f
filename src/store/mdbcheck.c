#include "store/mdbcheck.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/banned.h"

/* The format: a page is a head of 16 bytes (number 8, zero 2, flags 2, then the free space's lower
 * and upper bound 2 + 2, or the page count of a large value 4), offsets of nodes from the front
 * and nodes from the back. A node is a size or child number in two halves 2 + 2, flags 2, key size
 * 2, key, value. */
enum {
    HEAD = 16,
    NODE = 8,
    DB_BYTES = 48,
    META_BYTES = 136,
    FREE_DB = 24, /* in a meta page, behind its head; the page size is its first word */
    MAIN_DB = FREE_DB + DB_BYTES,
    LAST_PAGE = MAIN_DB + DB_BYTES,
    TXN_ID = LAST_PAGE + 8,
    MAX_KEY = 511,
    MAX_DEPTH = 32,
    MIN_PAGE = 512,
    MAX_PAGE = 65536,
};
enum { P_BRANCH = 1, P_LEAF = 2, P_OVERFLOW = 4, P_META = 8 };
enum { N_BIG = 1, N_SUBDATA = 2 };
/* The tree of free pages has integer keys, and shows that the environment is a single file. */
enum { FREE_DB_FLAGS = 0x4008 };
#define MAGIC   0xBEEFC0DEu
#define NO_PAGE UINT64_MAX

struct db {
    uint16_t flags, depth;
    uint64_t branch_pages, leaf_pages, big_pages, entries, root;
};

struct check {
    const char *name;
    const unsigned char *p; /* the whole file */
    uint64_t n_pages;       /* whole ones in the file */
    uint64_t n_numbered;    /* that have a number; some at the end may never have been written */
    uint32_t page_bytes;
    uint64_t txn_id;
    unsigned char *seen; /* one bit per page */
    struct err *err;
};

/* What one tree turned out to have. */
struct walk {
    struct db db;
    uint64_t branch_pages, leaf_pages, big_pages, entries;
    bool is_main; /* its values may be the roots of other trees */
    bool is_free; /* its values are lists of free pages */
};

static uint16_t get16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const unsigned char *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const unsigned char *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static int bad(struct check *c, uint64_t page, const char *what)
{
    return err_set(c->err, ERR_DAMAGED, "%s: page %" PRIu64 ": %s", c->name, page, what);
}

static struct db db_read(const unsigned char *p)
{
    return (struct db){
        .flags = get16(p + 4),
        .depth = get16(p + 6),
        .branch_pages = get64(p + 8),
        .leaf_pages = get64(p + 16),
        .big_pages = get64(p + 24),
        .entries = get64(p + 32),
        .root = get64(p + 40),
    };
}

static const unsigned char *page_at(const struct check *c, uint64_t number)
{
    return c->p + number * c->page_bytes;
}

/* Marks a page as used; each may be used once. */
static int claim(struct check *c, uint64_t number, uint64_t from)
{
    if (number < 2 || number >= c->n_numbered)
        return bad(c, from, "refers to a page that is not there");
    unsigned char bit = (unsigned char)(1 << (number & 7));
    if (c->seen[number >> 3] & bit)
        return bad(c, number, "is used twice");
    c->seen[number >> 3] |= bit;
    return 0;
}

static int check_big(struct check *c, struct walk *w, uint64_t from, const unsigned char *ref,
                     uint32_t bytes, const unsigned char **ret)
{
    uint64_t first = get64(ref);
    uint64_t count = ((uint64_t)HEAD - 1 + bytes) / c->page_bytes + 1;
    if (first < 2 || first >= c->n_pages || count > c->n_pages - first)
        return bad(c, from, "has a large value that is not there");
    const unsigned char *p = page_at(c, first);
    if (get64(p) != first || get16(p + 10) != P_OVERFLOW || get32(p + 12) != count)
        return bad(c, first, "is not the large value it should be");
    for (uint64_t i = 0; i < count; i++) {
        int r = claim(c, first + i, from);
        if (r < 0)
            return r;
    }
    w->big_pages += count;
    *ret = p + HEAD;
    return 0;
}

static int check_free_list(struct check *c, uint64_t page, const unsigned char *list, uint32_t n)
{
    if (n < 8 || n % 8 || get64(list) != n / 8 - 1)
        return bad(c, page, "has a bad list of free pages");
    for (uint64_t i = 1; i < n / 8; i++) {
        int r = claim(c, get64(list + 8 * i), page);
        if (r < 0)
            return r;
    }
    return 0;
}

static int walk_tree(struct check *c, struct walk *w);

static int check_subtree(struct check *c, uint64_t page, const unsigned char *value, uint32_t n)
{
    if (n != DB_BYTES)
        return bad(c, page, "has a bad table");
    struct walk w = { .db = db_read(value) };
    if (w.db.flags != 0)
        return bad(c, page, "has a table of an unknown kind");
    return walk_tree(c, &w);
}

static int check_value(struct check *c, struct walk *w, uint64_t page, const unsigned char *node,
                       const unsigned char *value)
{
    uint16_t flags = get16(node + 4);
    uint32_t bytes = get32(node);
    if (flags & N_BIG) {
        int r = check_big(c, w, page, value, bytes, &value);
        if (r < 0)
            return r;
    }
    if (w->is_free)
        return check_free_list(c, page, value, bytes);
    if (flags & N_SUBDATA)
        return w->is_main ? check_subtree(c, page, value, bytes)
                          : bad(c, page, "has a table where none should be");
    return w->is_main ? bad(c, page, "has a value where a table should be") : 0;
}

/* Keys between two bounds; NULL is no bound. */
struct bounds {
    struct str low, high;
};

/* The free list has native 8-byte numbers as keys. */
static int compare(const struct walk *w, struct str a, struct str b)
{
    if (!w->is_free)
        return str_cmp(a, b);
    uint64_t x = get64((const unsigned char *)a.p), y = get64((const unsigned char *)b.p);
    return x < y ? -1 : x > y;
}

static int walk_page(struct check *c, struct walk *w, uint64_t number, uint64_t from,
                     unsigned depth, struct bounds bounds);

/* One node: its place, size and key; then what hangs below it. */
static int check_node(struct check *c, struct walk *w, uint64_t number, unsigned i, unsigned depth,
                      struct bounds *bounds)
{
    const unsigned char *page = page_at(c, number);
    bool is_leaf = get16(page + 10) == P_LEAF;
    unsigned count = (get16(page + 12) - HEAD) / 2u, upper = get16(page + 14);
    unsigned at = get16(page + HEAD + 2 * (size_t)i);
    if (at % 2 || at < upper || at > c->page_bytes - NODE)
        return bad(c, number, "has a node outside its place");
    const unsigned char *node = page + at;
    uint32_t key_n = get16(node + 6), room = c->page_bytes - NODE - at;
    uint16_t flags = get16(node + 4);
    uint64_t value_n = is_leaf ? (flags & N_BIG ? 8 : get32(node)) : 0;
    if (key_n > MAX_KEY || key_n > room || value_n > room - key_n)
        return bad(c, number, "has a node that is too long");
    if (is_leaf && flags & ~(N_BIG | N_SUBDATA))
        return bad(c, number, "has a node of an unknown kind");

    struct str key = { (const char *)node + NODE, key_n };
    bool has_key = is_leaf || i > 0; /* a branch's first key is implied */
    if (has_key && (key_n == 0 || (w->is_free && key_n != 8)))
        return bad(c, number, "has a key of a bad size");
    if (has_key && bounds->low.p) {
        int order = compare(w, bounds->low, key);
        bool may_equal = i == 0 || (i == 1 && !is_leaf);
        if (order > 0 || (order == 0 && !may_equal))
            return bad(c, number, "has keys out of order");
    }
    if (has_key && bounds->high.p && compare(w, key, bounds->high) >= 0)
        return bad(c, number, "has a key that belongs elsewhere");
    if (has_key)
        bounds->low = key;
    if (is_leaf) {
        w->entries++;
        return check_value(c, w, number, node, node + NODE + key_n);
    }

    struct bounds below = { has_key ? key : bounds->low, bounds->high };
    if (i + 1 < count) {
        unsigned next = get16(page + HEAD + 2 * ((size_t)i + 1));
        if (next < upper || next > c->page_bytes - NODE ||
            get16(page + next + 6) > c->page_bytes - NODE - next)
            return bad(c, number, "has a node outside its place");
        below.high = (struct str){ (const char *)page + next + NODE, get16(page + next + 6) };
        if (w->is_free && below.high.n != 8)
            return bad(c, number, "has a key of a bad size");
    }
    uint64_t child = get16(node) | (uint64_t)get16(node + 2) << 16 | (uint64_t)flags << 32;
    return walk_page(c, w, child, number, depth + 1, below);
}

static int walk_page(struct check *c, struct walk *w, uint64_t number, uint64_t from,
                     unsigned depth, struct bounds bounds)
{
    if (number >= c->n_pages)
        return bad(c, from, "refers to a page behind the end of the file");
    int r = claim(c, number, from);
    if (r < 0)
        return r;
    const unsigned char *page = page_at(c, number);
    uint16_t flags = get16(page + 10), lower = get16(page + 12), upper = get16(page + 14);
    if (get64(page) != number)
        return bad(c, number, "has the number of another page");
    bool is_leaf = flags == P_LEAF;
    if (!is_leaf && flags != P_BRANCH)
        return bad(c, number, "is of an unknown kind");
    if (is_leaf != (depth == w->db.depth))
        return bad(c, number, "is at the wrong depth");
    if (lower < HEAD || lower % 2 || lower > upper || upper > c->page_bytes)
        return bad(c, number, "has bad bounds");
    unsigned count = (lower - HEAD) / 2u;
    if (count < (is_leaf ? 1 : 2))
        return bad(c, number, "is empty");
    if (is_leaf)
        w->leaf_pages++;
    else
        w->branch_pages++;
    for (unsigned i = 0; i < count; i++) {
        r = check_node(c, w, number, i, depth, &bounds);
        if (r < 0)
            return r;
    }
    return 0;
}

static int walk_tree(struct check *c, struct walk *w)
{
    const struct db *db = &w->db;
    if (db->root != NO_PAGE) {
        if (db->depth == 0 || db->depth > MAX_DEPTH)
            return bad(c, db->root, "is the root of a tree that is too deep");
        int r = walk_page(c, w, db->root, 0, 1, (struct bounds){ { 0 } });
        if (r < 0)
            return r;
    }
    if (w->branch_pages != db->branch_pages || w->leaf_pages != db->leaf_pages ||
        w->big_pages != db->big_pages || w->entries != db->entries)
        return bad(c, db->root == NO_PAGE ? 0 : db->root, "is the root of a tree with other sizes");
    return 0;
}

static bool is_page_size(uint32_t n)
{
    return n >= MIN_PAGE && n <= MAX_PAGE && (n & (n - 1)) == 0;
}

/* Meta page, behind the head: magic 4, version 4, address 8, map size 8, two trees (free pages;
 * tables), last page 8, transaction 8. The first tree's unused word holds the page size. */
static int check_meta(struct check *c, uint64_t number)
{
    const unsigned char *page = page_at(c, number), *meta = page + HEAD;
    if (get64(page) != number || get16(page + 10) != P_META)
        return bad(c, number, "is not a meta page");
    if (get32(meta) != MAGIC || get32(meta + 4) != 1)
        return bad(c, number, "is not of LMDB's data version 1");
    if (get64(meta + 8) != 0 || get32(meta + FREE_DB) != c->page_bytes)
        return bad(c, number, "has a bad address or page size");
    uint64_t last = get64(meta + LAST_PAGE);
    if (last < 1 || last / 2 > c->n_pages + 65536)
        return bad(c, number, "speaks of pages far behind the end of the file");
    struct db free_db = db_read(meta + FREE_DB), main_db = db_read(meta + MAIN_DB);
    if (free_db.flags != FREE_DB_FLAGS || main_db.flags != 0)
        return bad(c, number, "has trees of an unknown kind");
    return 0;
}

static int check_trees(struct check *c, const unsigned char *meta)
{
    c->n_numbered = get64(meta + LAST_PAGE) + 1;
    if (c->n_pages > c->n_numbered)
        c->n_pages = c->n_numbered;
    autofree unsigned char *seen = mem_zalloc((size_t)(c->n_numbered / 8 + 1));
    c->seen = seen;
    struct walk main_walk = { .db = db_read(meta + MAIN_DB), .is_main = true };
    int r = walk_tree(c, &main_walk);
    if (r < 0)
        return r;
    struct walk free_walk = { .db = db_read(meta + FREE_DB), .is_free = true };
    return walk_tree(c, &free_walk);
}

int mdbcheck_bytes(struct str bytes, const char *name, struct err *err)
{
    struct check c = { .name = name, .p = (const unsigned char *)bytes.p, .err = err };
    if (bytes.n < HEAD + META_BYTES || get32(c.p + HEAD) != MAGIC)
        return bad(&c, 0, "is not a meta page");
    c.page_bytes = get32(c.p + HEAD + FREE_DB);
    if (!is_page_size(c.page_bytes) || bytes.n < 2 * (uint64_t)c.page_bytes)
        return bad(&c, 0, "has a bad page size");
    c.n_pages = bytes.n / c.page_bytes;
    int r = check_meta(&c, 0);
    if (r < 0)
        return r;
    r = check_meta(&c, 1);
    if (r < 0)
        return r;
    const unsigned char *a = page_at(&c, 0) + HEAD, *b = page_at(&c, 1) + HEAD;
    /* LMDB uses the newer one; on a tie both are the same, in a new file. */
    return check_trees(&c, get64(b + TXN_ID) > get64(a + TXN_ID) ? b : a);
}

int mdbcheck_file(const char *path, struct err *err)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_errno(err, errno, "look at %s", path);
    size_t n = (size_t)st.st_size;
    if (n == 0)
        return err_set(err, ERR_DAMAGED, "%s: is empty", path);
    void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return err_errno(err, errno, "map %s", path);
    int r = mdbcheck_bytes((struct str){ p, n }, path, err);
    (void)munmap(p, n);
    return r;
}
