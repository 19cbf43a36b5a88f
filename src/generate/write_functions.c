/* write_functions.c - the functions of a kind, by a table: names and types are its own, the work is
 * the library's. */
#include "generate/write_c.h"

#include "api/kind.h"
#include "base/idiom.h"
#include "generate/client_verbs.h"
#include "base/banned.h"

enum { MAX_WORDS = 12 };

/* In all texts $ stands for the name of the kind's struct. A parameter or argument "ns" is there
 * only, or only by name, where the kind has namespaces. */
struct function {
    const char *result, *name;
    const char *params[MAX_WORDS];
    const char *callee;
    const char *args[MAX_WORDS];
    unsigned verb;     /* that the kind must have; 0: none */
    unsigned client;   /* enum client_verb: that its author must want; 0: none */
    bool needs_status; /* and a status of its own */
    const char *about; /* a comment in front of it and those that follow */
};

#define CALL     "const struct spn_call *how", "struct spn_arena *a"
#define RESULT   "struct $ **ret", "struct spn_err *err"
#define CLIENT   "struct spn_client *client"
#define ONE      "ns", "struct spn_text name"
#define CACHE    "struct spn_cache *cache"
#define LISTING  "struct $_list *ret"
#define INFORMER (CLIENT_LIST | CLIENT_WATCH)

static const struct function functions[] = {
    { .result = "int ",
      .name = "get",
      .verb = KIND_GET,
      .client = CLIENT_GET,
      .params = { CLIENT, ONE, CALL, RESULT },
      .callee = "spn_typed_get",
      .args = { "client", "&$_kind", "ns", "name", "how", "a", "ret", "err" },
      .about = "Calls, as in sampan/client.h. Of those that write, `ret` may be NULL." },
    { .result = "int ",
      .name = "list",
      .verb = KIND_LIST_VERB,
      .client = CLIENT_LIST,
      .params = { CLIENT, "ns", "const struct spn_select *which", CALL, LISTING,
                  "struct spn_page *ret_page", "struct spn_err *err" },
      .callee = "spn_typed_list",
      .args = { "client", "&$_kind", "ns", "which", "how", "a", "ret", "ret_page", "err" } },
    { .result = "int ",
      .name = "create",
      .verb = KIND_CREATE,
      .client = CLIENT_CREATE,
      .params = { CLIENT, "const struct $ *obj", CALL, RESULT },
      .callee = "spn_typed_create",
      .args = { "client", "&$_kind", "obj", "how", "a", "ret", "err" } },
    { .result = "int ",
      .name = "update",
      .verb = KIND_UPDATE,
      .client = CLIENT_UPDATE,
      .params = { CLIENT, "const struct $ *obj", CALL, RESULT },
      .callee = "spn_typed_update",
      .args = { "client", "&$_kind", "NULL", "obj", "how", "a", "ret", "err" } },
    { .result = "int ",
      .name = "update_status",
      .verb = KIND_UPDATE,
      .client = CLIENT_UPDATE_STATUS,
      .needs_status = true,
      .params = { CLIENT, "const struct $ *obj", CALL, RESULT },
      .callee = "spn_typed_update",
      .args = { "client", "&$_kind", "\"status\"", "obj", "how", "a", "ret", "err" } },
    { .result = "int ",
      .name = "apply",
      .verb = KIND_PATCH,
      .client = CLIENT_APPLY,
      .params = { CLIENT, "const struct $ *obj", CALL, RESULT },
      .callee = "spn_typed_apply",
      .args = { "client", "&$_kind", "NULL", "obj", "how", "a", "ret", "err" } },
    { .result = "int ",
      .name = "apply_status",
      .verb = KIND_PATCH,
      .client = CLIENT_APPLY_STATUS,
      .needs_status = true,
      .params = { CLIENT, "const struct $ *obj", CALL, RESULT },
      .callee = "spn_typed_apply",
      .args = { "client", "&$_kind", "\"status\"", "obj", "how", "a", "ret", "err" } },
    { .result = "int ",
      .name = "patch",
      .verb = KIND_PATCH,
      .client = CLIENT_PATCH,
      .params = { CLIENT, ONE, "enum spn_patch_kind kind", "struct spn_text patch", CALL, RESULT },
      .callee = "spn_typed_patch",
      .args = { "client", "&$_kind", "ns", "name", "kind", "patch", "how", "a", "ret", "err" } },
    { .result = "int ",
      .name = "delete",
      .verb = KIND_DELETE,
      .client = CLIENT_DELETE,
      .params = { CLIENT, ONE, "const struct spn_delete *what", "const struct spn_call *how",
                  "struct spn_err *err" },
      .callee = "spn_typed_delete",
      .args = { "client", "&$_kind", "ns", "name", "what", "how", "err" } },
    { .result = "struct spn_informer *",
      .name = "informer",
      .verb = KIND_WATCH,
      .client = INFORMER,
      .params = { "struct spn_informers *all", "ns" },
      .callee = "spn_typed_informer",
      .args = { "all", "&$_kind", "ns" },
      .about = "The shared informer, what its handlers see, and what lies in its cache. In a "
               "lister,\n * SPN_NOT_FOUND means that the cache has none; `labels` is a "
               "selector or NULL." },
    { .result = "int ",
      .name = "of",
      .verb = KIND_WATCH,
      .client = INFORMER,
      .params = { "const struct spn_object *o", "struct spn_arena *a", RESULT },
      .callee = "spn_typed_of",
      .args = { "&$_kind", "o", "a", "ret", "err" } },
    { .result = "int ",
      .name = "lister_get",
      .verb = KIND_WATCH,
      .client = INFORMER,
      .params = { CACHE, ONE, "struct spn_arena *a", RESULT },
      .callee = "spn_typed_cached",
      .args = { "cache", "&$_kind", "ns", "name", "a", "ret", "err" } },
    { .result = "int ",
      .name = "lister_list",
      .verb = KIND_WATCH,
      .client = INFORMER,
      .params = { CACHE, "ns", "const char *labels", "struct spn_arena *a", LISTING,
                  "struct spn_err *err" },
      .callee = "spn_typed_cached_list",
      .args = { "cache", "&$_kind", "ns", "labels", "a", "ret", "err" } },
    { .result = "struct $ *",
      .name = "new",
      .params = { "const struct $ *from" },
      .callee = "spn_typed_new",
      .args = { "&$_table", "from" },
      .about = "One with an arena of its own: empty, or a deep copy if `from` is not NULL." },
    { .result = "struct spn_arena *",
      .name = "arena",
      .params = { "struct $ *obj" },
      .callee = "spn_typed_arena",
      .args = { "obj" } },
    { .result = "struct $ *",
      .name = "free",
      .params = { "struct $ *obj" },
      .callee = "spn_typed_free",
      .args = { "obj" } },
};

