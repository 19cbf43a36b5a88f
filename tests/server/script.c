#include "script.h"

#include "base/json.h"

void script_start(struct script *s)
{
    live_start(&s->live);
    live_populate(&s->live);
    s->requests = requests_new(&s->live);
    arena_init(&s->arena);
}

void script_stop(struct script *s)
{
    arena_done(&s->arena);
    requests_free(s->requests);
    live_stop(&s->live);
}

static struct str body_of(struct script *s, const struct script_step *step)
{
    if (!step->body || step->type)
        return str_of(step->body ? step->body : "");
    struct value v = requests_parse(&s->arena, str_of(step->body));
    autobuf text = { 0 };
    json_write(&text, &v);
    return arena_str(&s->arena, buf_str(&text));
}

static const char *type_of(const struct script_step *step)
{
    if (step->type)
        return step->type;
    if (!step->body)
        return "";
    return strcmp(step->method, "PATCH") ? "application/json" : "application/merge-patch+json";
}

static bool has(struct str text, const char *words)
{
    return memmem(text.p, text.n, words, strlen(words));
}

void script_play(struct script *s, const struct script_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct script_step *step = &steps[i];
        struct sent got =
            requests_send(s->requests, &s->arena, step->method, str_of(step->path), type_of(step),
                          step->accept ? step->accept : "", body_of(s, step));
        if (got.status != step->status || (step->says && !has(got.body, step->says)) ||
            (step->silent && has(got.body, step->silent)))
            fail_msg("step %zu: %s %s: %d, not %d with '%s' and without '%s'\n" STR_FMT, i,
                     step->method, step->path, got.status, step->status,
                     step->says ? step->says : "", step->silent ? step->silent : "",
                     STR_ARG(got.body));
    }
}
