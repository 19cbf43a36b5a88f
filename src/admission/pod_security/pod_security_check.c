#include "admission/pod_security/pod_security_check.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "admission/pod_security/checks_internal.h"
#include "api/words.h"
#include "base/banned.h"

/* In the order of messages: by upstream's names of the checks, those of "baseline" first. A check
 * has several rows where it changed with a version. */
enum { ALWAYS = INT32_MAX };

static const struct check {
    enum pod_security_level level;
    int32_t from, until;   /* minor versions; `until` is the first without it */
    int32_t baseline_from; /* from there on "restricted" has a stricter one instead */
    checks__fn *run;
} checks[] = {
    { POD_SECURITY_BASELINE, 0, ALWAYS, ALWAYS, check_app_armor },
    { POD_SECURITY_BASELINE, 0, ALWAYS, 22, check_capabilities },
    { POD_SECURITY_BASELINE, 0, ALWAYS, ALWAYS, check_host_namespaces },
    { POD_SECURITY_BASELINE, 0, ALWAYS, 0, check_host_paths },
    { POD_SECURITY_BASELINE, 0, ALWAYS, ALWAYS, check_host_ports },
    { POD_SECURITY_BASELINE, 34, ALWAYS, ALWAYS, check_host_probes },
    { POD_SECURITY_BASELINE, 0, ALWAYS, ALWAYS, check_privileged },
    { POD_SECURITY_BASELINE, 0, 35, 35, check_proc_mount },
    { POD_SECURITY_BASELINE, 35, ALWAYS, 35, check_proc_mount_35 },
    { POD_SECURITY_BASELINE, 0, 31, ALWAYS, check_selinux },
    { POD_SECURITY_BASELINE, 31, ALWAYS, ALWAYS, check_selinux_31 },
    { POD_SECURITY_BASELINE, 0, 19, 19, check_seccomp_annotations },
    { POD_SECURITY_BASELINE, 19, ALWAYS, 19, check_seccomp },
    { POD_SECURITY_BASELINE, 0, 27, ALWAYS, check_sysctls },
    { POD_SECURITY_BASELINE, 27, 29, ALWAYS, check_sysctls_27 },
    { POD_SECURITY_BASELINE, 29, 32, ALWAYS, check_sysctls_29 },
    { POD_SECURITY_BASELINE, 32, 37, ALWAYS, check_sysctls_32 },
    { POD_SECURITY_BASELINE, 37, ALWAYS, ALWAYS, check_sysctls_37 },
    { POD_SECURITY_BASELINE, 0, ALWAYS, ALWAYS, check_host_process },
    { POD_SECURITY_RESTRICTED, 8, 25, 0, check_escalation },
    { POD_SECURITY_RESTRICTED, 25, ALWAYS, 0, check_escalation_25 },
    { POD_SECURITY_RESTRICTED, 22, 25, 0, check_capabilities_required },
    { POD_SECURITY_RESTRICTED, 25, ALWAYS, 0, check_capabilities_required_25 },
    { POD_SECURITY_RESTRICTED, 35, ALWAYS, 0, check_proc_mount },
    { POD_SECURITY_RESTRICTED, 0, ALWAYS, 0, check_volumes },
    { POD_SECURITY_RESTRICTED, 0, 35, 0, check_non_root },
    { POD_SECURITY_RESTRICTED, 35, ALWAYS, 0, check_non_root_35 },
    { POD_SECURITY_RESTRICTED, 23, 35, 0, check_user },
    { POD_SECURITY_RESTRICTED, 35, ALWAYS, 0, check_user_35 },
    { POD_SECURITY_RESTRICTED, 19, 25, 0, check_seccomp_required },
    { POD_SECURITY_RESTRICTED, 25, ALWAYS, 0, check_seccomp_required_25 },
};
static_assert(ARRAY_LEN(checks) <= POD_SECURITY_CHECKS_MAX, "each may find something");

static bool is_run(const struct check *c, const struct pod_security_mode *mode)
{
    if (mode->minor < c->from || (c->until != ALWAYS && mode->minor >= c->until))
        return false;
    if (mode->level == c->level)
        return true;
    return mode->level == POD_SECURITY_RESTRICTED &&
           (c->baseline_from == ALWAYS || mode->minor < c->baseline_from);
}

