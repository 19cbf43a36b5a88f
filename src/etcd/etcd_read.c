/* etcd_read.c - ranges, and what takes long: compactions, backups, sums over all keys. These run on
 * a worker, and the answer goes back to the call's loop. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/wire.h"
#include "etcd/etcd_internal.h"
#include "base/banned.h"

/* ---- What a worker does for a call ---- */

struct errand {
    struct work work;
    struct loop_msg back;
    struct etcd_home *home;
    struct grpc_call *call;
    struct arena arena;
    struct str message;
    int (*run)(struct errand *e, struct err *err); /* thread: worker */
    struct buf body;
    uint64_t rev;
    struct err err;
    int result;
};

static void errand_done(struct errand *e)
{
    e->home->n_writes--;
    arena_done(&e->arena);
    buf_done(&e->body);
    free(e);
}

static void answer(struct errand *e)
{
    if (e->result < 0)
        etcd__fail(e->call, &e->err);
    else
        etcd__answer(e->home, e->call, e->rev, buf_str(&e->body));
    errand_done(e);
}

static void on_back(struct loop *l, struct loop_msg *m)
{
    (void)l;
    answer(container_of(m, struct errand, back));
}

static void run_errand(struct work *w) /* thread: worker */
{
    struct errand *e = container_of(w, struct errand, work);
    e->result = e->run(e, &e->err);
    loop_post(e->home->loop, &e->back);
}

static struct errand *errand_new(struct etcd_home *h, struct grpc_call *call, struct str message,
                                 int (*run)(struct errand *e, struct err *err))
{
    struct errand *e = mem_new(struct errand);
    arena_init(&e->arena);
    e->home = h;
    e->call = call;
    e->message = arena_str(&e->arena, message);
    e->run = run;
    e->work.run = run_errand;
    e->back.run = on_back;
    e->err = (struct err)ERR_INIT(&e->arena);
    h->n_writes++;
    return e;
}

static void send_errand(struct errand *e)
{
    if (workers_submit(e->home->etcd->workers, &e->work))
        return;
    etcd__refuse(e->call, GRPC_RESOURCE_EXHAUSTED, "etcdserver: too many requests");
    errand_done(e);
}

/* ---- Ranges ---- */

/* The header says how far the store is, whatever revision was read. */
static int read_range(struct errand *e, struct err *err)
{
    static const struct etcd_overlay none = { 0 };
    struct etcd_range range;
    struct store_snap *snap;
    (void)etcd_range_read(e->message, &range);
    struct store *store = e->home->etcd->store;
    const uint64_t wanted = range.revision > 0 ? (uint64_t)range.revision : 0;
    int r = store_snap_begin(store, wanted, &snap, err);
    if (r < 0)
        return r;
    r = etcd_range_write(&e->arena, snap, &range, &none, LIMIT_ETCD_RANGE_BYTES, &e->body, err);
    e->rev = wanted ? store_rev(store) : store_snap_rev(snap);
    store_snap_end(snap);
    return r;
}

void etcd__range(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct etcd_range range;
    const char *fault = etcd_range_read(message, &range) ? etcd_range_fault(&range)
                                                         : "etcdserver: the message cannot be read";
    if (fault) {
        etcd__refuse(call, GRPC_INVALID_ARGUMENT, fault);
        return;
    }
    struct errand *e = errand_new(h, call, message, read_range);
    if (!etcd_span_is_one(&range.span)) {
        send_errand(e);
        return;
    }
    e->result = read_range(e, &e->err); /* one key is read at once */
    answer(e);
}

/* ---- Compaction ---- */

static int64_t read_number(struct str message)
{
    struct wire_field f;
    int64_t n = 0;
    while (wire_next(&message, &f) == 1)
        if (f.number == 1)
            n = (int64_t)f.n;
    return n;
}

static int compact(struct errand *e, struct err *err)
{
    struct store *store = e->home->etcd->store;
    const int64_t rev = read_number(e->message);
    if (rev <= (int64_t)store_floor(store))
        return err_set(err, ERR_EXPIRED, ETCD_COMPACTED);
    if (rev > (int64_t)store_rev(store))
        return err_set(err, ERR_TIMEOUT, ETCD_FUTURE);
    int r = store_compact(store, (uint64_t)rev, err);
    e->rev = store_rev(store);
    return r;
}

void etcd__compact(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    send_errand(errand_new(h, call, message, compact));
}

/* ---- Sums ---- */

static int sum_one(void *arg, const struct etcd_kv *kv)
{
    uint32_t *crc = arg;
    const uint64_t numbers[] = { kv->create_rev, kv->mod_rev, (uint64_t)kv->version,
                                 (uint64_t)kv->lease };
    *crc = crc32c(*crc, kv->key.p, kv->key.n);
    *crc = crc32c(*crc, kv->value.p, kv->value.n);
    *crc = crc32c(*crc, numbers, sizeof(numbers));
    return 0;
}

