/* The public face of this folder: text in, text out. What is promised stands in the header. */
#include <sampan/patch.h>

#include <stdlib.h>

#include "api/typed.h"
#include "base/json.h"
#include "base/mem.h"
#include "merge/json_patch.h"
#include "merge/managed.h"
#include "merge/merge_patch.h"
#include "merge/strategic.h"

#include "base/banned.h"

#define PUBLIC __attribute__((visibility("default")))

/* One call: everything lies in its arena until the result is copied out. */
struct work {
    struct arena arena;
    struct err err;
};

static void work_init(struct work *w)
{
    arena_init(&w->arena);
    w->err = ERR_INIT(&w->arena);
}

static char *copy_out(struct str text)
{
    char *p = mem_alloc(text.n + 1);
    if (text.n)
        memcpy(p, text.p, text.n);
    p[text.n] = '\0';
    return p;
}

static int code_of(enum err_code code)
{
    switch (code) {
    case ERR_BAD_REQUEST:
        return SPN_PATCH_BAD;
    case ERR_CONFLICT:
        return SPN_PATCH_CONFLICT;
    case ERR_NOT_FOUND:
        return SPN_PATCH_NO_KIND;
    case ERR_TOO_LARGE:
        return SPN_PATCH_TOO_LARGE;
    default:
        return SPN_PATCH_INVALID;
    }
}

/* `r` is what the work came to, `made` what it made. */
static int finish(struct work *w, int r, const struct value *made, char **ret, char **ret_why)
{
    if (r == 0) {
        autobuf text = { 0 };
        json_write(&text, made);
        *ret = copy_out(buf_str(&text));
    } else if (ret_why) {
        *ret_why = copy_out(w->err.msg);
    }
    int code = r == 0 ? 0 : code_of(w->err.code);
    arena_done(&w->arena);
    return code;
}

static int read_any(struct work *w, struct spn_text text, struct value *ret)
{
    int r = json_read(&w->arena, (struct str){ text.p, text.n }, NULL, ret, &w->err);
    if (r < 0)
        return r;
    value_drop_duplicates(&w->arena, ret);
    return 0;
}

static int read_object(struct work *w, struct spn_text text, struct value *ret)
{
    int r = read_any(w, text, ret);
    if (r < 0)
        return r;
    if (ret->type != VALUE_OBJECT)
        return err_set(&w->err, ERR_BAD_REQUEST, "not a JSON object");
    return 0;
}

static int find_kind(struct work *w, const struct value *doc, const struct kind_type **ret)
{
    struct str version = value_str(value_get(doc, STR("apiVersion"))),
               kind = value_str(value_get(doc, STR("kind")));
    *ret = kind_find(version, kind);
    if (*ret)
        return 0;
    return err_set(&w->err, ERR_NOT_FOUND, "no kind \"" STR_FMT "\" of version \"" STR_FMT "\"",
                   STR_ARG(kind), STR_ARG(version));
}

/* ---- Applying ---- */

static int apply_strategic(struct work *w, const struct value *patch, struct value *doc)
{
    const struct kind_type *kind;
    int r = find_kind(w, doc, &kind);
    if (r < 0)
        return r;
    return strategic_apply(&w->arena, &strategic_kinds, kind, patch, doc, &w->err);
}

static int apply(struct work *w, enum spn_patch_type type, struct spn_text patch_text,
                 struct value *doc)
{
    struct value patch;
    int r = type == SPN_PATCH_JSON ? read_any(w, patch_text, &patch)
                                   : read_object(w, patch_text, &patch);
    if (r < 0)
        return r;
    switch (type) {
    case SPN_PATCH_JSON:
        r = json_patch_check(&w->arena, &patch, NULL, &w->err);
        if (r < 0)
            return r;
        return json_patch_apply(&w->arena, &patch, doc, &w->err);
    case SPN_PATCH_MERGE:
        merge_patch_apply(&w->arena, &patch, doc);
        return 0;
    case SPN_PATCH_STRATEGIC:
        return apply_strategic(w, &patch, doc);
    }
    return err_set(&w->err, ERR_BAD_REQUEST, "no such type of patch");
}

static int apply_to(struct work *w, struct spn_text doc, enum spn_patch_type type,
                    struct spn_text patch, struct value *ret)
{
    int r = read_any(w, doc, ret);
    if (r < 0)
        return r;
    return apply(w, type, patch, ret);
}

PUBLIC int spn_patch_apply(enum spn_patch_type type, struct spn_text doc, struct spn_text patch,
                           char **ret, char **ret_why)
{
    struct work w;
    struct value made;
    work_init(&w);
    int r = apply_to(&w, doc, type, patch, &made);
    return finish(&w, r, &made, ret, ret_why);
}

/* ---- Making ---- */

