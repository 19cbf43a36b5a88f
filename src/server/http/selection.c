#include "server/http/selection.h"

#include "api/field_errors.h"
#include "api/go/quote.h"
#include "base/limits.h"
#include "server/object/stored.h"
#include "base/banned.h"

#define NOT_OLDER_THAN STR("NotOlderThan")

/* ---- Single parameters ---- */

static bool all_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

int selection_version(struct str text, uint64_t *ret, struct err *err)
{
    if (str_to_u64(text, ret))
        return 0;
    autobuf quoted = { 0 };
    quote_go(&quoted, text);
    return err_set(err, ERR_UNKNOWN,
                   "resourceVersion: Invalid value: " STR_FMT
                   ": strconv.ParseUint: parsing " STR_FMT ": %s",
                   STR_ARG(buf_str(&quoted)), STR_ARG(buf_str(&quoted)),
                   all_digits(text) ? "value out of range" : "invalid syntax");
}

/* ---- Those that must fit together ---- */

/* The parameters as they came. */
struct sent {
    struct str version, match, token;
    bool initial, has_initial;
};

static void forbid(struct field_errors *e, struct str field, const char *why)
{
    struct field_path path = { .name = field };
    field_error(e, FIELD_FORBIDDEN, &path, STR(""), "%s", why);
}

