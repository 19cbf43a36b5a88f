#include "server/object/format.h"

#include "base/idiom.h"
#include "net/http/accept.h"
#include "base/banned.h"

static const struct {
    struct str type, streamed;
} media_types[] = {
    [FORMAT_JSON] = { { "application/json", 16 }, { "application/json", 16 } },
    [FORMAT_YAML] = { { "application/yaml", 16 }, { "application/yaml", 16 } },
    [FORMAT_PROTO] = { { "application/vnd.kubernetes.protobuf", 35 },
                       { "application/vnd.kubernetes.protobuf;stream=watch", 48 } },
    [FORMAT_CBOR] = { { "application/cbor", 16 }, { "application/cbor-seq", 20 } },
};
enum { MEDIA_TYPES = ARRAY_LEN(media_types) };

struct str format_content_type(enum format_media media, bool stream)
{
    return stream ? media_types[media].streamed : media_types[media].type;
}

static bool find_media(struct str type, enum format_media *ret)
{
    for (size_t i = 0; i < MEDIA_TYPES; i++) {
        if (!str_eq_nocase(type, media_types[i].type))
            continue;
        *ret = (enum format_media)i;
        return true;
    }
    return false;
}

/* ---- Content-Type ---- */

static bool is_token(char c)
{
    static const struct str special = STR("()<>@,;:\\\"/[]?=");
    return c > ' ' && c < 0x7f && !memchr(special.p, c, special.n);
}

static bool eat_token(struct str *s)
{
    size_t n = 0;
    while (n < s->n && is_token(s->p[n]))
        n++;
    *s = str_skip(*s, n);
    return n > 0;
}

static bool eat_quoted(struct str *s)
{
    for (size_t i = 1; i < s->n; i++) {
        if (s->p[i] == '\\') {
            i++;
        } else if (s->p[i] == '"') {
            *s = str_skip(*s, i + 1);
            return true;
        }
    }
    return false;
}

/* What follows a media type: parameters that Go would read, or a semicolon with nothing behind. */
static bool has_good_params(struct str s)
{
    while (s.p) {
        s = str_trim(s);
        if (!s.n)
            return true;
        if (!eat_token(&s))
            return false;
        s = str_trim(s);
        if (!s.n || s.p[0] != '=')
            return false;
        s = str_trim(str_skip(s, 1));
        if (!s.n || !(s.p[0] == '"' ? eat_quoted(&s) : eat_token(&s)))
            return false;
        s = str_trim(s);
        if (s.n && s.p[0] != ';')
            return false;
        s = s.n ? str_skip(s, 1) : (struct str){ NULL, 0 };
    }
    return true;
}

bool format_of_content(struct str content_type, enum format_media *ret)
{
    struct str type = str_trim(str_cut(&content_type, ';'));
    *ret = FORMAT_JSON;
    return !type.n || (find_media(type, ret) && has_good_params(content_type));
}

/* ---- Accept ---- */

/* Whether an item of Accept means this encoding. */
static bool means(const struct accept_item *item, enum format_media media)
{
    return str_eq(item->type, STR("*/*")) || str_eq(item->type, STR("*")) ||
           str_eq(item->type, STR("application/*")) || str_eq(item->type, media_types[media].type);
}

static bool is_sequence(const struct accept_item *item, enum format_media media)
{
    return media == FORMAT_CBOR && str_eq(item->type, media_types[FORMAT_CBOR].streamed);
}

/* What the parameters `as`, `g` and `v` ask for; false if none is there. */
static bool asks_kind(const struct accept_item *item, struct format_kind *ret)
{
    *ret = (struct format_kind){
        .group = accept_param(item->params, STR("g")),
        .version = accept_param(item->params, STR("v")),
        .name = accept_param(item->params, STR("as")),
    };
    return ret->group.n || ret->version.n || ret->name.n;
}

/* `stream` can be "watch", where there is a form for streams; `sv` a version of meta.k8s.io. */
static bool allows_params(const struct accept_item *item, enum format_media media,
                          struct str server_version)
{
    struct str stream = accept_param(item->params, STR("stream")),
               version = accept_param(item->params, STR("sv"));
    if (stream.n && (media == FORMAT_YAML || !str_eq(stream, STR("watch"))))
        return false;
    return !version.n || str_eq(version, server_version);
}

/* `managedFields=0` leaves them out, `managedFields=1` shows them. */
static enum format_managers take_managers(const struct accept_item *item)
{
    struct str said = accept_param(item->params, STR("managedFields"));
    if (!said.n)
        return FORMAT_MANAGERS_UNSAID;
    return str_eq(said, STR("0")) || str_eq(said, STR("false")) ? FORMAT_MANAGERS_HIDDEN
                                                                : FORMAT_MANAGERS_SHOWN;
}

static struct format format_with(const struct accept_item *item, enum format_media media)
{
    return (struct format){
        .media = media,
        .managers = take_managers(item),
        .pretty = str_eq(accept_param(item->params, STR("pretty")), STR("1")),
    };
}

/* ---- Objects ---- */

/* Table and metadata; false for a form that we do not have. */
static bool take_form(const struct format_kind *kind, struct format *f)
{
    static const struct {
        struct str name;
        enum format_as as;
    } forms[] = {
        { { "Table", 5 }, FORMAT_TABLE },
        { { "PartialObjectMetadata", 21 }, FORMAT_PARTIAL },
        { { "PartialObjectMetadataList", 25 }, FORMAT_PARTIAL_LIST },
    };
    f->beta = str_eq(kind->version, STR("v1beta1"));
    if (!str_eq(kind->group, STR("meta.k8s.io")) || (!f->beta && !str_eq(kind->version, STR("v1"))))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (!str_eq(kind->name, forms[i].name))
            continue;
        f->as = forms[i].as;
        return f->as != FORMAT_TABLE || f->media == FORMAT_JSON || f->media == FORMAT_YAML;
    }
    return false;
}

