/* authentication_config.c - reading. Tables say which fields a message has and where they go;
 * whether their values make sense is for authentication_check.c. */
#include "auth/authentication_config.h"

#include <stddef.h>

#include "api/field_errors.h"
#include "api/words.h"
#include "auth/authentication_check.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/yaml.h"
#include "base/banned.h"

#define KIND "AuthenticationConfiguration"

/* ---- The form of the file ---- */

enum form {
    FORM_IGNORED, /* looked at elsewhere */
    FORM_TEXT,
    FORM_FLAG,
    FORM_TEXTS,
    FORM_OBJECT,
    FORM_LIST, /* of objects */
};

struct shape;

struct member {
    struct str word;
    enum form form;
    size_t at;     /* of the text, the flag, the object, or the pointer to the list */
    size_t beside; /* of the list's count; of a flag that says it is there; 0: nowhere */
    const struct shape *shape; /* of an object, or of the list's items */
};

struct shape {
    const struct member *members;
    size_t n, bytes;
};

#define SHAPE(rows, type)                     \
    {                                         \
        (rows), ARRAY_LEN(rows), sizeof(type) \
    }

#define AT(type, field) offsetof(struct authentication_##type, field)

static const struct member source_members[] = {
    { STR("claim"), FORM_TEXT, AT(source, claim), 0, NULL },
    { STR("prefix"), FORM_TEXT, AT(source, prefix), AT(source, has_prefix), NULL },
    { STR("expression"), FORM_TEXT, AT(source, expression), 0, NULL },
};
static const struct member uid_members[] = {
    { STR("claim"), FORM_TEXT, AT(source, claim), 0, NULL },
    { STR("expression"), FORM_TEXT, AT(source, expression), 0, NULL },
};
static const struct member extra_members[] = {
    { STR("key"), FORM_TEXT, AT(extra, key), 0, NULL },
    { STR("valueExpression"), FORM_TEXT, AT(extra, expression), 0, NULL },
};
static const struct member claim_rule_members[] = {
    { STR("claim"), FORM_TEXT, AT(rule, claim), 0, NULL },
    { STR("requiredValue"), FORM_TEXT, AT(rule, required), 0, NULL },
    { STR("expression"), FORM_TEXT, AT(rule, expression), 0, NULL },
    { STR("message"), FORM_TEXT, AT(rule, message), 0, NULL },
};
static const struct member user_rule_members[] = {
    { STR("expression"), FORM_TEXT, AT(rule, expression), 0, NULL },
    { STR("message"), FORM_TEXT, AT(rule, message), 0, NULL },
};
static const struct member issuer_members[] = {
    { STR("url"), FORM_TEXT, AT(jwt, url), 0, NULL },
    { STR("discoveryURL"), FORM_TEXT, AT(jwt, discovery_url), 0, NULL },
    { STR("certificateAuthority"), FORM_TEXT, AT(jwt, ca), 0, NULL },
    { STR("audiences"), FORM_TEXTS, AT(jwt, audiences), AT(jwt, n_audiences), NULL },
    { STR("audienceMatchPolicy"), FORM_TEXT, AT(jwt, match_policy), 0, NULL },
    { STR("egressSelectorType"), FORM_TEXT, AT(jwt, egress), 0, NULL },
};
static const struct member condition_members[] = {
    { STR("path"), FORM_TEXT, AT(condition, path), 0, NULL },
};

static const struct shape source_shape = SHAPE(source_members, struct authentication_source),
                          uid_shape = SHAPE(uid_members, struct authentication_source),
                          extra_shape = SHAPE(extra_members, struct authentication_extra),
                          claim_rule_shape = SHAPE(claim_rule_members, struct authentication_rule),
                          user_rule_shape = SHAPE(user_rule_members, struct authentication_rule),
                          issuer_shape = SHAPE(issuer_members, struct authentication_jwt),
                          condition_shape =
                              SHAPE(condition_members, struct authentication_condition);

/* Issuer and claim mappings are one struct with what stands around them. */
static const struct member mapping_members[] = {
    { STR("username"), FORM_OBJECT, AT(jwt, username), 0, &source_shape },
    { STR("groups"), FORM_OBJECT, AT(jwt, groups), 0, &source_shape },
    { STR("uid"), FORM_OBJECT, AT(jwt, uid), 0, &uid_shape },
    { STR("extra"), FORM_LIST, AT(jwt, extra), AT(jwt, n_extra), &extra_shape },
};
static const struct shape mapping_shape = SHAPE(mapping_members, struct authentication_jwt);

