/* libyaml turns text into events; this file turns events into a tree, without recursion. Children
 * of open collections wait on one stack and are copied into the arena when theirs closes.
 *
 * An alias does not copy what it repeats, it borrows it (value_borrow). What it would cost to write
 * out is counted all the same: nodes by go-yaml's rule, text by LIMIT_YAML_ALIAS_BYTES.
 *
 * libyaml's scanner looks at every open [ or { for each token, so depth times size is bounded
 * (LIMIT_YAML_FLOW_WORK); it compares each %TAG line with all others, so those are counted before
 * it sees the text. */
#include "base/idiom.h"
#include "base/yaml.h"

#include <assert.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/base64.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/yaml_scalar.h"
#include "base/banned.h"

/* What a subtree costs when it is written out, aliases followed. */
struct cost {
    uint64_t nodes, bytes;
};

struct anchor {
    struct value v;
    struct cost cost;
    uint32_t height; /* levels of collections in it */
    bool is_open;    /* the collection has not ended yet */
};

struct frame {
    size_t first; /* child */
    struct cost before;
    struct anchor *anchor;
    struct str key; /* of the value to come */
    uint32_t height;
    uint8_t type; /* VALUE_ARRAY or VALUE_OBJECT */
    bool is_flow;
    bool has_key;    /* a key was read, its value not yet */
    bool key_merges; /* that key is << */
    bool has_merge;
};

struct yaml_stream {
    yaml_parser_t parser;
    yaml_event_t event;
    struct arena *arena;
    struct str *ret_duplicate;
    struct err *err;
    bool is_over;
    bool has_too_many_tags;
    uint64_t flow_work;
    uint32_t flow_depth;

    /* Of the document that is being read. */
    struct map anchors;
    struct cost cost;       /* so far */
    uint64_t aliased_nodes; /* part of cost.nodes */
    uint64_t aliased_bytes;
    struct value root;
    struct frame *frames;
    size_t n_frames, cap_frames;
    struct value_field *children;
    size_t n_children, cap_children;
};

static int fail(struct yaml_stream *s, const char *what)
{
    return err_set(s->err, ERR_BAD_REQUEST, "yaml: line %zu: %s", s->event.start_mark.line + 1,
                   what);
}

/* Which line go-yaml names, with all that is odd about it: upstream's clients compare texts. */
static int fail_parser(struct yaml_stream *s)
{
    const yaml_parser_t *p = &s->parser;
    if (p->error == YAML_MEMORY_ERROR)
        mem_exhausted(0);
    const char *what = p->problem ? p->problem : "cannot be read";
    if (p->error == YAML_READER_ERROR)
        return err_set(s->err, ERR_BAD_REQUEST, "yaml: byte %zu: %s", p->problem_offset, what);
    size_t line = p->problem_mark.line ? p->problem_mark.line + (p->error == YAML_SCANNER_ERROR)
                                       : p->context_mark.line;
    if (!line)
        return err_set(s->err, ERR_BAD_REQUEST, "yaml: %s", what);
    return err_set(s->err, ERR_BAD_REQUEST, "yaml: line %zu: %s", line, what);
}

static struct frame *top_frame(struct yaml_stream *s)
{
    return s->n_frames ? &s->frames[s->n_frames - 1] : NULL;
}

static void add_child(struct yaml_stream *s, struct str key, struct value v)
{
    if (s->n_children == s->cap_children) {
        s->cap_children = s->cap_children ? 2 * s->cap_children : 64;
        s->children = mem_resize(s->children, s->cap_children, sizeof(*s->children));
    }
    s->children[s->n_children++] = (struct value_field){ key, v };
}

/* How much of a document may come from aliases: 99% of a small one, 10% of a huge one, so that
 * there are never many more than 400,000 such nodes. */
static bool has_excessive_aliases(const struct yaml_stream *s)
{
    const double low = 400000, high = 4000000;
    double nodes = (double)s->cost.nodes;
    if (s->aliased_bytes > LIMIT_YAML_ALIAS_BYTES)
        return true;
    if (s->aliased_nodes <= LIMIT_YAML_ALIAS_FREE || s->cost.nodes <= LIMIT_YAML_NODES_FREE)
        return false;
    double allowed = 0.99;
    if (nodes >= high)
        allowed = 0.10;
    else if (nodes > low)
        allowed = 0.99 - 0.89 * ((nodes - low) / (high - low));
    return (double)s->aliased_nodes / nodes > allowed;
}

static struct anchor *add_anchor(struct yaml_stream *s, const yaml_char_t *name)
{
    if (!name)
        return NULL;
    struct anchor *anchor = arena_new(s->arena, struct anchor);
    struct str key = arena_str(s->arena, str_of((const char *)name));
    (void)map_set(&s->anchors, key, anchor);
    return anchor;
}

