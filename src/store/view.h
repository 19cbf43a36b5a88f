/* view.h - the store as of the last checkpoint: an LMDB file that is consistent at all times.
 *
 * Three tables: `cur` has the newest version of each key, `old` what each change above the floor
 * replaced, `meta` one row that says how far the file goes. One thread writes, in transactions
 * that are synced whole. Any number of threads read, each through a reader of its own.
 *
 * Only view_impl.h includes lmdb.h. LMDB believes its file, so mdbcheck.h looks at it
 * first; each entry carries a checksum of its own besides. A reader should be short, because it
 * pins pages; it never keeps the writer from anything: when the file must be opened anew or
 * replaced, old readers keep what they have. */
#pragma once

#include "store/store.h"

struct view;
struct view_reader;
struct view_write;

enum { VIEW_FORMAT = 1 };

struct view_meta {
    uint64_t store_id;
    uint64_t rev;   /* everything up to here is in the file */
    uint64_t floor; /* `old` goes back to here */
    uint64_t keys;
};

struct view_entry {
    struct str key, value;
    uint64_t create_rev, mod_rev;
    uint64_t super_rev; /* entries of `old`: the revision that replaced it */
    uint32_t crc;
};

/* A new file at `path`, which must not exist; atomically, and durably if `sync`. */
int view_create(const char *path, const struct view_meta *meta, bool sync, struct err *err);
struct view_options {
    const char *path;
    bool is_read_only; /* nobody writes to the file; nothing is locked */
    bool is_volatile; /* never synced, and removed from its folder at once: gone with the process */
    size_t map_bytes; /* address space to begin with; 0: VIEW_MAP_BYTES */
};

/* Of address space, not of memory: more than most views will ever need. */
#define VIEW_MAP_BYTES ((size_t)16 << 30)
#define VIEW_NEXT      ".next" /* behind the name of a file that is to take another's place */

/* Checks the structure of the whole file first. */
int view_open(const struct view_options *opt, struct view **ret, struct err *err);
struct view *view_close(struct view *v);
uint64_t view_bytes(struct view *v);
/* Is the file still in some folder? Any thread. */
bool view_has_a_name(struct view *v);

/* ---- Reading ---- */

/* ERR_UNAVAILABLE if there are too many readers, ERR_IO while the file cannot be opened again after
 * it failed. */
int view_reader_begin(struct view *v, struct view_reader **ret, struct err *err);
struct view_reader *view_reader_end(struct view_reader *r);
const struct view_meta *view_reader_meta(const struct view_reader *r);

/* 1 and the entry, 0 if absent. The checksum is looked at by view_entry_check() only. */
int view_get(struct view_reader *r, struct str key, struct view_entry *ret, struct err *err);
/* What the change of `key` at `super_rev` replaced. */
int view_get_old(struct view_reader *r, uint64_t super_rev, struct str key, struct view_entry *ret,
                 struct err *err);
/* Cursors: seek to the first entry not below, then step. One of each per reader. */
int view_seek(struct view_reader *r, struct str key, struct view_entry *ret, struct err *err);
int view_next(struct view_reader *r, struct view_entry *ret, struct err *err);
int view_seek_old(struct view_reader *r, uint64_t super_rev, struct view_entry *ret,
                  struct err *err);
int view_next_old(struct view_reader *r, struct view_entry *ret, struct err *err);

/* What the file has of replaced entries, in bytes of pages. */
uint64_t view_old_bytes(struct view_reader *r);

/* What its checksum should be. */
uint32_t view_entry_sum(const struct view_entry *e);
/* ERR_DAMAGED names the key and the file. */
int view_entry_check(struct view *v, const struct view_entry *e, struct err *err);

/* ---- Writing: one thread ---- */

/* `room`: how many bytes the transaction may add. If the map is too small, or LMDB did not go on
 * after an error, a copy takes the file's place first. */
int view_write_begin(struct view *v, uint64_t room, struct view_write **ret, struct err *err);
int view_write_get(struct view_write *w, struct str key, struct view_entry *ret, struct err *err);
/* Entries are written with the checksum they carry, so that damage stays damage. */
int view_write_put(struct view_write *w, const struct view_entry *e, struct err *err);
int view_write_delete(struct view_write *w, struct str key, struct err *err);
/* In the order of super_rev and key, above all that is there. */
int view_write_old(struct view_write *w, const struct view_entry *e, struct err *err);
/* Forgets what was replaced at or below `floor`. */
int view_write_prune(struct view_write *w, uint64_t floor, struct err *err);
int view_write_commit(struct view_write *w, const struct view_meta *meta, struct err *err);
void view_write_abort(struct view_write *w);
/* Did the map overflow? Then the next begin gets a larger one and the caller tries again. */
bool view_is_full(struct view *v);

/* ---- Keeping it small: the same thread, between transactions ---- */

/* A compact copy takes the file's place. */
int view_replace(struct view *v, struct err *err);
/* Replaces a file of which more than half is free by a compact copy: 1, 0 if it is well as it is.
 */
int view_shrink(struct view *v, struct err *err);
/* Opens the file anew if nobody reads: LMDB keeps a copy of each page it ever changed. */
void view_refresh(struct view *v);
/* What stays in memory while there is work. */
enum { VIEW_MAPPED_BYTES = 48 << 20 };
/* Lets go of the file's pages that were touched, if the process has more than `above` bytes of
 * mapped files; who needs one finds it in the page cache. */
void view_let_go(struct view *v, uint64_t above);