static const struct member jwt_members[] = {
    { STR("issuer"), FORM_OBJECT, 0, 0, &issuer_shape },
    { STR("claimValidationRules"), FORM_LIST, AT(jwt, claim_rules), AT(jwt, n_claim_rules),
      &claim_rule_shape },
    { STR("claimMappings"), FORM_OBJECT, 0, 0, &mapping_shape },
    { STR("userValidationRules"), FORM_LIST, AT(jwt, user_rules), AT(jwt, n_user_rules),
      &user_rule_shape },
};
static const struct member anonymous_members[] = {
    { STR("enabled"), FORM_FLAG, AT(anonymous, is_enabled), 0, NULL },
    { STR("conditions"), FORM_LIST, AT(anonymous, conditions), AT(anonymous, n_conditions),
      &condition_shape },
};
static const struct shape jwt_shape = SHAPE(jwt_members, struct authentication_jwt),
                          anonymous_shape =
                              SHAPE(anonymous_members, struct authentication_anonymous);

static const struct member config_members[] = {
    { STR("apiVersion"), FORM_IGNORED, 0, 0, NULL },
    { STR("kind"), FORM_IGNORED, 0, 0, NULL },
    { STR("jwt"), FORM_LIST, AT(config, jwt), AT(config, n_jwt), &jwt_shape },
    { STR("anonymous"), FORM_OBJECT, AT(config, anonymous),
      AT(config, anonymous) + AT(anonymous, is_set), &anonymous_shape },
};
static const struct shape config_shape = SHAPE(config_members, struct authentication_config);

/* ---- Reading ---- */

struct reading {
    struct arena *arena;
    struct err *err;
    struct buf *unknown; /* fields that nobody knows */
};

static int read_shape(struct reading *rd, const struct value *obj, const struct field_path *at,
                      const struct shape *shape, char *to);

static int not_a(struct reading *rd, const struct field_path *at, const char *wanted)
{
    struct str path = field_path_text(rd->arena, at);
    return err_set(rd->err, ERR_INVALID, STR_FMT " must be %s", STR_ARG(path), wanted);
}

static int read_text(struct reading *rd, const struct value *v, const struct field_path *at,
                     struct str *ret)
{
    if (!value_is(v, VALUE_STRING))
        return not_a(rd, at, "a string");
    *ret = value_str(v);
    return 0;
}

static int read_texts(struct reading *rd, const struct value *v, const struct field_path *at,
                      const struct str **ret, size_t *ret_n)
{
    if (!value_is(v, VALUE_ARRAY))
        return not_a(rd, at, "a list");
    struct str *list = arena_array(rd->arena, struct str, v->n + 1);
    for (size_t i = 0; i < v->n; i++) {
        struct field_path here = field_index(at, i);
        int r = read_text(rd, value_at(v, i), &here, &list[i]);
        if (r < 0)
            return r;
    }
    *ret = list;
    *ret_n = v->n;
    return 0;
}

static int read_list(struct reading *rd, const struct value *v, const struct field_path *at,
                     const struct shape *shape, void **ret, size_t *ret_n)
{
    if (!value_is(v, VALUE_ARRAY))
        return not_a(rd, at, "a list");
    char *list = arena_zalloc(rd->arena, v->n + 1, shape->bytes, alignof(max_align_t));
    for (size_t i = 0; i < v->n; i++) {
        struct field_path here = field_index(at, i);
        int r = read_shape(rd, value_at(v, i), &here, shape, list + i * shape->bytes);
        if (r < 0)
            return r;
    }
    *ret = list;
    *ret_n = v->n;
    return 0;
}

static int read_flag(struct reading *rd, const struct value *v, const struct field_path *at,
                     bool *ret)
{
    *ret = value_is_true(v);
    return value_is(v, VALUE_BOOL) ? 0 : not_a(rd, at, "true or false");
}

static int read_member(struct reading *rd, const struct value *v, const struct field_path *at,
                       const struct member *m, char *to)
{
    void *place = to + m->at;
    size_t *count = (size_t *)(void *)(to + m->beside);
    switch (m->form) {
    case FORM_IGNORED:
        return 0;
    case FORM_TEXT:
        if (m->beside)
            *(bool *)(to + m->beside) = true;
        return read_text(rd, v, at, place);
    case FORM_FLAG:
        return read_flag(rd, v, at, place);
    case FORM_TEXTS:
        return read_texts(rd, v, at, place, count);
    case FORM_OBJECT:
        if (m->beside)
            *(bool *)(to + m->beside) = true;
        return read_shape(rd, v, at, m->shape, place);
    case FORM_LIST:
        return read_list(rd, v, at, m->shape, place, count);
    }
    return 0;
}