static int hash_kv(struct errand *e, struct err *err)
{
    static const struct etcd_span all = { STR("\0\1"), STR("\0") };
    struct store *store = e->home->etcd->store;
    struct store_snap *snap;
    uint32_t crc = 0;
    const int64_t wanted = read_number(e->message);
    int r = store_snap_begin(store, wanted > 0 ? (uint64_t)wanted : 0, &snap, err);
    if (r < 0)
        return r;
    r = etcd_each(snap, &all, sum_one, &crc, err);
    wire_int(&e->body, 2, crc);
    wire_int(&e->body, 3, store_floor(store));
    wire_int(&e->body, 4, store_snap_rev(snap));
    store_snap_end(snap);
    e->rev = store_rev(store);
    return r;
}

void etcd__hash_kv(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    send_errand(errand_new(h, call, message, hash_kv));
}

/* ---- Snapshots: a backup of the store, which `sampan restore` reads ---- */

/* etcdctl wants 32 bytes behind a multiple of 512: such are the pages of the view, and the backup's
 * own sum behind them. */

struct snapshot {
    struct work work;
    struct loop_msg back;
    struct etcd_home *home;
    struct grpc_call *call;
    struct arena arena;
    struct err err;
    int result;
    char *bytes; /* the file */
    size_t n, at;
    bool is_made, is_gone;
};

static void snapshot_free(struct snapshot *s)
{
    s->home->n_writes--;
    if (s->bytes)
        (void)munmap(s->bytes, s->n);
    arena_done(&s->arena);
    free(s);
}

/* The file is gone from its folder before anybody reads it. */
static int map_file(struct snapshot *s, const char *file, struct err *err)
{
    struct stat st;
    autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
    (void)unlink(file);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_errno(err, errno, "open the snapshot");
    s->n = (size_t)st.st_size;
    s->bytes = mmap(NULL, s->n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (s->bytes == MAP_FAILED) {
        s->bytes = NULL;
        return err_errno(err, errno, "map the snapshot");
    }
    return 0;
}

static void make_snapshot(struct work *w) /* thread: worker */
{
    struct snapshot *s = container_of(w, struct snapshot, work);
    const char *file =
        arena_printf(&s->arena, "%s/snapshot.%p", s->home->etcd->scratch_dir, (void *)s).p;
    s->result = store_backup(s->home->etcd->store, file, NULL, &s->err);
    if (s->result == 0)
        s->result = map_file(s, file, &s->err);
    loop_post(s->home->loop, &s->back);
}

static void send_blob(struct snapshot *s, struct str blob, uint64_t left)
{
    autobuf reply = { 0 };
    etcd__header(s->home->etcd, &reply, store_rev(s->home->etcd->store));
    wire_int(&reply, 2, left);
    wire_bytes(&reply, 3, blob);
    wire_bytes(&reply, 4, STR(ETCD_API_VERSION));
    grpc_call_send(s->call, buf_str(&reply));
}

static void end_snapshot(struct snapshot *s)
{
    if (s->result < 0)
        etcd__fail(s->call, &s->err);
    else
        grpc_call_end(s->call, GRPC_OK, STR(""));
    snapshot_free(s);
}

/* As much as the client takes. */
static void send_some(struct snapshot *s)
{
    enum { BLOB = 32 << 10 };
    while (s->at < s->n && grpc_call_room(s->call)) {
        struct str blob = str_take((struct str){ s->bytes + s->at, s->n - s->at }, BLOB);
        s->at += blob.n;
        send_blob(s, blob, s->n - s->at);
    }
    if (s->at == s->n)
        end_snapshot(s);
}

static void on_made(struct loop *l, struct loop_msg *m)
{
    struct snapshot *s = container_of(m, struct snapshot, back);
    (void)l;
    s->is_made = true;
    if (s->is_gone || s->result < 0)
        end_snapshot(s);
    else
        send_some(s);
}

static void on_room(void *arg, struct grpc_call *call)
{
    struct snapshot *s = arg;
    (void)call;
    if (s->is_made)
        send_some(s);
}

static void on_gone(void *arg, struct grpc_call *call)
{
    struct snapshot *s = arg;
    (void)call;
    s->is_gone = true;
    if (s->is_made)
        end_snapshot(s);
}

void etcd__snapshot(struct etcd_home *h, struct grpc_call *call)
{
    struct snapshot *s = mem_new(struct snapshot);
    s->home = h;
    s->call = call;
    s->work.run = make_snapshot;
    s->back.run = on_made;
    arena_init(&s->arena);
    s->err = (struct err)ERR_INIT(&s->arena);
    h->n_writes++;
    grpc_call_listen(
        call, &(struct grpc_call_events){ .arg = s, .on_room = on_room, .on_gone = on_gone });
    if (workers_submit(h->etcd->workers, &s->work))
        return;
    etcd__refuse(call, GRPC_RESOURCE_EXHAUSTED, "etcdserver: too many requests");
    snapshot_free(s);
}
