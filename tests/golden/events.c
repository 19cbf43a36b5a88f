#include "events.h"

#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"

enum { LOG_MAX = 1 << 30, LOOKS = 50, LOOK_MS = 100, LOOKS_FOR_NONE = 2 };

static void drop_latencies(struct arena *a, struct value *event)
{
    struct value *notes = value_edit(a, event, STR("annotations")), kept = value_object();
    if (!notes)
        return;
    value_each_field (f, notes)
        if (!str_starts(f->key, STR("apiserver.latency.k8s.io/")))
            value_put_new(a, &kept, f->key, f->val);
    if (kept.n)
        value_put(a, event, STR("annotations"), kept);
    else
        value_drop(a, event, STR("annotations"));
}

static struct value look(struct arena *a, const char *log, struct str id)
{
    autobuf text = { 0 };
    struct value found = value_array();
    if (file_read(log, LOG_MAX, &text, NULL) < 0)
        return found;
    struct str rest = buf_str(&text);
    while (rest.n) {
        struct str line = str_cut(&rest, '\n');
        struct value event;
        if (!memmem(line.p, line.n, id.p, id.n) ||
            json_read(a, arena_str(a, line), NULL, &event, NULL) < 0 ||
            !str_eq(value_text(&event, "auditID"), id))
            continue;
        drop_latencies(a, &event);
        value_put_item(a, &found, event);
    }
    return found;
}

struct value events_of(struct arena *a, const char *log, struct str id, size_t n_wanted)
{
    const struct timespec a_while = { .tv_nsec = LOOK_MS * 1000000L };
    struct value found = look(a, log, id);
    for (int i = 0; i < (n_wanted ? LOOKS : LOOKS_FOR_NONE); i++) {
        if (n_wanted && found.n >= n_wanted)
            break;
        (void)nanosleep(&a_while, NULL);
        found = look(a, log, id);
    }
    return found;
}