static void note_unknown(struct reading *rd, const struct field_path *at)
{
    struct str path = field_path_text(rd->arena, at);
    buf_printf(rd->unknown, "%sunknown field \"" STR_FMT "\"", rd->unknown->n ? ", " : "",
               STR_ARG(path));
}

static const struct member *find_member(const struct shape *shape, struct str name)
{
    for (size_t i = 0; i < shape->n; i++)
        if (str_eq(shape->members[i].word, name))
            return &shape->members[i];
    return NULL;
}

/* Null stands for what is not there. */
static int read_shape(struct reading *rd, const struct value *obj, const struct field_path *at,
                      const struct shape *shape, char *to)
{
    if (value_is(obj, VALUE_NULL))
        return 0;
    if (!value_is(obj, VALUE_OBJECT))
        return not_a(rd, at, "an object");
    value_each_field (f, obj) {
        struct field_path here = field_child(at, f->key);
        const struct member *m = find_member(shape, f->key);
        if (!m)
            note_unknown(rd, &here);
        if (!m || f->val.type == VALUE_NULL)
            continue;
        int r = read_member(rd, &f->val, &here, m, to);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- The whole ---- */

static int check_type(const struct value *doc, struct err *err)
{
    static const struct str versions[] = { STR("apiserver.config.k8s.io/v1"),
                                           STR("apiserver.config.k8s.io/v1beta1"),
                                           STR("apiserver.config.k8s.io/v1alpha1") };
    struct str kind = value_text(doc, "kind"), version = value_text(doc, "apiVersion");
    autobuf text = { 0 };
    json_write(&text, doc);
    if (!kind.n || !version.n)
        return err_set(err, ERR_INVALID, "Object '%s' is missing in '" STR_FMT "'",
                       kind.n ? "apiVersion" : "Kind", STR_ARG(buf_str(&text)));
    if (!str_eq(kind, STR(KIND)) || !words_have(version, WORDS(versions)))
        return err_set(err, ERR_INVALID,
                       "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                       STR_ARG(kind), STR_ARG(version));
    return 0;
}

static int refuse_duplicates(struct arena *a, struct str text, struct err *err)
{
    enum { SHOWN_MAX = 16 };
    struct str lines[SHOWN_MAX];
    autobuf all = { 0 };
    size_t n = yaml_duplicates(a, text, lines, SHOWN_MAX);
    for (size_t i = 0; i < n; i++)
        buf_printf(&all, "\n  " STR_FMT, STR_ARG(lines[i]));
    return err_set(err, ERR_INVALID, "strict decoding error: yaml: unmarshal errors:" STR_FMT,
                   STR_ARG(buf_str(&all)));
}

static int parse(struct arena *a, struct str text, struct value *ret, struct err *err)
{
    struct str twice = { 0 };
    const struct yaml_options opt = { .ret_duplicate = &twice };
    if (!text.n)
        return err_set(err, ERR_INVALID, "empty config data");
    int r = yaml_read(a, text, &opt, ret, err);
    if (r < 0)
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(arena_str(a, err->msg)));
    r = check_type(ret, err);
    if (r < 0)
        return r;
    return twice.n ? refuse_duplicates(a, text, err) : 0;
}

static void allow_all_algorithms(struct authentication_config *c)
{
    static const struct str all[] = { STR("ES256"), STR("ES384"), STR("ES512"),
                                      STR("PS256"), STR("PS384"), STR("PS512"),
                                      STR("RS256"), STR("RS384"), STR("RS512") };
    c->algorithms = all;
    c->n_algorithms = ARRAY_LEN(all);
}

int authentication_config_read(struct arena *a, struct str text,
                               const struct authentication_own *own,
                               struct authentication_config *ret, struct err *err)
{
    struct value doc;
    int r = parse(a, text, &doc, err);
    if (r < 0)
        return r;
    autobuf unknown = { 0 };
    struct reading rd = { a, err, &unknown };
    *ret = (struct authentication_config){ 0 };
    r = read_shape(&rd, &doc, NULL, &config_shape, (char *)ret);
    if (r < 0)
        return r;
    if (unknown.n)
        return err_set(err, ERR_INVALID, "strict decoding error: " STR_FMT,
                       STR_ARG(buf_str(&unknown)));
    allow_all_algorithms(ret);
    return authentication_check(a, ret, own, err);
}

/* ---- Flags ---- */

/* Of a claim that is named twice the last value counts. */
static int require_claims(struct arena *a, const struct authentication_flags *flags,
                          struct authentication_jwt *jwt, struct err *err)
{
    jwt->claim_rules = arena_array(a, struct authentication_rule, flags->n_required + 1);
    for (size_t i = 0; i < flags->n_required; i++) {
        struct str value = flags->required[i], claim = str_cut(&value, '=');
        size_t at = 0;
        if (!value.p)
            return err_set(err, ERR_INVALID, "malformed pair, expect string=string");
        while (at < jwt->n_claim_rules && !str_eq(jwt->claim_rules[at].claim, str_trim(claim)))
            at++;
        jwt->n_claim_rules += at == jwt->n_claim_rules;
        jwt->claim_rules[at] =
            (struct authentication_rule){ .claim = str_trim(claim), .required = str_trim(value) };
    }
    return 0;
}

/* As upstream: without a prefix the issuer is one, unless the name is a mail address, and "-" means
 * none. */
static struct str username_prefix(struct arena *a, const struct authentication_flags *flags)
{
    if (str_eq(flags->username_prefix, STR("-")))
        return STR("");
    if (flags->username_prefix.n || str_eq(flags->username_claim, STR("email")))
        return flags->username_prefix;
    return arena_printf(a, STR_FMT "#", STR_ARG(flags->issuer_url));
}

static int check_algorithms(const struct authentication_config *c, struct err *err)
{
    struct authentication_config all;
    allow_all_algorithms(&all);
    for (size_t i = 0; i < c->n_algorithms; i++)
        if (!words_have(c->algorithms[i], all.algorithms, all.n_algorithms))
            return err_set(err, ERR_INVALID, "oidc: unsupported signing alg: \"" STR_FMT "\"",
                           STR_ARG(c->algorithms[i]));
    return 0;
}

static void use_algorithms(const struct authentication_flags *flags,
                           struct authentication_config *ret)
{
    static const struct str usual[] = { STR("RS256") };
    ret->algorithms = flags->n_algorithms ? flags->algorithms : usual;
    ret->n_algorithms = flags->n_algorithms ? flags->n_algorithms : ARRAY_LEN(usual);
}

static struct authentication_source source_of(struct str claim, struct str prefix)
{
    return (struct authentication_source){ .claim = claim, .prefix = prefix, .has_prefix = true };
}

int authentication_config_of_flags(struct arena *a, const struct authentication_flags *flags,
                                   const struct authentication_own *own,
                                   struct authentication_config *ret, struct err *err)
{
    *ret = (struct authentication_config){ 0 };
    use_algorithms(flags, ret);
    if (!flags->issuer_url.n)
        return 0;
    struct authentication_jwt *jwt = arena_new(a, struct authentication_jwt);
    jwt->url = flags->issuer_url;
    jwt->ca = flags->ca;
    jwt->audiences = arena_dup(a, &flags->client_id, sizeof(flags->client_id));
    jwt->n_audiences = 1;
    jwt->username = source_of(flags->username_claim, username_prefix(a, flags));
    if (flags->groups_claim.n)
        jwt->groups = source_of(flags->groups_claim, flags->groups_prefix);
    ret->jwt = jwt;
    ret->n_jwt = 1;
    int r = require_claims(a, flags, jwt, err);
    if (r < 0)
        return r;
    r = authentication_check(a, ret, own, err);
    if (r < 0)
        return r;
    return check_algorithms(ret, err);
}

/* ---- Anonymous requests ---- */

bool authentication_anonymous_eq(const struct authentication_anonymous *x,
                                 const struct authentication_anonymous *y)
{
    if (x->is_set != y->is_set || x->is_enabled != y->is_enabled ||
        x->n_conditions != y->n_conditions)
        return false;
    for (size_t i = 0; i < x->n_conditions; i++)
        if (!str_eq(x->conditions[i].path, y->conditions[i].path))
            return false;
    return true;
}

bool authentication_anonymous_may(const struct authentication_anonymous *c, struct str path)
{
    if (!c->is_enabled)
        return false;
    for (size_t i = 0; i < c->n_conditions; i++)
        if (str_eq(c->conditions[i].path, path))
            return true;
    return !c->n_conditions;
}
