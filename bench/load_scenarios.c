#include "bench/load_scenarios.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#include "base/banned.h"

enum { FILL_IN_FLIGHT = 64, PAGE_OBJECTS = 500, OBJECT_NAME_BYTES = 64 };

/* ---- Objects ---- */

/* Letters in no order, so that nothing on the way can make them smaller. */
char *load_filler_new(size_t n)
{
    char *text = mem_alloc(n + 1);
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        text[i] = (char)('a' + x % 26);
    }
    text[n] = 0;
    return text;
}

void load_object_path(const struct load_run *run, struct buf *out, const char *name)
{
    load_target_path(run->target, out);
    buf_printf(out, "/%s", name);
}

static void collection_path(const struct load_run *run, struct buf *out)
{
    load_target_path(run->target, out);
}

void load_object_write(const struct load_run *run, struct buf *out, const char *name,
                       const char *version, uint64_t event)
{
    const struct str end = STR("\"}}");
    buf_reset(out);
    buf_printf(out,
               "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
               "\"labels\":{\"load\":\"%s\"}",
               run->target->resource->api_version, run->target->resource->kind, name,
               run->target->run);
    if (version[0])
        buf_printf(out, ",\"resourceVersion\":\"%s\"", version);
    buf_printf(out, "},\"data\":{\"event\":\"%llu\",\"fill\":\"", (unsigned long long)event);
    size_t used = out->n + end.n;
    if (used < run->opt->size)
        buf_str_add(out, str_take(run->filler, run->opt->size - used));
    buf_str_add(out, end);
}

static const char *name_object(char name[OBJECT_NAME_BYTES], uint64_t number)
{
    (void)snprintf(name, OBJECT_NAME_BYTES, "o-%08llu", (unsigned long long)number);
    return name;
}

/* One that no earlier run can have left behind. */
static const char *name_new(const struct load_run *run, char name[OBJECT_NAME_BYTES],
                            uint64_t number)
{
    (void)snprintf(name, OBJECT_NAME_BYTES, "c-%.20s-%llu", run->target->run,
                   (unsigned long long)number);
    return name;
}

/* What a server adds to an object (uid, times, revision) is more than what a LIST leaves out (kind
 * and version), so nothing that holds the objects is shorter than they were when sent. */
static uint64_t least_bytes(const struct load_run *run, uint64_t n_objects)
{
    return run->opt->size * n_objects;
}

static void request(struct load_slot *s, struct str method, bool with_body)
{
    s->request.method = method;
    s->request.path = buf_str(&s->path);
    s->request.body = with_body ? buf_str(&s->body) : (struct str){ 0 };
}

/* The version that a write was answered with, or "". */
static bool read_version(const struct buf *head, bool ok, char version[LOAD_VERSION_BYTES])
{
    struct str text;
    version[0] = 0;
    if (!ok || !load_find_text(buf_str(head), STR("\"resourceVersion\":\""), &text) ||
        text.n == 0 || text.n >= LOAD_VERSION_BYTES)
        return false;
    memcpy(version, text.p, text.n);
    version[text.n] = 0;
    return true;
}

/* ---- Filling ---- */

static void post(struct load_slot *s, const char *name)
{
    load_object_write(s->run, &s->body, name, "", 0);
    collection_path(s->run, &s->path);
    request(s, STR("POST"), true);
}

static bool fill_next(struct load_slot *s)
{
    char name[OBJECT_NAME_BYTES];
    s->object = s->run->n_begun;
    post(s, name_object(name, s->object));
    return true;
}

/* An object that was there already has a version that we do not know. */
static bool fill_finish(struct load_slot *s, bool ok)
{
    bool found =
        read_version(&s->head, ok && s->request.status != 409, s->run->target->versions[s->object]);
    return found || s->request.status == 409;
}

static const struct load_scenario fill = {
    .name = "fill",
    .keeps_head = true,
    .allowed = 409,
    .next = fill_next,
    .finish = fill_finish,
};

static size_t objects_needed(const struct load_run *run)
{
    const struct load_options *opt = run->opt;
    if (run->target->plain || run->scenario->needs == LOAD_NO_OBJECTS)
        return 0;
    if (run->scenario->needs == LOAD_ONE_OBJECT)
        return 1;
    if (run->scenario->consumes && opt->count)
        return (size_t)opt->count;
    /* Every slot of an update has objects of its own. */
    size_t slots = opt->in_flight ? opt->in_flight : run->scenario->in_flight;
    return opt->objects > slots ? opt->objects : slots;
}