static void check_list(struct field_errors *e, const struct sent *sent)
{
    static const struct str matches[] = { { "Exact", 5 }, { "NotOlderThan", 12 }, { "", 0 } };
    const struct str field = STR("resourceVersionMatch");
    struct field_path path = { .name = field };
    bool exact = str_eq(sent->match, STR("Exact"));
    if (sent->match.n && !sent->version.n)
        forbid(e, field, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (sent->match.n && sent->token.n)
        forbid(e, field, "resourceVersionMatch is forbidden when continue is provided");
    if (sent->match.n && !exact && !str_eq(sent->match, NOT_OLDER_THAN))
        field_not_supported(e, &path, field_quoted(e, sent->match), matches, 3);
    if (exact && str_eq(sent->version, STR("0")))
        forbid(e, field, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    if (sent->has_initial)
        forbid(e, STR("sendInitialEvents"), "sendInitialEvents is forbidden for list");
}

static void check_watch(struct field_errors *e, const struct sent *sent)
{
    static const struct str matches[] = { { "NotOlderThan", 12 } };
    const struct str field = STR("resourceVersionMatch");
    struct field_path path = { .name = field };
    bool not_older = str_eq(sent->match, NOT_OLDER_THAN);
    if (sent->has_initial && !not_older)
        forbid(e, field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (sent->match.n && !sent->has_initial)
        forbid(e, field,
               "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (sent->match.n && !not_older)
        field_not_supported(e, &path, field_quoted(e, sent->match), matches, 1);
    if (sent->match.n && sent->token.n)
        forbid(e, field, "resourceVersionMatch is forbidden when continue is provided");
}

static struct sent read_sent(const struct request *req, bool watch)
{
    struct str initial = request_param(req, STR("sendInitialEvents"));
    struct sent sent = {
        .version = request_param(req, STR("resourceVersion")),
        .match = request_param(req, STR("resourceVersionMatch")),
        .token = request_param(req, STR("continue")),
        .initial = request_flag(req, STR("sendInitialEvents")),
        .has_initial = initial.p,
    };
    /* A watch from nowhere in particular has always begun with what there is. */
    if (watch && !initial.p && !sent.match.n &&
        (!sent.version.n || str_eq(sent.version, STR("0")))) {
        sent.initial = sent.has_initial = true;
        sent.match = NOT_OLDER_THAN;
    }
    return sent;
}

/* ---- All of them ---- */

static int read_selectors(struct arena *a, const struct request *req, struct selection *s,
                          struct err *err)
{
    const struct kind_resource *r = req->resource;
    const struct fields_rules rules = {
        .group = r->group,
        .version = r->version,
        .kind = r->type->name,
        .selectors = r->selectors,
        .n_selectors = r->n_selectors,
        .aliases = r->aliases,
        .n_aliases = r->n_aliases,
    };
    int e = labels_parse(a, request_param(req, STR("labelSelector")), &s->labels, err);
    if (e < 0)
        return e;
    return fields_parse(a, request_param(req, STR("fieldSelector")), &rules, &s->fields, err);
}

/* The name in the path of an old-style watch. */
static int add_name(struct arena *a, struct str name, struct selection *s, struct err *err)
{
    struct str wanted;
    if (s->fields.n &&
        !(fields_exact(&s->fields, STR("metadata.name"), &wanted) && str_eq(wanted, name)))
        return err_set(err, ERR_BAD_REQUEST,
                       "fieldSelector metadata.name doesn't match requested name");
    if (s->fields.n)
        return 0;
    struct fields_term *term = arena_new(a, struct fields_term);
    term->field = STR("metadata.name");
    term->value = name;
    s->fields = (struct fields_selector){ .terms = term, .n = 1 };
    return 0;
}

static void find_keys(const struct request *req, struct selection *s)
{
    bool namespaced = req->resource->namespaced;
    if (!fields_exact(&s->fields, STR("metadata.name"), &s->name))
        s->name = (struct str){ NULL, 0 };
    s->ns = req->ns;
    if (namespaced && !s->ns.p && !fields_exact(&s->fields, STR("metadata.namespace"), &s->ns))
        s->ns = (struct str){ NULL, 0 };
    s->is_single = s->name.p && (!namespaced || s->ns.p);
    s->by_key = fields_by_key(&s->fields);
}

int selection_read(struct arena *a, const struct request *req, bool watch, struct selection *ret,
                   struct err *err)
{
    struct selection s = { .bookmarks = request_flag(req, STR("allowWatchBookmarks")) };
    int64_t limit = 0;
    int r = read_selectors(a, req, &s, err);
    if (r < 0)
        return r;
    r = request_int(req, STR("timeoutSeconds"), &s.timeout_sec, err);
    if (r < 0)
        return r;
    r = request_int(req, STR("limit"), &limit, err);
    if (r < 0)
        return r;

    struct field_errors e = FIELD_ERRORS_INIT(a);
    const struct sent sent = read_sent(req, watch);
    if (watch)
        check_watch(&e, &sent);
    else
        check_list(&e, &sent);
    r = field_errors_report(&e, STR("meta.k8s.io"), STR("ListOptions"), STR(""), err);
    if (r < 0)
        return r;
    if (req->name.p) {
        r = add_name(a, req->name, &s, err);
        if (r < 0)
            return r;
    }
    s.version = sent.version;
    s.token = sent.token;
    s.initial = sent.initial;
    s.limit = limit > 0 ? (uint64_t)limit : 0;
    if (sent.match.n)
        s.match = str_eq(sent.match, NOT_OLDER_THAN) ? SELECTION_NOT_OLDER : SELECTION_EXACT;
    find_keys(req, &s);
    *ret = s;
    return 0;
}

void selection_hide(struct selection *s, const struct request *req, struct uninitialized *hidden,
                    const struct kind_resource *stored)
{
    s->hidden = request_flag(req, STR("includeUninitialized")) ? NULL : hidden;
    s->stored = stored;
}

/* ---- Keys and objects ---- */

/* A slash in a name would make it look like another place. */
static bool can_be_in_key(struct str part)
{
    return !part.p || (part.n && str_find(part, '/') < 0);
}

struct str selection_prefix(struct arena *a, const struct kind_resource *r,
                            const struct selection *s)
{
    if (!can_be_in_key(s->ns) || !can_be_in_key(s->name))
        return STR("");
    struct str prefix = stored_key(a, r, s->ns, s->is_single ? s->name : (struct str){ NULL, 0 });
    return prefix.n <= LIMIT_STORE_KEY_BYTES ? prefix : STR("");
}

int selection_tree(struct selection_subject *subject, const struct value **ret, struct err *err)
{
    int r = 0;
    if (!subject->has_tree)
        r = encode_read(subject->arena, subject->encoder, &subject->entry, &subject->tree, err);
    if (r < 0)
        return r;
    subject->has_tree = true;
    *ret = &subject->tree;
    return 0;
}

int selection_stored(struct selection_subject *subject, const struct value **ret, struct err *err)
{
    const struct encoder *e = subject->encoder;
    if (e->resource == e->stored)
        return selection_tree(subject, ret, err);
    int r = 0;
    if (!subject->has_stored)
        r = stored_read(subject->arena, e->stored->type, &subject->entry, &subject->stored, err);
    if (r < 0)
        return r;
    subject->has_stored = true;
    *ret = &subject->stored;
    return 0;
}

static int match_labels(const struct selection *s, struct selection_subject *subject,
                        struct err *err)
{
    if (!subject->has_tree && !subject->has_meta) {
        int r = stored_read_meta(subject->arena, &subject->entry, &subject->meta, err);
        if (r < 0)
            return r;
        subject->has_meta = true;
    }
    const struct value *from = subject->has_tree ? &subject->tree : &subject->meta;
    return labels_match_value(&s->labels, value_dig(from, "metadata", "labels"));
}

static bool match_key(const struct selection *s, const struct selection_subject *subject)
{
    struct str ns, name;
    stored_key_parts(subject->encoder->stored, subject->entry.key, &ns, &name);
    return fields_match_key(&s->fields, ns, name);
}

static int match_tree(const struct selection *s, struct selection_subject *subject, struct err *err)
{
    const struct value *tree;
    int r = selection_tree(subject, &tree, err);
    return r < 0 ? r : fields_match(&s->fields, tree);
}

/* What is cheap comes first. */
int selection_matches(const struct selection *s, struct selection_subject *subject, struct err *err)
{
    if (s->fields.n && s->by_key && !match_key(s, subject))
        return 0;
    if (uninitialized_has(s->hidden, s->stored) && stored_is_uninitialized(&subject->entry))
        return 0;
    if (!labels_empty(&s->labels)) {
        int r = match_labels(s, subject, err);
        if (r <= 0)
            return r;
    }
    return s->by_key ? 1 : match_tree(s, subject, err);
}

int selection_too_new(struct err *err, uint64_t wanted, uint64_t newest)
{
    int r = err_set(err, ERR_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
                    (unsigned long long)wanted, (unsigned long long)newest);
    err_add_cause(err, STR("ResourceVersionTooLarge"), STR(""), STR("Too large resource version"));
    err->about.retry_after_sec = 1;
    return r;
}
