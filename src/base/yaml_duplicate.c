/* Duplicate keys by the lines they stand in, in the words of go-yaml's strict reader. The tree does
 * not know lines, so the text is read once more; that is only done where there are duplicates. */
#include "base/yaml.h"

#include <assert.h>

#include <yaml.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

struct level {
    struct map keys; /* of a mapping */
    bool is_mapping;
    bool has_key;      /* a key was read, its value not yet */
    bool is_duplicate; /* that key was there before */
    struct str key;    /* in the arena; empty for one that is a collection */
    size_t skipped;    /* collections that are open in the place of a key */
    size_t value_line;
};

struct scan {
    struct arena *arena;
    struct str *notes;
    size_t n, max;
    struct level *levels;
    size_t n_levels, cap_levels;
};

static void scan_done(struct scan *s)
{
    for (size_t i = 0; i < s->n_levels; i++)
        map_done(&s->levels[i].keys);
    mem_cleanup_free(&s->levels);
}

static struct level *top(struct scan *s)
{
    return s->n_levels ? &s->levels[s->n_levels - 1] : NULL;
}

/* The value of a key has been read: only now go-yaml looks whether there was one before. */
static void end_value(struct scan *s)
{
    struct level *l = top(s);
    if (!l || !l->is_mapping || !l->has_key)
        return;
    if (l->is_duplicate && s->n < s->max)
        s->notes[s->n++] =
            arena_printf(s->arena, "line %zu: key \"" STR_FMT "\" already set in map",
                         l->value_line, STR_ARG(l->key));
    l->has_key = false;
}

static void begin_key(struct scan *s, struct level *l, const yaml_event_t *e)
{
    static char here;
    l->key = arena_str(s->arena,
                       (struct str){ (const char *)e->data.scalar.value, e->data.scalar.length });
    l->has_key = true;
    l->is_duplicate = map_set(&l->keys, l->key, &here) != NULL;
}

static void open_level(struct scan *s, bool is_mapping)
{
    if (s->n_levels == s->cap_levels) {
        s->cap_levels = s->cap_levels ? 2 * s->cap_levels : 16;
        s->levels = mem_resize(s->levels, s->cap_levels, sizeof(*s->levels));
    }
    assert(s->levels);
    s->levels[s->n_levels++] = (struct level){ .is_mapping = is_mapping };
}

/* True where a collection is, or stands in the place of, a key: nothing in it is looked at. */
static bool skips(struct level *l, const yaml_event_t *e)
{
    bool opens = e->type == YAML_MAPPING_START_EVENT || e->type == YAML_SEQUENCE_START_EVENT,
         closes = e->type == YAML_MAPPING_END_EVENT || e->type == YAML_SEQUENCE_END_EVENT;
    if (!l || !l->is_mapping || l->has_key || (!l->skipped && !opens))
        return false;
    l->skipped += opens;
    l->skipped -= closes;
    if (!l->skipped && (opens || closes)) {
        l->has_key = true;
        l->is_duplicate = false;
    }
    return true;
}

static void read_event(struct scan *s, const yaml_event_t *e)
{
    struct level *l = top(s);
    if (skips(l, e))
        return;
    bool is_key = l && l->is_mapping && !l->has_key;
    if (l && l->has_key)
        l->value_line = e->start_mark.line + 1;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        if (is_key)
            begin_key(s, l, e);
        else
            end_value(s);
        break;
    case YAML_ALIAS_EVENT:
        if (is_key)
            *l = (struct level){ .keys = l->keys, .is_mapping = true, .has_key = true };
        else
            end_value(s);
        break;
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        open_level(s, e->type == YAML_MAPPING_START_EVENT);
        break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        map_done(&l->keys);
        s->n_levels--;
        end_value(s);
        break;
    default:
        break;
    }
}

size_t yaml_duplicates(struct arena *a, struct str text, struct str *ret, size_t max)
{
    __attribute__((cleanup(scan_done))) struct scan s = { .arena = a, .notes = ret, .max = max };
    yaml_parser_t parser;
    yaml_event_t e;
    if (!yaml_parser_initialize(&parser))
        mem_exhausted(0);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    uint64_t work = 0;
    for (bool is_over = false; !is_over && yaml_parser_parse(&parser, &e);) {
        work += s.n_levels;
        is_over = e.type == YAML_DOCUMENT_END_EVENT || e.type == YAML_STREAM_END_EVENT ||
                  work > LIMIT_YAML_FLOW_WORK;
        read_event(&s, &e);
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&parser);
    return s.n;
}