int load_scenario_fill(const struct load_run *run, struct err *err)
{
    struct load_target *t = run->target;
    autofree struct load_stats *stats = mem_new(struct load_stats);
    struct load_meter meter = { 0 };
    struct load_run filling = *run;
    t->n_objects = objects_needed(run);
    free(t->versions);
    t->versions = mem_array(t->n_objects, sizeof(*t->versions));
    t->n_taken = 0;
    t->least_list = t->most_list = 0;
    if (t->n_objects == 0 || run->opt->filled)
        return 0;

    filling.scenario = &fill;
    filling.stats = stats;
    filling.meter = &meter;
    filling.limit = t->n_objects;
    filling.seconds = filling.warmup = 0;
    size_t in_flight = t->n_objects < FILL_IN_FLIGHT ? t->n_objects : FILL_IN_FLIGHT;
    int r = load_run_measure(&filling, in_flight, err);
    if (r < 0)
        return r;
    if (load_stats_errors(stats) || stats->latency.n < t->n_objects)
        return err_set(err, ERR_INTERNAL, "only %llu of %zu objects could be made: %s",
                       (unsigned long long)stats->latency.n, t->n_objects, stats->first_error);
    return 0;
}

/* ---- Reading ---- */

/* The request is made once; after that the slot asks the same again, as do raw and list. */
static bool get_next(struct load_slot *s)
{
    char name[OBJECT_NAME_BYTES];
    const struct load_target *t = s->run->target;
    if (s->path.n)
        return true;
    load_object_path(s->run, &s->path, name_object(name, 0));
    if (t->plain) {
        buf_reset(&s->path);
        buf_str_add(&s->path, t->config.path);
    }
    request(s, STR("GET"), false);
    return true;
}

static bool get_finish(struct load_slot *s, bool ok)
{
    return ok && s->request.n_received >= least_bytes(s->run, 1);
}

static bool get_many_next(struct load_slot *s)
{
    char name[OBJECT_NAME_BYTES];
    s->object = s->object * 6364136223846793005u + 1442695040888963407u + s->number;
    uint64_t pick = (s->object >> 33) % s->run->target->n_objects;
    load_object_path(s->run, &s->path, name_object(name, pick));
    request(s, STR("GET"), false);
    return true;
}

static bool raw_next(struct load_slot *s)
{
    if (s->path.n)
        return true;
    buf_str_add(&s->path, str_of(s->run->opt->raw_path));
    request(s, STR("GET"), false);
    s->request.accept = str_of(s->run->opt->accept);
    return true;
}

static bool list_next(struct load_slot *s)
{
    if (s->path.n)
        return true;
    collection_path(s->run, &s->path);
    request(s, STR("GET"), false);
    return true;
}

static bool list_finish(struct load_slot *s, bool ok)
{
    struct load_target *t = s->run->target;
    uint64_t n = s->request.n_received;
    if (ok && (t->least_list == 0 || n < t->least_list))
        t->least_list = n;
    if (ok && n > t->most_list)
        t->most_list = n;
    return ok && n >= least_bytes(s->run, t->n_objects);
}

/* Counts what stands once in each of our objects, also across the seams of the pieces. */
struct item_count {
    uint64_t n_items, n_bytes;
    size_t matched;
};

static void count_items(void *arg, struct str bytes)
{
    static const char mark[] = "\"fill\":\"";
    struct item_count *count = arg;
    count->n_bytes += bytes.n;
    for (size_t i = 0; i < bytes.n; i++) {
        if (bytes.p[i] != mark[count->matched])
            count->matched = bytes.p[i] == mark[0];
        else if (++count->matched == sizeof(mark) - 1)
            count->n_items++, count->matched = 0;
    }
}

/* Counting would cost the generator more than the LIST itself. So one more LIST is counted at the
 * end, and the others must have been as long, but for the digits of the revision. */
static int list_check(struct load_run *run, struct err *err)
{
    enum { DIGITS = 32 };
    struct load_target *t = run->target;
    struct item_count count = { 0 };
    autobuf path = { 0 };
    collection_path(run, &path);
    int status =
        load_call_stream(t, "GET", buf_str(&path), (struct str){ 0 }, count_items, &count, err);
    if (status < 0)
        return status;
    if (status != 200 || count.n_items < t->n_objects)
        return err_set(err, ERR_INTERNAL, "a LIST has %llu objects instead of %zu",
                       (unsigned long long)count.n_items, t->n_objects);
    if (t->least_list + DIGITS < count.n_bytes || t->most_list > count.n_bytes + DIGITS)
        load_stats_fault(run->stats, LOAD_WRONG, STR("a LIST is not as long as another"));
    return 0;
}

