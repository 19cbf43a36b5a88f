#include "main/program_scheduler.h"

#include "base/banned.h"

static int add(void *self, struct spn_manager *m, struct spn_client *client, struct spn_err *err)
{
    struct program_scheduler *p = self;
    return scheduler_add(m, client, &p->opt, &p->scheduler, err);
}

static void done(void *self)
{
    struct program_scheduler *p = self;
    p->scheduler = scheduler_free(p->scheduler);
}

struct program_scheduler program_scheduler_usual(void)
{
    return (struct program_scheduler){ .manager = { .name = "default-scheduler",
                                                    .lease = "kube-scheduler",
                                                    .elects = true,
                                                    .add = add,
                                                    .done = done } };
}

int program_scheduler_run(void *self, const struct spn_config *cfg, struct spn_stop *stop,
                          struct spn_err *err)
{
    struct program_scheduler *p = self;
    return program_manage(&p->manager, p, cfg, stop, err);
}
