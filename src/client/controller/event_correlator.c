#include "client/controller/event_correlator.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/lru.h"
#include "base/banned.h"

enum { REMEMBERED = 4096, NAME_MAX_BYTES = 253 };

/* How many of one object may come now. */
struct allowed {
    struct lru_thing thing;
    bool is_known;
    double tokens;
    int64_t filled_ns;
};

/* Which messages a group of similar events has had: their hashes, oldest first. */
struct similar {
    struct lru_thing thing;
    int64_t last_ns;
    unsigned n;
    uint64_t messages[]; /* similar_max */
};

/* An event that has been made before. */
struct seen {
    struct lru_thing thing;
    unsigned count;
    int64_t first_ns;
    size_t n_name;
    char name[NAME_MAX_BYTES];
};

struct event_correlator {
    struct event_correlator_options opt;
    struct lru allowed, similar, seen;
};

struct event_correlator *event_correlator_new(const struct event_correlator_options *opt)
{
    struct event_correlator *c = mem_new(struct event_correlator);
    c->opt = *opt;
    lru_init(&c->allowed, sizeof(struct allowed), REMEMBERED);
    lru_init(&c->similar, sizeof(struct similar) + opt->similar_max * sizeof(uint64_t), REMEMBERED);
    lru_init(&c->seen, sizeof(struct seen), REMEMBERED);
    return c;
}

struct event_correlator *event_correlator_free(struct event_correlator *c)
{
    if (!c)
        return NULL;
    lru_done(&c->allowed);
    lru_done(&c->similar);
    lru_done(&c->seen);
    free(c);
    return NULL;
}

struct str event_name(struct arena *a, struct str obj_name, int64_t now_ns)
{
    struct str name = arena_printf(a, STR_FMT ".%" PRIx64, STR_ARG(obj_name), (uint64_t)now_ns);
    bool is_name = name.n <= NAME_MAX_BYTES;
    for (size_t i = 0; i < obj_name.n; i++) {
        char c = obj_name.p[i];
        is_name &= (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    }
    return is_name ? name : str_skip(name, obj_name.n + 1);
}

/* Texts one after another, with something between them that is in none. */
static struct str joined(struct arena *a, const struct str *parts, size_t n)
{
    autobuf all = { 0 };
    for (size_t i = 0; i < n; i++) {
        buf_str_add(&all, parts[i]);
        buf_byte(&all, '\0');
    }
    return arena_str(a, buf_str(&all));
}

static struct str key_of_object(struct arena *a, const struct event_note *e)
{
    const struct str parts[] = { e->component, e->host,    e->obj_kind,        e->obj_ns,
                                 e->obj_name,  e->obj_uid, e->obj_api_version, e->type };
    return joined(a, parts, ARRAY_LEN(parts));
}

static struct str key_of_group(struct arena *a, const struct event_note *e)
{
    const struct str parts[] = { key_of_object(a, e), e->reason, e->reporter, e->reporter_at };
    return joined(a, parts, ARRAY_LEN(parts));
}

static struct str key_of_event(struct arena *a, const struct event_note *e)
{
    const struct str parts[] = { key_of_object(a, e), e->obj_field, e->reason, e->message };
    return joined(a, parts, ARRAY_LEN(parts));
}

static void similar_add(struct similar *s, uint64_t message)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->messages[i] == message)
            return;
    s->messages[s->n++] = message;
}

static void similar_drop_oldest(struct similar *s)
{
    s->n--;
    memmove(s->messages, s->messages + 1, s->n * sizeof(*s->messages));
}

/* What it is remembered by. If it is one of many it becomes the one for all of them. */
static struct str aggregate(struct event_correlator *c, struct arena *a, struct event_note *e,
                            int64_t now_ns)
{
    struct str group = key_of_group(a, e);
    struct similar *s = lru_get(&c->similar, group);
    if (now_ns - s->last_ns > c->opt.similar_within_ns)
        s->n = 0;
    similar_add(s, map_hash(e->message));
    s->last_ns = now_ns;
    if (s->n < c->opt.similar_max)
        return key_of_event(a, e);
    similar_drop_oldest(s);
    e->name = event_name(a, e->obj_name, now_ns);
    e->message = arena_printf(a, "(combined from similar events): " STR_FMT, STR_ARG(e->message));
    e->reporter = e->reporter_at = STR("");
    e->first_ns = e->last_ns = now_ns;
    return group;
}

/* One that was there before goes on under its name. */
static void observe(struct event_correlator *c, struct arena *a, struct str key,
                    struct event_note *e)
{
    struct seen *s = lru_get(&c->seen, key);
    if (s->count) {
        e->name = arena_str(a, (struct str){ s->name, s->n_name });
        e->first_ns = s->first_ns;
        e->count = s->count + 1;
    }
    s->count = e->count;
    s->first_ns = e->first_ns;
    s->n_name = e->name.n;
    memcpy(s->name, e->name.p, e->name.n);
}

static bool is_spam(struct event_correlator *c, struct arena *a, const struct event_note *e,
                    int64_t now_ns)
{
    struct allowed *o = lru_get(&c->allowed, key_of_object(a, e));
    if (!o->is_known)
        o->tokens = c->opt.spam_burst;
    else if (now_ns > o->filled_ns)
        o->tokens += (double)(now_ns - o->filled_ns) / NS_PER_SEC * c->opt.spam_per_second;
    if (o->tokens > c->opt.spam_burst)
        o->tokens = c->opt.spam_burst;
    o->is_known = true;
    o->filled_ns = now_ns;
    if (o->tokens < 1)
        return true;
    o->tokens -= 1;
    return false;
}

bool event_correlator_take(struct event_correlator *c, struct arena *a, struct event_note *e,
                           int64_t now_ns)
{
    struct str key = aggregate(c, a, e, now_ns);
    observe(c, a, key, e);
    return !is_spam(c, a, e, now_ns);
}
