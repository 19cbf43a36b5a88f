#include "admission/xray.h"

#include "base/json.h"
#include "base/banned.h"

struct stage {
    struct stage *next;
    const char *part;
    struct str name;
    int64_t took_ns;
    struct value changes;
    const char *verdict; /* NULL: it went on */
};

struct xray {
    struct arena *arena;
    const struct clock *clock;
    int64_t began_ns, stage_began_ns;
    struct stage *first, **end;
    struct stage *open; /* NULL: none yet */
    struct value seen;  /* the object when it began */
    bool has_seen;
};

struct xray *xray_new(struct arena *a, const struct clock *clock)
{
    struct xray *x = arena_new(a, struct xray);
    x->arena = a;
    x->clock = clock;
    x->began_ns = x->stage_began_ns = clock_mono_ns(clock);
    x->end = &x->first;
    return x;
}

static struct stage *add(struct xray *x, const char *part, struct str name)
{
    struct stage *s = arena_new(x->arena, struct stage);
    s->part = part;
    s->name = arena_str(x->arena, name);
    s->changes = value_array();
    *x->end = s;
    x->end = &s->next;
    return s;
}

/* The object is copied: what comes later edits it. */
static void see(struct xray *x, const struct value *obj)
{
    if (!obj || (x->has_seen && value_eq(&x->seen, obj)))
        return;
    struct value now = value_clone(x->arena, obj);
    if (x->open && x->has_seen)
        x->open->changes = xray_changes(x->arena, &x->seen, &now);
    x->seen = now;
    x->has_seen = true;
}

static void close_stage(struct xray *x, int64_t now_ns, const struct value *obj)
{
    if (x->open)
        x->open->took_ns = now_ns - x->stage_began_ns;
    see(x, obj);
    x->open = NULL;
}

void xray__stage(struct xray *x, const char *part, struct str name, const struct value *obj)
{
    close_stage(x, clock_mono_ns(x->clock), obj);
    x->open = add(x, part, name);
    x->stage_began_ns = clock_mono_ns(x->clock); /* the time to look at the object is not its own */
}

void xray__aside(struct xray *x, const char *part, struct str name, int64_t took_ns,
                 const char *verdict)
{
    struct stage *s = add(x, part, name);
    s->took_ns = took_ns;
    s->verdict = verdict;
}

/* ---- As JSON ---- */

static void write_stage(struct buf *out, const struct stage *s)
{
    buf_str_add(out, STR("{\"part\":"));
    json_write_string(out, str_of(s->part));
    buf_str_add(out, STR(",\"name\":"));
    json_write_string(out, s->name);
    buf_printf(out, ",\"microseconds\":%.1f", (double)s->took_ns / 1000);
    if (s->verdict) {
        buf_str_add(out, STR(",\"verdict\":"));
        json_write_string(out, str_of(s->verdict));
    }
    if (s->changes.n) {
        buf_str_add(out, STR(",\"changes\":"));
        json_write(out, &s->changes);
    }
    buf_byte(out, '}');
}

void xray_write(struct xray *x, int code, struct str answer, struct buf *out)
{
    struct stage *last = x->open;
    int64_t now_ns = clock_mono_ns(x->clock);
    close_stage(x, now_ns, NULL);
    if (last && code >= 300)
        last->verdict = "refused";
    buf_printf(out,
               "{\"kind\":\"Xray\",\"apiVersion\":\"sampan/v1\",\"code\":%d,"
               "\"microseconds\":%.1f,\"stages\":[",
               code, (double)(now_ns - x->began_ns) / 1000);
    for (const struct stage *s = x->first; s; s = s->next) {
        write_stage(out, s);
        if (s->next)
            buf_byte(out, ',');
    }
    buf_str_add(out, STR("],\"answer\":"));
    buf_str_add(out, str_trim(answer));
    buf_str_add(out, STR("}\n"));
}