static bool take(const struct accept_item *item, enum format_media media, bool has_proto,
                 struct format *ret)
{
    struct format f = format_with(item, media);
    struct format_kind kind;
    if (!allows_params(item, media, STR("v1")))
        return false;
    if (asks_kind(item, &kind) ? !take_form(&kind, &f) : media == FORMAT_PROTO && !has_proto)
        return false;
    *ret = f;
    return true;
}

#define MEDIA_NAMES "application/json, application/yaml, application/vnd.kubernetes.protobuf"
#define STREAM_NAMES \
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"

static int refuse(const char *names, struct err *err)
{
    return err_set(err, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: %s",
                   names);
}

int format_choose(struct arena *a, struct str accept, enum format_endpoint endpoint, bool has_proto,
                  struct format *ret, struct err *err)
{
    const struct accept_item *items;
    size_t n = accept_parse(a, accept, &items);
    *ret = (struct format){ .media = FORMAT_JSON };
    if (!accept.n || endpoint == FORMAT_OF_ANYTHING)
        return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t media = 0; media < MEDIA_TYPES; media++) {
            bool is_stream = endpoint != FORMAT_OF_ONE && is_sequence(&items[i], media);
            if (!(means(&items[i], media) || is_stream) || !take(&items[i], media, has_proto, ret))
                continue;
            bool cannot = endpoint == FORMAT_OF_WATCH && ret->media == FORMAT_YAML;
            return cannot ? refuse(STREAM_NAMES, err) : 0;
        }
    return refuse(MEDIA_NAMES, err);
}

/* ---- Documents ---- */

static bool choose_plain(struct arena *a, struct str accept, struct format *ret)
{
    const struct accept_item *items;
    size_t n = accept_parse(a, accept, &items);
    struct format_kind kind;
    *ret = (struct format){ .media = FORMAT_JSON };
    for (size_t i = 0; i < n; i++)
        for (size_t media = 0; media < MEDIA_TYPES; media++) {
            if (!means(&items[i], media) || asks_kind(&items[i], &kind) ||
                !allows_params(&items[i], media, STR("")))
                continue;
            *ret = format_with(&items[i], media);
            return true;
        }
    return !accept.n;
}

int format_choose_plain(struct arena *a, struct str accept, struct format *ret, struct err *err)
{
    return choose_plain(a, accept, ret) ? 0 : refuse(MEDIA_NAMES, err);
}

struct format format_of_refusal(struct arena *a, struct str accept)
{
    struct format f;
    (void)choose_plain(a, accept, &f);
    return f;
}

bool format_choose_kind(struct arena *a, struct str accept, const struct format_kind *kinds,
                        size_t n_kinds, struct format *ret, size_t *ret_kind)
{
    const struct accept_item *items;
    size_t n = accept_parse(a, accept, &items);
    struct format_kind wanted;
    for (size_t i = 0; i < n; i++) {
        enum format_media media = means(&items[i], FORMAT_JSON) ? FORMAT_JSON : FORMAT_YAML;
        if (!means(&items[i], media) || !asks_kind(&items[i], &wanted) ||
            !allows_params(&items[i], media, STR("")))
            continue;
        for (size_t j = 0; j < n_kinds; j++) {
            if (!str_eq(wanted.group, kinds[j].group) ||
                !str_eq(wanted.version, kinds[j].version) || !str_eq(wanted.name, kinds[j].name))
                continue;
            *ret = format_with(&items[i], media);
            *ret_kind = j;
            return true;
        }
    }
    return false;
}

/* ---- The router ---- */

static struct str trim_spaces(struct str s)
{
    while (s.n && s.p[0] == ' ')
        s = str_skip(s, 1);
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

static bool is_produced(struct str type, enum format_endpoint endpoint)
{
    if (str_eq(type, STR("*/*")))
        return true;
    for (size_t i = 0; i < MEDIA_TYPES; i++)
        if (str_eq(type, media_types[i].type) ||
            (endpoint != FORMAT_OF_ONE && str_eq(type, media_types[i].streamed)))
            return true;
    return false;
}

int format_route(struct str accept, enum format_endpoint endpoint, struct err *err)
{
    if (!accept.n || endpoint == FORMAT_OF_ANYTHING)
        return 0;
    while (accept.p) {
        struct str item = str_cut(&accept, ',');
        if (is_produced(trim_spaces(str_cut(&item, ';')), endpoint))
            return 0;
    }
    bool streams = endpoint != FORMAT_OF_ONE;
    int r = err_set(err, ERR_NOT_ACCEPTABLE,
                    "406: Not Acceptable\n\nAvailable representations: " MEDIA_NAMES "%s",
                    streams ? ", " STREAM_NAMES : "");
    if (err)
        err->about.kind = STR("");
    return r;
}

/* ---- White space ---- */

bool format_pretty(struct str pretty, struct str user_agent)
{
    static const char *const people[] = { "curl", "Wget", "Mozilla/5.0" };
    if (pretty.p)
        return str_eq(pretty, STR("1")) || str_eq(pretty, STR("true")) ||
               str_eq(pretty, STR("True")) || str_eq(pretty, STR("TRUE")) ||
               str_eq(pretty, STR("t")) || str_eq(pretty, STR("T"));
    for (size_t i = 0; i < ARRAY_LEN(people); i++)
        if (str_starts(user_agent, str_of(people[i])))
            return true;
    return false;
}