/* Merging puts the fields in like ordinary ones; resolve_merges() settles who wins. */
static int merge_one(struct yaml_stream *s, const struct value *v)
{
    if (v->type != VALUE_OBJECT)
        return fail(s, "only a mapping or a sequence of mappings can be merged");
    value_each_field (f, v) {
        add_child(s, f->key, value_borrow(&f->val));
    }
    return 0;
}

/* In a sequence the earlier mapping wins, so they go in from the back. */
static int merge(struct yaml_stream *s, const struct value *v, bool is_alias)
{
    if (v->type != VALUE_ARRAY || is_alias)
        return merge_one(s, v);
    for (uint32_t i = v->n; i > 0; i--) {
        int e = merge_one(s, &v->items[i - 1]);
        if (e < 0)
            return e;
    }
    return 0;
}

/* A finished node goes to the place that waits for it. */
static int place(struct yaml_stream *s, struct value v, bool is_alias)
{
    struct frame *f = top_frame(s);
    if (!f) {
        s->root = v;
    } else if (f->type == VALUE_ARRAY) {
        add_child(s, STR(""), v);
    } else if (!f->has_key) {
        if (!yaml_key(s->arena, &v, &f->key))
            return fail(s, "a key of this type is not supported");
        f->has_key = true;
    } else if (f->key_merges) {
        f->has_key = f->key_merges = false;
        f->has_merge = true;
        return merge(s, &v, is_alias);
    } else {
        f->has_key = false;
        add_child(s, f->key, v);
    }
    return 0;
}

static void raise_height(struct yaml_stream *s, uint32_t height)
{
    struct frame *f = top_frame(s);
    if (f && f->height < height + 1)
        f->height = height + 1;
}

static int on_alias(struct yaml_stream *s)
{
    struct str name = str_of((const char *)s->event.data.alias.anchor);
    const struct anchor *anchor = map_get(&s->anchors, name);
    if (!anchor)
        return fail(s, "the alias refers to an unknown anchor");
    if (anchor->is_open)
        return fail(s, "the anchor contains itself");
    s->cost.nodes += 1 + anchor->cost.nodes;
    s->cost.bytes += anchor->cost.bytes;
    s->aliased_nodes += anchor->cost.nodes;
    s->aliased_bytes += anchor->cost.bytes;
    if (has_excessive_aliases(s))
        return fail(s, "the document expands too much through aliases");
    if (s->n_frames + anchor->height > LIMIT_YAML_DEPTH)
        return fail(s, "nested too deeply");
    raise_height(s, anchor->height);
    return place(s, value_borrow(&anchor->v), true);
}

static int decode_binary(struct yaml_stream *s, struct str text, struct value *ret)
{
    autobuf joined = { 0 };
    autobuf bytes = { 0 };
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '\n' && text.p[i] != '\r')
            buf_byte(&joined, text.p[i]);
    if (!base64_decode(&bytes, buf_str(&joined)))
        return fail(s, "!!binary is not base64");
    if (!utf8_valid(buf_str(&bytes)))
        return fail(s, "!!binary is not UTF-8 text, which JSON needs");
    *ret = value_string(arena_str(s->arena, buf_str(&bytes)));
    return 0;
}

static const struct {
    const char *tag;
    enum yaml_kind kind;
} core_tags[] = {
    { YAML_BOOL_TAG, YAML_KIND_BOOL },   { YAML_INT_TAG, YAML_KIND_INT },
    { YAML_FLOAT_TAG, YAML_KIND_FLOAT }, { YAML_NULL_TAG, YAML_KIND_NULL },
    { YAML_STR_TAG, YAML_KIND_STR },     { YAML_TIMESTAMP_TAG, YAML_KIND_TIMESTAMP },
};

static int read_tagged(struct yaml_stream *s, const char *tag, struct str text, struct value *ret)
{
    if (strcmp(tag, "tag:yaml.org,2002:binary") == 0)
        return decode_binary(s, text, ret);
    enum yaml_kind want = YAML_KIND_STR;
    for (size_t i = 0; i < ARRAY_LEN(core_tags); i++)
        if (strcmp(tag, core_tags[i].tag) == 0)
            want = core_tags[i].kind;
    if (want == YAML_KIND_STR) {
        *ret = value_string(text);
        return 0;
    }
    enum yaml_kind kind = yaml_resolve(s->arena, text, ret);
    if (kind == YAML_KIND_NOT_FINITE && want == YAML_KIND_FLOAT)
        return fail(s, "JSON has no infinity and no NaN");
    if (kind != want && !(kind == YAML_KIND_INT && want == YAML_KIND_FLOAT))
        return fail(s, "the scalar does not have the type of its tag");
    return 0;
}

