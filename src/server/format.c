#include "server/format.h"

#include "net/accept.h"
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
enum { MEDIA_TYPES = sizeof(media_types) / sizeof(media_types[0]) };

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

bool format_of_content(struct str content_type, enum format_media *ret)
{
    struct str type = str_trim(str_cut(&content_type, ';'));
    *ret = FORMAT_JSON;
    return !type.n || find_media(type, ret);
}

static bool accepts(const struct accept_item *item, enum format_endpoint endpoint,
                    enum format_media *ret)
{
    *ret = FORMAT_JSON;
    if (str_eq(item->type, STR("*/*")) || str_eq(item->type, STR("application/*")))
        return true;
    if (endpoint != FORMAT_OF_ONE && str_eq(item->type, STR("application/cbor-seq"))) {
        *ret = FORMAT_CBOR;
        return true;
    }
    return find_media(item->type, ret);
}

/* Reads `as`, `g` and `v`; false for a form that we do not have. */
static bool take_form(const struct accept_item *item, struct format *f)
{
    static const struct {
        struct str name;
        enum format_as as;
    } forms[] = {
        { { "Table", 5 }, FORMAT_TABLE },
        { { "PartialObjectMetadata", 21 }, FORMAT_PARTIAL },
        { { "PartialObjectMetadataList", 25 }, FORMAT_PARTIAL_LIST },
    };
    struct str as = accept_param(item->params, STR("as")),
               version = accept_param(item->params, STR("v"));
    f->as = FORMAT_OBJECT;
    if (!as.n)
        return true;
    f->beta = str_eq(version, STR("v1beta1"));
    if (!str_eq(accept_param(item->params, STR("g")), STR("meta.k8s.io")) ||
        (!f->beta && !str_eq(version, STR("v1"))))
        return false;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (!str_eq(as, forms[i].name))
            continue;
        f->as = forms[i].as;
        return f->as != FORMAT_TABLE || f->media == FORMAT_JSON || f->media == FORMAT_YAML;
    }
    return false;
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

static int refuse(enum format_endpoint endpoint, bool known, struct err *err)
{
#define MEDIA_NAMES "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    if (known)
        return err_set(err, ERR_NOT_ACCEPTABLE,
                       "only the following media types are accepted: " MEDIA_NAMES);
    int r = err_set(err, ERR_NOT_ACCEPTABLE,
                    "406: Not Acceptable\n\nAvailable representations: " MEDIA_NAMES "%s",
                    endpoint == FORMAT_OF_ONE ? ""
                                              : ", application/json;stream=watch, "
                                                "application/vnd.kubernetes.protobuf;stream=watch");
    if (err)
        err->about.kind = STR("");
    return r;
}

int format_choose(struct arena *a, struct str accept, enum format_endpoint endpoint, bool has_proto,
                  struct format *ret, struct err *err)
{
    const struct accept_item *items;
    size_t n = accept_parse(a, accept, &items);
    bool known = !str_trim(accept).n;
    *ret = (struct format){ .media = FORMAT_JSON };
    if (known)
        return 0;
    for (size_t i = 0; i < n; i++) {
        struct format f = { 0 };
        if (!items[i].q || !accepts(&items[i], endpoint, &f.media))
            continue;
        known = true;
        if (!take_form(&items[i], &f) || (endpoint == FORMAT_OF_WATCH && f.media == FORMAT_YAML))
            continue;
        if (f.media == FORMAT_PROTO && f.as == FORMAT_OBJECT && !has_proto)
            continue;
        struct str pretty = accept_param(items[i].params, STR("pretty"));
        f.pretty = str_eq(pretty, STR("1")) || str_eq(pretty, STR("true"));
        f.managers = take_managers(&items[i]);
        *ret = f;
        return 0;
    }
    return refuse(endpoint, known, err);
}

bool format_pretty(struct str pretty, struct str user_agent)
{
    static const char *const people[] = { "curl", "Wget", "Mozilla/5.0" };
    if (pretty.p)
        return str_eq(pretty, STR("1")) || str_eq(pretty, STR("true")) ||
               str_eq(pretty, STR("True")) || str_eq(pretty, STR("TRUE")) ||
               str_eq(pretty, STR("t")) || str_eq(pretty, STR("T"));
    for (size_t i = 0; i < sizeof(people) / sizeof(people[0]); i++)
        if (str_starts(user_agent, str_of(people[i])))
            return true;
    return false;
}
