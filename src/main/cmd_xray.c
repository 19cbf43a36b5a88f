/* xray: a write, and its way through the server stage by stage, with what each stage changed. */
#include "main/command.h"

#include <getopt.h>
#include <sampan/config.h>
#include <sampan/mapper.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "main/xray_print.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan xray apply|create|replace -f FILE [OPTION]...\n"
    "       sampan xray patch -f FILE -p PATCH [--type strategic|merge|json] [OPTION]...\n"
    "Sends the objects of FILE and shows their way through the server: filters, decoding,\n"
    "defaults, conversion, each plugin of admission, webhooks, policies and initializers,\n"
    "validation and the store, with the time that each took and what it changed.\n"
    "\n"
    "  -f FILE          objects as YAML or JSON; '-' is standard input\n"
    "  -p PATCH         the patch, as YAML or JSON\n"
    "  --type TYPE      of the patch; strategic if not given\n"
    "  --dry-run        nothing is stored\n"
    "  --force          an apply takes what others own\n"
    "  --data-dir DIR   the control plane of that folder\n"
    "  --color WHEN     auto, always or never\n"
    "  --show-managed-fields\n"
    "  -o json          as the server gave it\n"
    "Which server, and as whom, is said by the flags that kubectl has: --kubeconfig, --context,\n"
    "--namespace, --as and so on. Who looks needs the right to get the path /sampan/v1/xray.\n";

enum verb { VERB_NONE, VERB_APPLY, VERB_CREATE, VERB_REPLACE, VERB_PATCH };

struct look {
    enum verb verb;
    const char *file, *patch, *dir;
    const char *content_type;
    bool dry_run, force, as_json;
    struct xray_style style;
    struct spn_client *client;
    struct spn_mapper *mapper;
    struct spn_text ns;
    struct spn_arena *answers;
    struct arena *arena;
};

static struct spn_text text_of(struct str s)
{
    return (struct spn_text){ s.p, s.n };
}

static int fail(const char *words)
{
    fprintf(stderr, "sampan xray: %s\n", words);
    return 1;
}

/* ---- Arguments ---- */

static enum verb verb_named(const char *word)
{
    static const struct {
        const char *name;
        enum verb verb;
    } verbs[] = {
        { "apply", VERB_APPLY },
        { "create", VERB_CREATE },
        { "replace", VERB_REPLACE },
        { "patch", VERB_PATCH },
    };
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(word, verbs[i].name) == 0)
            return verbs[i].verb;
    return VERB_NONE;
}

static const char *patch_type(const char *word)
{
    static const char *const types[][2] = {
        { "strategic", "application/strategic-merge-patch+json" },
        { "merge", "application/merge-patch+json" },
        { "json", "application/json-patch+json" },
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(word, types[i][0]) == 0)
            return types[i][1];
    return NULL;
}

