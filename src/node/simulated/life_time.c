#include <stdarg.h>
#include <stdio.h>

#include "api/go/gotime.h"
#include "base/arena.h"
#include "base/clock.h"
#include "client/bridge.h"
#include "node/simulated/life.h"
#include "base/banned.h"

bool life_read_time(const struct spn_value *v, int64_t *ret_ns)
{
    return gotime_read_ns(str_in(spn_value_text(v)), ret_ns);
}

/* A time that nobody can read, or that lies ahead, is long ago: a pod must not wait for ever. */
bool life_is_due_text(struct life *l, struct spn_text since, int64_t ms)
{
    int64_t since_ns;
    if (!gotime_read_ns(str_in(since), &since_ns) || since_ns > l->place->now_ns)
        return true;
    const int64_t left = since_ns + ms * NS_PER_MS - l->place->now_ns;
    if (left <= 0)
        return true;
    const int64_t wait = (left + NS_PER_MS - 1) / NS_PER_MS;
    if (l->wait_ms < 0 || wait < l->wait_ms)
        l->wait_ms = wait;
    return false;
}

bool life_is_due(struct life *l, const struct spn_value *since, int64_t ms)
{
    return life_is_due_text(l, spn_value_text(since), ms);
}

void life_say(struct life *l, bool is_warning, const char *reason, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    struct pod_event *e = spn_arena_alloc(l->a, sizeof(*e));
    *e = (struct pod_event){ .is_warning = is_warning,
                             .reason = reason,
                             .message = spn_arena_text(l->a, spn_text_of(text)) };
    *l->last_event = e;
    l->last_event = &e->next;
}
