#include "node/pod/pod_spec.h"

#include "api/go/quote.h"
#include "api/pod_qos.h"
#include "base/buf.h"
#include "base/banned.h"

/* Priorities from here on are the system's own (system-cluster-critical). */
static const int64_t system_priority = 2000000000;

struct str pod_name(const struct value *pod)
{
    return value_str(value_dig(pod, "metadata", "name"));
}

struct str pod_ns(const struct value *pod)
{
    return value_str(value_dig(pod, "metadata", "namespace"));
}

struct str pod_uid(const struct value *pod)
{
    return value_str(value_dig(pod, "metadata", "uid"));
}

struct str pod_describe(struct arena *a, const struct value *pod)
{
    return arena_printf(a, STR_FMT "_" STR_FMT "(" STR_FMT ")", STR_ARG(pod_name(pod)),
                        STR_ARG(pod_ns(pod)), STR_ARG(pod_uid(pod)));
}

struct str pod_class(const struct value *pod)
{
    struct str known = value_str(value_dig(pod, "status", "qosClass"));
    return known.n ? known : pod_qos_class(pod_spec(pod));
}

bool pod_is_static(const struct value *pod)
{
    struct str source =
        value_str(value_dig(pod, "metadata", "annotations", "kubernetes.io/config.source"));
    return source.n && !str_eq(source, STR("api"));
}

bool pod_is_critical(const struct value *pod)
{
    int64_t priority;
    if (pod_is_static(pod) ||
        value_dig(pod, "metadata", "annotations", "kubernetes.io/config.mirror"))
        return true;
    return value_to_int(value_dig(pod, "spec", "priority"), &priority) &&
           priority >= system_priority;
}

bool pod_is_node_critical(const struct value *pod)
{
    return pod_is_critical(pod) && str_eq(value_str(value_dig(pod, "spec", "priorityClassName")),
                                          STR("system-node-critical"));
}

bool pod_each_container(const struct value *pod, pod_visit *visit, void *arg)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers"),
                                        STR("ephemeralContainers") };
    for (size_t i = 0; i < 3; i++)
        value_each_item (c, value_get(pod_spec(pod), lists[i]))
            if (!visit(arg, c))
                return false;
    return true;
}

const struct value *pod_find_container(const struct value *pod, struct str name)
{
    static const struct str lists[] = { STR("containers"), STR("initContainers") };
    for (size_t i = 0; i < 2; i++)
        value_each_item (c, value_get(pod_spec(pod), lists[i]))
            if (str_eq(value_text(c, "name"), name))
                return c;
    return NULL;
}

const struct value *pod_security(const struct value *pod, const struct value *container,
                                 struct str field)
{
    const struct value *own = value_get(value_get(container, STR("securityContext")), field);
    if (own && !value_is(own, VALUE_NULL))
        return own;
    const struct value *all = value_get(value_dig(pod, "spec", "securityContext"), field);
    return value_is(all, VALUE_NULL) ? NULL : all;
}

struct common_user {
    const struct value *pod;
    bool is_known;
    int64_t user;
};

static bool see_user(void *arg, const struct value *container)
{
    struct common_user *u = arg;
    int64_t user;
    if (!value_to_int(pod_security(u->pod, container, STR("runAsUser")), &user) ||
        (u->is_known && u->user != user))
        return false;
    u->is_known = true;
    u->user = user;
    return true;
}

bool pod_common_user(const struct value *pod, int64_t *ret)
{
    struct common_user u = { .pod = pod };
    if (!pod_each_container(pod, see_user, &u) || !u.is_known)
        return false;
    *ret = u.user;
    return true;
}

bool pod_fs_group(const struct value *pod, int64_t *ret)
{
    return value_to_int(value_dig(pod, "spec", "securityContext", "fsGroup"), ret);
}

/* ---- Paths and words ---- */

struct str path_clean(struct arena *a, struct str path)
{
    autobuf out = { 0 };
    const bool is_absolute = path.n && path.p[0] == '/';
    if (is_absolute)
        buf_byte(&out, '/');
    while (path.n) {
        struct str part = str_cut(&path, '/');
        if (!part.n || str_eq(part, STR(".")))
            continue;
        if (out.n && out.p[out.n - 1] != '/')
            buf_byte(&out, '/');
        buf_str_add(&out, part);
    }
    return out.n ? arena_str(a, buf_str(&out)) : STR(".");
}

struct str path_join(struct arena *a, struct str folder, struct str name)
{
    if (str_ends(folder, STR("/")))
        folder.n--;
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(name));
}

bool path_has_backstep(struct str path)
{
    while (path.n)
        if (str_eq(str_cut(&path, '/'), STR("..")))
            return true;
    return false;
}

struct str go_errno(struct arena *a, int errnum)
{
    char text[128];
    /* glibc's words, which Go has too, but for the first letter. */
    struct str words = arena_str(a, str_of(strerror_r(errnum, text, sizeof(text))));
    if (words.n > 1 && words.p[0] >= 'A' && words.p[0] <= 'Z' &&
        !(words.p[1] >= 'A' && words.p[1] <= 'Z'))
        return arena_printf(a, "%c" STR_FMT, words.p[0] | 0x20, STR_ARG(str_skip(words, 1)));
    return words;
}

struct str go_quote(struct arena *a, struct str text)
{
    autobuf out = { 0 };
    quote_go(&out, text);
    return arena_str(a, buf_str(&out));
}