static bool choose_colours(const char *when, struct xray_style *ret)
{
    ret->has_colours = strcmp(when, "always") == 0 ||
                       (strcmp(when, "auto") == 0 && isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
    return strcmp(when, "auto") == 0 || strcmp(when, "always") == 0 || strcmp(when, "never") == 0;
}

static bool take_flag(struct look *l, int c)
{
    switch (c) {
    case 'f':
        l->file = optarg;
        return true;
    case 'p':
        l->patch = optarg;
        return true;
    case 't':
        l->content_type = patch_type(optarg);
        return l->content_type;
    case 'r':
        return l->dry_run = true;
    case 'F':
        return l->force = true;
    case 'd':
        l->dir = optarg;
        return true;
    case 'm':
        return l->style.shows_managers = true;
    case 'c':
        return choose_colours(optarg, &l->style);
    case 'o':
        l->as_json = true;
        return strcmp(optarg, "json") == 0;
    default:
        return false;
    }
}

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, struct look *l)
{
    static const struct option flags[] = {
        { "filename", required_argument, NULL, 'f' },
        { "patch", required_argument, NULL, 'p' },
        { "type", required_argument, NULL, 't' },
        { "dry-run", no_argument, NULL, 'r' },
        { "force", no_argument, NULL, 'F' },
        { "data-dir", required_argument, NULL, 'd' },
        { "color", required_argument, NULL, 'c' },
        { "output", required_argument, NULL, 'o' },
        { "show-managed-fields", no_argument, NULL, 'm' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "f:p:o:", flags, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        if (!take_flag(l, c))
            return command_misused(argv[0]) + 1;
    }
    l->verb = optind < argc ? verb_named(argv[optind]) : VERB_NONE;
    if (l->verb == VERB_NONE || !l->file || (l->verb == VERB_PATCH) != (l->patch != NULL))
        return command_misused(argv[0]) + 1;
    return optind + 1 < argc ? command_unexpected(argv[0], argv[optind + 1]) + 1 : 0;
}

/* ---- One request ---- */

static const char *method_of(enum verb v)
{
    return v == VERB_CREATE ? "POST" : v == VERB_REPLACE ? "PUT" : "PATCH";
}

static struct str query_of(const struct look *l)
{
    bool applies = l->verb == VERB_APPLY;
    return arena_printf(l->arena, "?fieldManager=sampan-xray%s%s", l->dry_run ? "&dryRun=All" : "",
                        applies && l->force ? "&force=true" : "");
}

/* A patch is sent as JSON. */
static int body_of(const struct look *l, const struct value *obj, struct str *ret, struct err *err)
{
    autobuf out = { 0 };
    struct value patch;
    if (l->verb == VERB_PATCH) {
        int r = yaml_read(l->arena, str_of(l->patch), NULL, &patch, err);
        if (r < 0)
            return r;
        obj = &patch;
    }
    json_write(&out, obj);
    *ret = arena_str(l->arena, buf_str(&out));
    return 0;
}

static int path_of(const struct look *l, const struct value *obj, struct str *ret,
                   struct spn_err *err)
{
    struct spn_resource resource;
    struct spn_text path;
    struct str ns = value_str(value_dig(obj, "metadata", "namespace"));
    int r = spn_mapper_of_kind(l->mapper, text_of(value_text(obj, "apiVersion")),
                               text_of(value_text(obj, "kind")), NULL, l->answers, &resource, err);
    if (r < 0)
        return r;
    struct spn_target at = spn_resource_target(
        &resource, ns.n ? text_of(ns) : l->ns,
        text_of(l->verb == VERB_CREATE ? STR("") : value_str(value_dig(obj, "metadata", "name"))));
    r = spn_target_path(&at, l->answers, &path, err);
    if (r < 0)
        return r;
    *ret = arena_printf(l->arena, STR_FMT STR_FMT, (int)path.n, path.p, STR_ARG(query_of(l)));
    return 0;
}

/* What the server said: an x-ray, or, where it makes none, a plain answer. Returns an exit status.
 */
static int show(const struct look *l, struct str method, struct str path,
                const struct spn_answer *answer)
{
    struct value report;
    struct err err = ERR_INIT(l->arena);
    struct str body = { answer->body.p, answer->body.n };
    autobuf out = { 0 };
    bool is_json = json_read(l->arena, body, NULL, &report, &err) == 0;
    bool is_report = is_json && str_eq(value_text(&report, "kind"), STR("Xray"));
    if (l->as_json) {
        buf_str_add(&out, body);
    } else if (is_report) {
        buf_printf(&out, STR_FMT " " STR_FMT "\n\n", STR_ARG(method), STR_ARG(path));
        xray_print(&out, &report, &l->style);
    } else if (answer->status >= 300) {
        struct str message = is_json ? value_text(&report, "message") : body;
        fprintf(stderr, "sampan xray: the server answered %d: " STR_FMT "\n", answer->status,
                STR_ARG(message));
    } else {
        return fail("the server has done it, but shows no x-rays; it is not sampan");
    }
    fwrite(out.p, 1, out.n, stdout);
    return answer->status >= 300;
}

static int send_one(const struct look *l, const struct value *obj)
{
    static const struct spn_pair asks = { SPN_TEXT("X-Sampan-Xray"), SPN_TEXT("1") };
    struct spn_err err = { 0 };
    struct err why = ERR_INIT(l->arena);
    struct spn_answer answer;
    struct str path, body;
    if (body_of(l, obj, &body, &why) < 0)
        return fail(str_cstr(l->arena, why.msg));
    if (path_of(l, obj, &path, &err) < 0)
        return fail(err.message);
    const struct spn_request req = {
        .method = method_of(l->verb),
        .path = text_of(path),
        .content_type = text_of(str_of(l->verb == VERB_APPLY   ? "application/apply-patch+yaml"
                                       : l->verb == VERB_PATCH ? l->content_type
                                                               : "application/json")),
        .body = text_of(body),
        .headers = &asks,
        .n_headers = 1,
    };
    if (spn_client_send(l->client, &req, NULL, l->answers, &answer, &err) < 0)
        return fail(err.message);
    return show(l, str_of(req.method), path, &answer);
}

/* ---- All of a file ---- */

static int send_all(const struct look *l, struct str text)
{
    struct err err = ERR_INIT(l->arena);
    struct value obj;
    int status = 0, r;
    struct yaml_stream *docs = yaml_stream_new(l->arena, text, NULL);
    while ((r = yaml_stream_next(docs, &obj, &err)) == 1) {
        int one = send_one(l, &obj);
        status = one ? one : status;
    }
    yaml_stream_free(docs);
    return r < 0 ? fail(str_cstr(l->arena, err.msg)) : status;
}

static int connect_to(struct look *l, struct spn_config_options *opt, struct spn_err *err)
{
    struct spn_config cfg;
    if (l->dir)
        opt->kubeconfig = str_cstr(l->arena, arena_printf(l->arena, "%s/admin.kubeconfig", l->dir));
    int r = spn_config_load(opt, l->answers, &cfg, err);
    if (r < 0)
        return r;
    l->ns = cfg.ns;
    r = spn_client_new(&cfg, &l->client, err);
    if (r < 0)
        return r;
    l->mapper = spn_mapper_new(l->client, NULL);
    return 0;
}

static int run(struct look *l, struct spn_config_options *opt)
{
    struct spn_err err = { 0 };
    struct err why = ERR_INIT(l->arena);
    autobuf text = { 0 };
    const char *path = strcmp(l->file, "-") == 0 ? "/dev/stdin" : l->file;
    if (file_read(path, LIMIT_BODY_BYTES, &text, &why) < 0)
        return fail(str_cstr(l->arena, why.msg));
    if (connect_to(l, opt, &err) < 0)
        return fail(err.message);
    int status = send_all(l, buf_str(&text));
    spn_mapper_free(l->mapper);
    spn_client_free(l->client);
    return status;
}

int cmd_xray(int argc, char **argv)
{
    struct arena a;
    arena_init(&a);
    struct look l = { .arena = &a,
                      .answers = spn_arena_new(),
                      .content_type = patch_type("strategic") };
    struct spn_config_options opt = { 0 };
    struct spn_err err = { 0 };
    (void)choose_colours("auto", &l.style);
    int end;
    if (spn_config_flags(l.answers, &argc, argv, &opt, &err) < 0) {
        fprintf(stderr, "sampan xray: %s\n", err.message);
        end = command_misused("xray") + 1;
    } else {
        end = parse(argc, argv, &l);
    }
    int status = end ? end - 1 : run(&l, &opt);
    spn_arena_free(l.answers);
    arena_done(&a);
    return status;
}