static int read_scalar(struct yaml_stream *s, struct str text, bool is_key, struct value *ret)
{
    const char *tag = (const char *)s->event.data.scalar.tag;
    if (tag)
        return read_tagged(s, tag, text, ret);
    if (!s->event.data.scalar.plain_implicit) {
        *ret = value_string(text);
        return 0;
    }
    if (yaml_resolve(s->arena, text, ret) == YAML_KIND_NOT_FINITE && !is_key)
        return fail(s, "JSON has no infinity and no NaN");
    return 0;
}

static bool is_merge_key(const struct yaml_stream *s, struct str text)
{
    const char *tag = (const char *)s->event.data.scalar.tag;
    return str_eq(text, STR("<<")) && (s->event.data.scalar.plain_implicit ||
                                       (tag && strcmp(tag, "tag:yaml.org,2002:merge") == 0));
}

static int on_scalar(struct yaml_stream *s)
{
    struct str seen = { (const char *)s->event.data.scalar.value, s->event.data.scalar.length };
    struct str text = arena_str(s->arena, seen);
    struct anchor *anchor = add_anchor(s, s->event.data.scalar.anchor);
    struct frame *f = top_frame(s);
    bool is_key = f && f->type == VALUE_OBJECT && !f->has_key;
    struct value v;
    int e = read_scalar(s, text, is_key, &v);
    if (e < 0)
        return e;
    s->cost.nodes++;
    s->cost.bytes += text.n;
    if (anchor)
        *anchor = (struct anchor){ .v = v, .cost = { 1, text.n } };
    if (is_key && is_merge_key(s, text)) {
        f->has_key = f->key_merges = true;
        return 0;
    }
    return place(s, v, false);
}

static int on_start(struct yaml_stream *s, enum value_type type, const yaml_char_t *anchor,
                    bool is_flow)
{
    if (s->n_frames >= LIMIT_YAML_DEPTH)
        return fail(s, "nested too deeply");
    const struct frame *outer = top_frame(s);
    if (outer && outer->type == VALUE_OBJECT && !outer->has_key)
        return fail(s, "a collection cannot be a key");
    if (s->n_frames == s->cap_frames) {
        s->cap_frames = s->cap_frames ? 2 * s->cap_frames : 16;
        s->frames = mem_resize(s->frames, s->cap_frames, sizeof(*s->frames));
    }
    assert(s->frames);
    struct frame *f = &s->frames[s->n_frames++];
    *f = (struct frame){
        .first = s->n_children,
        .before = s->cost,
        .anchor = add_anchor(s, anchor),
        .height = 1,
        .type = (uint8_t)type,
        .is_flow = is_flow,
    };
    if (f->anchor)
        f->anchor->is_open = true;
    s->flow_depth += is_flow;
    s->cost.nodes++;
    return 0;
}

/* The last field of each name wins, where the first one stood. */
static void resolve_merges(struct yaml_stream *s, size_t first)
{
    struct map places = { 0 };
    size_t kept = first;
    for (size_t i = first; i < s->n_children; i++) {
        struct value_field f = s->children[i];
        struct value_field *place = map_get(&places, f.key);
        if (place) {
            place->val = f.val;
            continue;
        }
        s->children[kept] = f;
        (void)map_set(&places, f.key, &s->children[kept]);
        kept++;
    }
    s->n_children = kept;
    map_done(&places);
}

static struct value close_children(struct yaml_stream *s, const struct frame *f)
{
    struct value v = { .type = f->type, .n = (uint32_t)(s->n_children - f->first) };
    if (v.n == 0)
        return v;
    const struct value_field *from = s->children + f->first;
    if (f->type == VALUE_OBJECT) {
        v.fields = arena_array(s->arena, struct value_field, v.n);
        memcpy(v.fields, from, v.n * sizeof(*from));
    } else {
        v.items = arena_array(s->arena, struct value, v.n);
        for (uint32_t i = 0; i < v.n; i++)
            v.items[i] = from[i].val;
    }
    s->n_children = f->first;
    return v;
}

static int on_end(struct yaml_stream *s)
{
    struct frame f = *top_frame(s);
    if (f.has_merge)
        resolve_merges(s, f.first);
    struct value v = close_children(s, &f);
    s->n_frames--;
    s->flow_depth -= f.is_flow;
    raise_height(s, f.height);
    if (f.anchor)
        *f.anchor = (struct anchor){
            .v = v,
            .cost = { s->cost.nodes - f.before.nodes, s->cost.bytes - f.before.bytes },
            .height = f.height,
        };
    return place(s, v, false);
}

static int on_document_start(struct yaml_stream *s)
{
    const yaml_version_directive_t *version = s->event.data.document_start.version_directive;
    if (version && (version->major != 1 || version->minor != 1))
        return fail(s, "only YAML 1.1 is supported");
    map_done(&s->anchors);
    s->cost = (struct cost){ .nodes = 1 };
    s->aliased_nodes = s->aliased_bytes = 0;
    s->root = value_null();
    return 0;
}

