/* A policy that is read can be asked, and says the same each time; one that is not says why. */
#include <stdlib.h>

#include "auth/audit_policy.h"
#include "base/idiom.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void decide(const struct audit_policy *p)
{
    static const struct str groups[] = { STR("devs") };
    static const struct user user = { .name = STR("alice"), .groups = groups, .n_groups = 1 };
    static const struct access asked[] = {
        { .user = &user,
          .verb = STR("get"),
          .is_resource = true,
          .resource = STR("pods"),
          .sub = STR("log"),
          .ns = STR("a"),
          .name = STR("p") },
        { .verb = STR("get"), .path = STR("/healthz") },
    };
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        struct audit_decision d = audit_policy_decide(p, &asked[i]),
                              again = audit_policy_decide(p, &asked[i]);
        must(d.level <= AUDIT_REQUEST_RESPONSE && audit_level_word(d.level).n);
        must(d.omitted < 1u << (AUDIT_PANIC + 1));
        must(d.level == again.level && d.omitted == again.omitted);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct audit_policy *p = NULL;
    if (audit_policy_read((struct str){ (const char *)bytes, n }, &p, &err) < 0)
        must(err.msg.n > 0);
    else
        decide(p);
    audit_policy_free(p);
    arena_done(&a);
    return 0;
}
