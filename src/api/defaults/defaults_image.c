/* References to images, HOST:PORT/PATH:TAG@DIGEST, by the grammar of the distribution project. All
 * that defaulting wants to know is whether a reference means the tag `latest`; one that is no
 * reference means nothing, which is not `latest` either. */
#include "api/defaults/defaults_rules.h"

#include "api/words.h"
#include "base/banned.h"

enum { PATH_BYTES_MAX = 255, SHA256_DIGITS = 64, SHA384_DIGITS = 96, SHA512_DIGITS = 128 };

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_lower_hex(struct str s, size_t n)
{
    for (size_t i = 0; i < s.n; i++)
        if (str_hex_digit(s.p[i]) < 0 || (s.p[i] >= 'A' && s.p[i] <= 'F'))
            return false;
    return s.n == n;
}

static bool is_digest(struct str s)
{
    static const struct algorithm {
        struct str word;
        size_t digits;
    } algorithms[] = {
        { STR("sha256"), SHA256_DIGITS },
        { STR("sha384"), SHA384_DIGITS },
        { STR("sha512"), SHA512_DIGITS },
    };
    struct str digits = s, name = str_cut(&digits, ':');
    const struct algorithm *algorithm = words_row(name, algorithms);
    return algorithm && is_lower_hex(digits, algorithm->digits);
}

/* How many bytes at `s` separate two words of a path: . _ __ or any number of dashes. */
static size_t separator(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] == '-')
        n++;
    if (n)
        return n;
    if (str_starts(s, STR("__")))
        return 2;
    return s.n && (s.p[0] == '.' || s.p[0] == '_');
}

static bool is_path_component(struct str s)
{
    for (;;) {
        size_t n = 0;
        while (n < s.n && is_lower_alnum(s.p[n]))
            n++;
        s = str_skip(s, n);
        if (!n || !s.n)
            return n;
        n = separator(s);
        s = str_skip(s, n);
        if (!n)
            return false;
    }
}

static bool is_path(struct str s)
{
    if (s.n > PATH_BYTES_MAX)
        return false;
    while (s.p)
        if (!is_path_component(str_cut(&s, '/')))
            return false;
    return true;
}

static bool is_port(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n;
}

static bool is_domain_name(struct str s)
{
    while (s.p) {
        struct str label = str_cut(&s, '.');
        for (size_t i = 0; i < label.n; i++)
            if (!is_alnum(label.p[i]) && (label.p[i] != '-' || i == 0 || i + 1 == label.n))
                return false;
        if (!label.n)
            return false;
    }
    return true;
}

static bool is_bracketed(struct str s)
{
    if (s.n < 3 || s.p[s.n - 1] != ']')
        return false;
    for (size_t i = 1; i + 1 < s.n; i++)
        if (str_hex_digit(s.p[i]) < 0 && s.p[i] != ':')
            return false;
    return true;
}

static bool is_domain(struct str s)
{
    bool is_ipv6 = str_starts(s, STR("["));
    ptrdiff_t end = is_ipv6 ? str_find(s, ']') : -1;
    struct str port = str_skip(s, end < 0 ? 0 : (size_t)end + 1), host = s;
    ptrdiff_t colon = str_find(port, ':');
    if (colon >= 0) {
        port = str_skip(port, (size_t)colon + 1);
        host = str_take(s, s.n - port.n - 1);
        if (!is_port(port))
            return false;
    }
    return is_ipv6 ? is_bracketed(host) : is_domain_name(host);
}

/* What stands before the first slash is a host if it looks like one, and else part of the path. */
static bool looks_like_host(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '.' || s.p[i] == ':' || (s.p[i] >= 'A' && s.p[i] <= 'Z'))
            return true;
    return str_eq(s, STR("localhost"));
}

static bool is_name(struct str s)
{
    struct str path = s, host = str_cut(&path, '/');
    if (!path.p) /* on the default host, below library/ */
        return s.n + sizeof("library/") - 1 <= PATH_BYTES_MAX && is_path(s);
    return looks_like_host(host) && is_domain(host) ? is_path(path) : is_path(s);
}

bool defaults__is_latest_image(struct str reference)
{
    struct str digest = reference, name = str_cut(&digest, '@');
    if (digest.p && !is_digest(digest))
        return false;
    size_t path_start = name.n;
    while (path_start && name.p[path_start - 1] != '/')
        path_start--;
    struct str tag = str_skip(name, path_start);
    ptrdiff_t colon = str_find(tag, ':');
    if (colon < 0)
        return !digest.p && is_name(name) && !is_lower_hex(name, SHA256_DIGITS);
    tag = str_skip(tag, (size_t)colon + 1);
    return str_eq(tag, STR("latest")) && is_name(str_take(name, name.n - tag.n - 1));
}