static void list_containers(struct checked *p)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers"),
                                        STR("ephemeralContainers") };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_item (it, value_get(p->spec, lists[i]))
            n += it->type == VALUE_OBJECT;
    p->containers = arena_array(p->arena, const struct value *, n);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_item (it, value_get(p->spec, lists[i]))
            if (it->type == VALUE_OBJECT)
                p->containers[p->n_containers++] = it;
}

void pod_security_check(struct arena *a, const struct pod_security_mode *mode,
                        const struct value *annotations, const struct value *spec,
                        struct pod_security_findings *ret)
{
    struct checked p = { .arena = a, .annotations = annotations, .spec = spec, .findings = ret };
    ret->n = 0;
    if (mode->level == POD_SECURITY_PRIVILEGED)
        return;
    list_containers(&p);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (is_run(&checks[i], mode))
            checks[i].run(&p);
}

struct str pod_security_findings_text(struct arena *a, const struct pod_security_findings *f,
                                      bool with_details)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < f->n; i++) {
        buf_printf(&text, "%s" STR_FMT, i ? ", " : "", STR_ARG(f->at[i].reason));
        if (with_details && f->at[i].detail.n)
            buf_printf(&text, " (" STR_FMT ")", STR_ARG(f->at[i].detail));
    }
    return arena_str(a, buf_str(&text));
}

/* ---- What checks share ---- */

const struct value *checks__security(const struct value *of, struct str field)
{
    const struct value *v = value_get(value_get(of, STR("securityContext")), field);
    return value_is(v, VALUE_NULL) ? NULL : v;
}

bool checks__is_windows(const struct checked *p)
{
    return str_eq(value_str(value_dig(p->spec, "os", "name")), STR("windows"));
}

bool checks__has_user_namespace(const struct checked *p)
{
    const struct value *v = value_get(p->spec, STR("hostUsers"));
    return value_is(v, VALUE_BOOL) && !v->b;
}

void checks__add(const struct checked *p, struct checks__names *names, struct str name)
{
    if (names->n == names->room) {
        size_t room = names->room ? 2 * names->room : 4;
        names->at = arena_grow(p->arena, names->at, names->room * sizeof(*names->at),
                               room * sizeof(*names->at), alignof(struct str));
        names->room = room;
    }
    names->at[names->n++] = name;
}

void checks__sort(struct checks__names *names)
{
    size_t kept = 0;
    if (names->n)
        qsort(names->at, names->n, sizeof(*names->at), words_compare);
    for (size_t i = 0; i < names->n; i++)
        if (!kept || !str_eq(names->at[i], names->at[kept - 1]))
            names->at[kept++] = names->at[i];
    names->n = kept;
}

struct str checks__joined(const struct checked *p, const struct checks__names *names,
                          const char *between)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < names->n; i++)
        buf_printf(&text, "%s" STR_FMT, i ? between : "", STR_ARG(names->at[i]));
    return arena_str(p->arena, buf_str(&text));
}

struct str checks__quoted(const struct checked *p, const struct checks__names *names)
{
    if (!names->n)
        return STR("");
    return arena_printf(p->arena, "\"" STR_FMT "\"", STR_ARG(checks__joined(p, names, "\", \"")));
}

struct str checks__containers(const struct checked *p, const struct checks__names *names)
{
    return arena_printf(p->arena, "%s " STR_FMT, checks__plural(names, "container", "containers"),
                        STR_ARG(checks__quoted(p, names)));
}

struct str checks__setters(const struct checked *p, bool is_pod,
                           const struct checks__names *containers)
{
    if (!containers->n)
        return is_pod ? STR("pod") : STR("");
    return arena_printf(p->arena, "%s" STR_FMT, is_pod ? "pod and " : "",
                        STR_ARG(checks__containers(p, containers)));
}

void checks__find(const struct checked *p, const char *reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    p->findings->at[p->findings->n++] =
        (struct pod_security_finding){ str_of(reason), arena_vprintf(p->arena, fmt, ap) };
    va_end(ap);
}
