#include "node/agent/image_name.h"

#include "base/regexp.h"
#include "base/banned.h"

enum { NAME_MAX_BYTES = 255, ID_BYTES = 64 };

/* The grammar of references: domain, path, tag, digest. */
#define ALNUM  "[a-z0-9]+"
#define PART   ALNUM "(?:(?:\\.|_|__|-+)" ALNUM ")*"
#define LABEL  "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
#define HOST   "(?:" LABEL "(?:\\." LABEL ")*|\\[(?:[a-fA-F0-9:]+)\\])"
#define NAME   "(?:" HOST "(?::[0-9]+)?/)?" PART "(?:/" PART ")*"
#define TAG    "[A-Za-z0-9_][A-Za-z0-9_.-]*"
#define DIGEST "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]+"
#define WHOLE  "^" NAME "(?::" TAG ")?(?:@" DIGEST ")?$"
#define BAD    "invalid reference format"

static bool has_upper(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= 'A' && s.p[i] <= 'Z')
            return true;
    return false;
}

static bool is_id(struct str s)
{
    if (s.n != ID_BYTES)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (str_hex_digit(s.p[i]) < 0 || has_upper((struct str){ &s.p[i], 1 }))
            return false;
    return true;
}

static bool has_one_of(struct str s, char x, char y)
{
    return str_find(s, x) >= 0 || str_find(s, y) >= 0;
}

/* Where the registry is, and the rest. */
static struct str split_domain(struct arena *a, struct str image, struct str *ret_rest)
{
    ptrdiff_t slash = str_find(image, '/');
    struct str first = slash >= 0 ? str_take(image, (size_t)slash) : STR("");
    bool is_domain = slash >= 0 && (has_one_of(first, '.', ':') ||
                                    str_eq(first, STR("localhost")) || has_upper(first));
    struct str domain = is_domain ? first : STR("docker.io");
    *ret_rest = is_domain ? str_skip(image, (size_t)slash + 1) : image;
    if (str_eq(domain, STR("index.docker.io")))
        domain = STR("docker.io");
    if (str_eq(domain, STR("docker.io")) && str_find(*ret_rest, '/') < 0)
        *ret_rest = arena_printf(a, "library/" STR_FMT, STR_ARG(*ret_rest));
    return domain;
}

/* Lengths that the grammar does not bound, since matching would be costly. */
static int check_lengths(struct str rest, struct str whole, struct err *err)
{
    enum { TAG_MAX = 128, DIGEST_MIN = 32 };
    struct str before = str_cut(&rest, '@'), digest = rest, path = before;
    struct str name = str_cut(&path, ':');
    if (path.n > TAG_MAX)
        return err_set(err, ERR_INVALID, BAD);
    if (digest.n) {
        struct str algorithm = str_cut(&digest, ':');
        size_t want = str_eq(algorithm, STR("sha256"))   ? 64
                      : str_eq(algorithm, STR("sha384")) ? 96
                      : str_eq(algorithm, STR("sha512")) ? 128
                                                         : 0;
        if (digest.n < DIGEST_MIN)
            return err_set(err, ERR_INVALID, BAD);
        if (!want)
            return err_set(err, ERR_INVALID, "unsupported digest algorithm");
        if (digest.n != want)
            return err_set(err, ERR_INVALID, "invalid checksum digest length");
    }
    if (name.n + (whole.n - before.n) > NAME_MAX_BYTES && name.n > NAME_MAX_BYTES)
        return err_set(err, ERR_INVALID, "repository name must not be more than 255 characters");
    return 0;
}

int image_name_read(struct arena *a, struct str image, struct image_name *ret, struct err *err)
{
    struct regexp *re;
    struct str rest;
    if (is_id(image))
        return err_set(err, ERR_INVALID,
                       "invalid repository name (" STR_FMT
                       "), cannot specify 64-byte hexadecimal strings",
                       STR_ARG(image));
    struct str domain = split_domain(a, image, &rest), path = rest;
    struct str name = str_cut(&path, ':');
    if (has_upper(name))
        return err_set(err, ERR_INVALID, BAD ": repository name (" STR_FMT ") must be lowercase",
                       STR_ARG(name));
    struct str whole = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(domain), STR_ARG(rest));
    int r = regexp_compile(a, STR(WHOLE), &re, err);
    if (r < 0)
        return r;
    if (!regexp_match(re, whole, NULL))
        return err_set(err, ERR_INVALID, BAD);
    r = check_lengths(rest, whole, err);
    if (r < 0)
        return r;
    bool is_named = str_find(rest, ':') >= 0 || str_find(rest, '@') >= 0;
    ret->domain = domain;
    ret->full = is_named ? image : arena_printf(a, STR_FMT ":latest", STR_ARG(image));
    return 0;
}