static int on_event(struct yaml_stream *s)
{
    const yaml_event_t *event = &s->event;
    s->flow_work += s->flow_depth;
    if (s->flow_work > LIMIT_YAML_FLOW_WORK)
        return fail(s, "nested too deeply for its size");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return on_document_start(s);
    case YAML_ALIAS_EVENT:
        return on_alias(s);
    case YAML_SCALAR_EVENT:
        return on_scalar(s);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(s, VALUE_ARRAY, event->data.sequence_start.anchor,
                        event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
    case YAML_MAPPING_START_EVENT:
        return on_start(s, VALUE_OBJECT, event->data.mapping_start.anchor,
                        event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(s);
    default:
        return 0;
    }
}

/* One document, empty or not: 1, or 0 at the end of the stream. */
static int read_document(struct yaml_stream *s)
{
    if (s->has_too_many_tags)
        return err_set(s->err, ERR_BAD_REQUEST, "yaml: more than %u %%TAG lines",
                       LIMIT_YAML_TAG_LINES);
    for (;;) {
        if (!yaml_parser_parse(&s->parser, &s->event))
            return fail_parser(s);
        yaml_event_type_t type = s->event.type;
        int e = on_event(s);
        yaml_event_delete(&s->event);
        if (e < 0)
            return e;
        if (type == YAML_DOCUMENT_END_EVENT)
            return 1;
        if (type == YAML_STREAM_END_EVENT)
            return 0;
    }
}

/* A line may start after any byte that is not printable ASCII: libyaml knows many line breaks. */
static bool has_too_many_tags(struct str text)
{
    struct str left = text;
    size_t lines = 0;
    while (lines <= LIMIT_YAML_TAG_LINES) {
        const char *hit = left.n ? memmem(left.p, left.n, "%TAG", 4) : NULL;
        if (!hit)
            return false;
        lines += hit == text.p || hit[-1] < ' ' || hit[-1] > '~';
        left = str_skip(left, (size_t)(hit - left.p) + 4);
    }
    return true;
}

static void stream_init(struct yaml_stream *s, struct arena *a, struct str text,
                        const struct yaml_options *opt)
{
    *s = (struct yaml_stream){ .arena = a, .ret_duplicate = opt ? opt->ret_duplicate : NULL };
    if (!yaml_parser_initialize(&s->parser))
        mem_exhausted(sizeof(s->parser));
    /* UTF-16 would hide its %TAG lines from the count. */
    yaml_parser_set_encoding(&s->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&s->parser, (const yaml_char_t *)(text.n ? text.p : ""), text.n);
    s->has_too_many_tags = has_too_many_tags(text);
}

static void stream_done(struct yaml_stream *s)
{
    yaml_parser_delete(&s->parser);
    map_done(&s->anchors);
    free(s->frames);
    free(s->children);
}

/* The next document that is not empty, if `skip_empty`. */
static int next_document(struct yaml_stream *s, bool skip_empty, struct value *ret, struct err *err)
{
    if (s->is_over)
        return 0;
    s->err = err;
    int r;
    do
        r = read_document(s);
    while (r > 0 && skip_empty && s->root.type == VALUE_NULL);
    s->is_over = r <= 0;
    if (r > 0) {
        *ret = s->root;
        if (s->ret_duplicate)
            *s->ret_duplicate = value_find_duplicate(s->arena, ret);
    }
    return r;
}

int yaml_read(struct arena *a, struct str text, const struct yaml_options *opt, struct value *ret,
              struct err *err)
{
    __attribute__((cleanup(stream_done))) struct yaml_stream s;
    stream_init(&s, a, text, opt);
    struct value v = value_null(), second;
    if (s.ret_duplicate)
        *s.ret_duplicate = STR("");
    int r = next_document(&s, false, &v, err);
    if (r > 0) {
        s.ret_duplicate = NULL;
        r = next_document(&s, false, &second, err);
        if (r > 0)
            return err_set(err, ERR_BAD_REQUEST, "yaml: more than one document");
    }
    if (r == 0)
        *ret = v;
    return r;
}

struct yaml_stream *yaml_stream_new(struct arena *a, struct str text,
                                    const struct yaml_options *opt)
{
    struct yaml_stream *s = mem_new(struct yaml_stream);
    stream_init(s, a, text, opt);
    return s;
}

int yaml_stream_next(struct yaml_stream *s, struct value *ret, struct err *err)
{
    return next_document(s, true, ret, err);
}

struct yaml_stream *yaml_stream_free(struct yaml_stream *s)
{
    if (s) {
        stream_done(s);
        free(s);
    }
    return NULL;
}