static int make_merge(struct work *w, struct spn_text from, struct spn_text to, struct value *ret)
{
    struct value from_doc, to_doc;
    int r = read_object(w, from, &from_doc);
    if (r < 0)
        return r;
    r = read_object(w, to, &to_doc);
    if (r < 0)
        return r;
    *ret = merge_patch_create(&w->arena, &from_doc, &to_doc);
    return 0;
}

PUBLIC int spn_patch_merge(struct spn_text from, struct spn_text to, char **ret, char **ret_why)
{
    struct work w;
    struct value made;
    work_init(&w);
    int r = make_merge(&w, from, to, &made);
    return finish(&w, r, &made, ret, ret_why);
}

static int make_two_way(struct work *w, struct spn_text original, struct spn_text modified,
                        struct value *ret)
{
    struct value from, to;
    const struct kind_type *kind;
    int r = read_object(w, original, &from);
    if (r < 0)
        return r;
    r = read_object(w, modified, &to);
    if (r < 0)
        return r;
    r = find_kind(w, &to, &kind);
    if (r < 0)
        return r;
    return strategic_two_way(&w->arena, &strategic_kinds, kind, &from, &to, ret, &w->err);
}

PUBLIC int spn_patch_two_way(struct spn_text original, struct spn_text modified, char **ret,
                             char **ret_why)
{
    struct work w;
    struct value made;
    work_init(&w);
    int r = make_two_way(&w, original, modified, &made);
    return finish(&w, r, &made, ret, ret_why);
}

static int make_three_way(struct work *w, struct spn_text original, struct spn_text modified,
                          struct spn_text current, bool overwrite, struct value *ret)
{
    struct value was, wanted, live;
    const struct kind_type *kind;
    int r = read_object(w, original, &was);
    if (r < 0)
        return r;
    r = read_object(w, modified, &wanted);
    if (r < 0)
        return r;
    r = read_object(w, current, &live);
    if (r < 0)
        return r;
    r = find_kind(w, &wanted, &kind);
    if (r < 0)
        return r;
    return strategic_three_way(&w->arena, &strategic_kinds, kind, &was, &wanted, &live, overwrite,
                               ret, &w->err);
}

PUBLIC int spn_patch_three_way(struct spn_text original, struct spn_text modified,
                               struct spn_text current, bool overwrite, char **ret, char **ret_why)
{
    struct work w;
    struct value made;
    work_init(&w);
    int r = make_three_way(&w, original, modified, current, overwrite, &made);
    return finish(&w, r, &made, ret, ret_why);
}

/* ---- Server-side apply ---- */

static int read_typed(struct work *w, const struct kind_type *kind, struct spn_text text,
                      struct value *ret)
{
    struct value given;
    int r = read_object(w, text, &given);
    if (r < 0)
        return r;
    return typed_read(&w->arena, kind, &given, NULL, ret, &w->err);
}

static int apply_config(struct work *w, const struct spn_apply *how, struct spn_text live_text,
                        const struct value *config, struct value *ret)
{
    struct value live, nothing = value_object(), empty, made;
    const struct kind_type *kind;
    int r = find_kind(w, config, &kind);
    if (r < 0)
        return r;
    r = typed_read(&w->arena, kind, &nothing, NULL, &empty, &w->err);
    if (r < 0)
        return r;
    r = live_text.p ? read_typed(w, kind, live_text, &live) : 0;
    if (r < 0)
        return r;
    struct managed_request req = {
        .schema = &ownership_kinds,
        .place = ownership_kind(kind),
        .manager = str_of(how->manager),
        .api_version = value_str(value_get(config, STR("apiVersion"))),
        .subresource = str_of(how->subresource),
        .now = str_of(how->now),
        .empty = &empty,
        .versions = &managed_kinds,
    };
    r = managed_check(&w->arena, &req, config, &w->err);
    if (r < 0)
        return r;
    r = managed_apply(&w->arena, &req, live_text.p ? &live : NULL, config, how->force, &made,
                      &w->err);
    if (r < 0)
        return r;
    return typed_read_made(&w->arena, kind, &made, NULL, ret, &w->err);
}

static int apply_text(struct work *w, const struct spn_apply *how, struct spn_text live,
                      struct spn_text config, struct value *ret)
{
    struct value wanted;
    int r = read_object(w, config, &wanted);
    if (r < 0)
        return r;
    return apply_config(w, how, live, &wanted, ret);
}

PUBLIC int spn_patch_apply_config(const struct spn_apply *how, struct spn_text live,
                                  struct spn_text config, char **ret, char **ret_why)
{
    struct work w;
    struct value made;
    work_init(&w);
    int r = apply_text(&w, how, live, config, &made);
    return finish(&w, r, &made, ret, ret_why);
}
