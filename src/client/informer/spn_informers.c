/* spn_informers.c - informers that several controllers share. */
#include <pthread.h>
#include <sampan/informer.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "client/informer/informers.h"
#include "base/banned.h"

struct shared {
    struct shared *next;
    struct spn_informer *informer;
    struct spn_informer_options opt; /* texts in the arena */
};

struct spn_informers {
    struct spn_client *client;
    struct arena arena;
    pthread_mutex_t lock; /* of what follows */
    struct shared *all;
};

struct spn_informers *spn_informers_new(struct spn_client *c)
{
    struct spn_informers *all = mem_new(struct spn_informers);
    all->client = c;
    arena_init(&all->arena);
    (void)pthread_mutex_init(&all->lock, NULL);
    return all;
}

struct spn_informers *spn_informers_free(struct spn_informers *all)
{
    if (!all)
        return NULL;
    spn_informers_stop(all);
    for (struct shared *s = all->all; s; s = s->next)
        spn_informer_free(s->informer);
    (void)pthread_mutex_destroy(&all->lock);
    arena_done(&all->arena);
    free(all);
    return NULL;
}

static bool same_cstr(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_options(const struct spn_informer_options *a, const struct spn_informer_options *b)
{
    const struct spn_target *x = &a->what, *y = &b->what;
    return spn_text_eq(x->group, y->group) && spn_text_eq(x->version, y->version) &&
           spn_text_eq(x->plural, y->plural) && spn_text_eq(x->ns, y->ns) &&
           spn_text_eq(x->name, y->name) && same_cstr(a->labels, b->labels) &&
           same_cstr(a->fields, b->fields) && a->metadata_only == b->metadata_only &&
           a->resync_ms == b->resync_ms && a->max_pause_ms == b->max_pause_ms &&
           a->page == b->page && a->no_stream == b->no_stream &&
           a->keep_managers == b->keep_managers && a->transform == b->transform &&
           a->transform_arg == b->transform_arg;
}

static struct spn_text kept(struct spn_informers *all, struct spn_text t)
{
    return text_out(arena_str(&all->arena, str_in(t)));
}

static const char *kept_cstr(struct spn_informers *all, const char *text)
{
    return text ? str_cstr(&all->arena, str_of(text)) : NULL;
}

static struct shared *share(struct spn_informers *all, const struct spn_informer_options *opt)
{
    struct shared *s = arena_new(&all->arena, struct shared);
    s->opt = *opt;
    s->opt.what = (struct spn_target){ .group = kept(all, opt->what.group),
                                       .version = kept(all, opt->what.version),
                                       .plural = kept(all, opt->what.plural),
                                       .ns = kept(all, opt->what.ns),
                                       .name = kept(all, opt->what.name) };
    s->opt.labels = kept_cstr(all, opt->labels);
    s->opt.fields = kept_cstr(all, opt->fields);
    s->informer = spn_informer_new(all->client, &s->opt);
    s->next = all->all;
    all->all = s;
    return s;
}

struct spn_informer *spn_informers_get(struct spn_informers *all,
                                       const struct spn_informer_options *opt)
{
    (void)pthread_mutex_lock(&all->lock);
    struct shared *s = all->all;
    while (s && !same_options(&s->opt, opt))
        s = s->next;
    if (!s)
        s = share(all, opt);
    (void)pthread_mutex_unlock(&all->lock);
    return s->informer;
}

struct spn_informer *spn_informers_find(struct spn_informers *all, const struct spn_target *what)
{
    const struct spn_informer_options whole = { .what = *what };
    (void)pthread_mutex_lock(&all->lock);
    struct shared *s = all->all;
    while (s && !same_options(&s->opt, &whole))
        s = s->next;
    (void)pthread_mutex_unlock(&all->lock);
    return s ? s->informer : NULL;
}

static struct shared *first_of(struct spn_informers *all)
{
    (void)pthread_mutex_lock(&all->lock);
    struct shared *s = all->all;
    (void)pthread_mutex_unlock(&all->lock);
    return s;
}

int spn_informers_start(struct spn_informers *all, struct spn_err *err)
{
    for (struct shared *s = first_of(all); s; s = s->next) {
        int r = spn_informer_start(s->informer, err);
        if (r < 0)
            return r;
    }
    return 0;
}

bool spn_informers_wait(struct spn_informers *all, struct spn_stop *stop, int64_t ms)
{
    int64_t end = clock_mono_ns(&clock_system) + ms * NS_PER_MS;
    for (struct shared *s = first_of(all); s; s = s->next) {
        int64_t left = (end - clock_mono_ns(&clock_system)) / NS_PER_MS;
        if (!informer_wait_served(s->informer, stop, ms < 0 ? -1 : left > 0 ? left : 0))
            return false;
    }
    return true;
}

void spn_informers_stop(struct spn_informers *all)
{
    for (struct shared *s = first_of(all); s; s = s->next)
        spn_informer_stop(s->informer);
}

void informers_each(struct spn_informers *all,
                    void (*fn)(void *arg, struct spn_informer *i, const struct spn_target *what),
                    void *arg)
{
    for (struct shared *s = first_of(all); s; s = s->next)
        fn(arg, s->informer, &s->opt.what);
}