static void add_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' ||
                     c == '_' || c == '.' || c == '~';
        if (plain)
            buf_byte(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

static bool paged_next(struct load_slot *s)
{
    collection_path(s->run, &s->path);
    buf_printf(&s->path, "?limit=%d", PAGE_OBJECTS);
    if (s->token.n) {
        buf_str_add(&s->path, STR("&continue="));
        add_escaped(&s->path, buf_str(&s->token));
    } else {
        s->n_walked = 0;
    }
    request(s, STR("GET"), false);
    return true;
}

/* The token stands before the items. The last page, which has none, shows whether all came. */
static bool paged_finish(struct load_slot *s, bool ok)
{
    struct str head = buf_str(&s->head), token = { 0 };
    const char *items = head.n ? memmem(head.p, head.n, "\"items\"", 7) : NULL;
    buf_reset(&s->token);
    if (!ok || !items)
        return false;
    head.n = (size_t)(items - head.p);
    s->n_walked += s->request.n_received;
    if (load_find_text(head, STR("\"continue\":\""), &token) && token.n) {
        buf_str_add(&s->token, token);
        return true;
    }
    return s->n_walked >= least_bytes(s->run, s->run->target->n_objects);
}

/* ---- Writing ---- */

static bool create_next(struct load_slot *s)
{
    char name[OBJECT_NAME_BYTES];
    post(s, name_new(s->run, name, s->run->target->n_created++));
    return true;
}

static bool update_next(struct load_slot *s)
{
    struct load_target *t = s->run->target;
    char name[OBJECT_NAME_BYTES];
    s->object += s->run->n_slots;
    if (s->object >= t->n_objects)
        s->object = s->number;
    name_object(name, s->object);
    load_object_path(s->run, &s->path, name);
    load_object_write(s->run, &s->body, name, t->versions[s->object], ++t->n_created);
    request(s, STR("PUT"), true);
    return true;
}

/* After a conflict, the next update of the object names no version. */
static bool update_finish(struct load_slot *s, bool ok)
{
    return read_version(&s->head, ok, s->run->target->versions[s->object]);
}

static bool delete_next(struct load_slot *s)
{
    struct load_target *t = s->run->target;
    char name[OBJECT_NAME_BYTES];
    if (t->n_taken == t->n_objects)
        return false;
    load_object_path(s->run, &s->path, name_object(name, t->n_taken++));
    request(s, STR("DELETE"), false);
    return true;
}

enum churn_step { CHURN_CREATE, CHURN_UPDATE, CHURN_DELETE };

static bool churn_next(struct load_slot *s)
{
    char name[OBJECT_NAME_BYTES];
    if (s->step == CHURN_CREATE)
        s->object = s->run->target->n_created++;
    name_new(s->run, name, s->object);
    if (s->step == CHURN_CREATE) {
        post(s, name);
        return true;
    }
    load_object_path(s->run, &s->path, name);
    if (s->step == CHURN_UPDATE)
        load_object_write(s->run, &s->body, name, s->version, 1);
    request(s, s->step == CHURN_UPDATE ? STR("PUT") : STR("DELETE"), s->step == CHURN_UPDATE);
    return true;
}

/* After an error a new object is begun; what is left of the old one goes with the namespace. */
static bool churn_finish(struct load_slot *s, bool ok)
{
    bool right = ok;
    if (ok && s->step != CHURN_DELETE)
        right = read_version(&s->head, ok, s->version);
    s->step = !right || s->step == CHURN_DELETE ? CHURN_CREATE : s->step + 1;
    return right;
}

/* ---- The table ---- */

const struct load_scenario load_scenarios[] = {
    { .name = "get",
      .help = "GET of one ConfigMap, or of the file that a URL names",
      .in_flight = 64,
      .plain = true,
      .needs = LOAD_ONE_OBJECT,
      .next = get_next,
      .finish = get_finish },
    { .name = "get-many",
      .help = "GET of a random one of --objects",
      .in_flight = 64,
      .needs = LOAD_ALL_OBJECTS,
      .next = get_many_next,
      .finish = get_finish },
    { .name = "raw",
      .help = "PATH: GET of that path, whatever is there",
      .in_flight = 64,
      .plain = true,
      .next = raw_next },
    { .name = "list",
      .help = "LIST of --objects ConfigMaps in one answer",
      .in_flight = 1,
      .needs = LOAD_ALL_OBJECTS,
      .next = list_next,
      .finish = list_finish,
      .check = list_check },
    { .name = "list-paged",
      .help = "the same in pages of 500; a request is a page",
      .in_flight = 1,
      .needs = LOAD_ALL_OBJECTS,
      .keeps_head = true,
      .next = paged_next,
      .finish = paged_finish },
    { .name = "create", .help = "POST of ConfigMaps", .in_flight = 64, .next = create_next },
    { .name = "update",
      .help = "PUT with the last resourceVersion, over --objects",
      .in_flight = 64,
      .needs = LOAD_ALL_OBJECTS,
      .keeps_head = true,
      .next = update_next,
      .finish = update_finish },
    { .name = "delete",
      .help = "DELETE of --count or --objects ConfigMaps",
      .in_flight = 64,
      .needs = LOAD_ALL_OBJECTS,
      .consumes = true,
      .next = delete_next },
    { .name = "watch",
      .help = "--watchers watches; an update at a time, until all have seen it",
      .in_flight = 1,
      .needs = LOAD_ONE_OBJECT,
      .measure = load_watch_measure },
    { .name = "churn",
      .help = "create, update, delete, one after the other",
      .in_flight = 64,
      .keeps_head = true,
      .next = churn_next,
      .finish = churn_finish },
    { 0 },
};

const struct load_scenario *load_scenario_find(const char *name)
{
    for (const struct load_scenario *s = load_scenarios; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}