static struct str filled(struct model *m, const struct model_kind *k, const char *text)
{
    autobuf out = { 0 };
    for (const char *p = text; *p; p++)
        if (*p == '$')
            buf_str_add(&out, k->type->name);
        else
            buf_byte(&out, *p);
    return arena_str(m->arena, buf_str(&out));
}

static bool is_ns(const char *word)
{
    return strcmp(word, "ns") == 0;
}

static size_t params_of(struct model *m, const struct model_kind *k, const struct function *f,
                        struct str *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < MAX_WORDS && f->params[i]; i++) {
        if (!is_ns(f->params[i]))
            ret[n++] = filled(m, k, f->params[i]);
        else if (k->is_namespaced)
            ret[n++] = STR("struct spn_text ns");
    }
    return n;
}

static size_t args_of(struct model *m, const struct model_kind *k, const struct function *f,
                      struct str *ret)
{
    size_t n = 0;
    for (; n < MAX_WORDS && f->args[n]; n++)
        ret[n] = is_ns(f->args[n]) && !k->is_namespaced ? STR("SPN_TEXT(\"\")")
                                                        : filled(m, k, f->args[n]);
    return n;
}

static bool is_wanted(const struct model_kind *k, const struct function *f)
{
    return (!f->verb || k->verbs & f->verb) && !(f->client & k->skipped) &&
           (!f->needs_status || k->has_status);
}

static void write_function(struct buf *out, struct model *m, const struct model_kind *k,
                           const struct function *f, bool with_body)
{
    struct str words[MAX_WORDS];
    struct str head = arena_printf(
        m->arena, "%s" STR_FMT STR_FMT "_%s", m->is_library && !with_body ? "SPN_API " : "",
        STR_ARG(filled(m, k, f->result)), STR_ARG(k->type->name), f->name);
    size_t n = params_of(m, k, f, words);
    write_call(out, str_cstr(m->arena, head), words, n, with_body ? "" : ";");
    if (!with_body)
        return;
    n = args_of(m, k, f, words);
    buf_printf(out, "{\n");
    write_call(out, arena_printf(m->arena, "    return %s", f->callee).p, words, n, ";");
    buf_printf(out, "}\n");
}

void write_functions(struct buf *out, struct model *m, const struct model_kind *k, bool with_body)
{
    const char *about = NULL; /* not said yet */
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (functions[i].about)
            about = functions[i].about;
        if (!is_wanted(k, &functions[i]))
            continue;
        if (about && !with_body)
            buf_printf(out, "\n/* %s */\n", about);
        else if (with_body)
            buf_byte(out, '\n');
        write_function(out, m, k, &functions[i], with_body);
        about = NULL;
    }
}
