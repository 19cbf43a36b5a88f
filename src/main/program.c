#include "main/program.h"

#include <malloc.h>
#include <sampan/log.h>
#include <stdio.h>
#include <string.h>

#include "main/command.h"
#include "base/arena.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- Alone ---- */

static int load_and_run(const struct program_command *c, const struct spn_config_options *options,
                        struct spn_arena *a, struct spn_err *err)
{
    struct spn_config cfg;
    int r = spn_config_load(options, a, &cfg, err);
    if (r < 0)
        return r;
    struct spn_stop *stop = spn_stop_new();
    (void)spn_stop_on_signals(stop);
    r = c->run(c->self, &cfg, stop, err);
    spn_stop_free(stop);
    return r;
}

int program_main(int argc, char **argv, const struct program_command *c)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_config_options options = { 0 };
    struct spn_err err = { 0 };
    const char *name = argv[0];
    int status = 0;
    spn_log_to(spn_log_stderr, NULL, SPN_LOG_INFO);
    if (spn_config_flags(a, &argc, argv, &options, &err) < 0) {
        status = command_misused(name);
    } else {
        int end = c->parse(argc, argv, c->self);
        status = end ? end - 1 : 0;
        if (!end && load_and_run(c, &options, a, &err) < 0)
            status = 1;
    }
    if (err.code)
        fprintf(stderr, "sampan %s: %s\n", name, err.message);
    spn_arena_free(a);
    return status;
}

/* Left alone, malloc would raise its threshold after the first large block and keep them. Small
 * blocks stay with malloc. */
void program_return_memory(void)
{
    enum { MALLOC_ARENAS = 2 };
    (void)mallopt(M_MMAP_THRESHOLD, ARENA_BLOCK_MAX);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * ARENA_BLOCK_MAX);
    (void)mallopt(M_ARENA_MAX, MALLOC_ARENAS); /* each keeps what its threads gave back */
}

bool program_bool(const char *value, bool *ret)
{
    static const char *const words[2][6] = { { "false", "0", "f", "F", "FALSE", "False" },
                                             { "true", "1", "t", "T", "TRUE", "True" } };
    *ret = true;
    if (!value)
        return true;
    for (size_t i = 0; i < 2 * ARRAY_LEN(words[0]); i++)
        if (strcmp(value, words[i % 2][i / 2]) == 0) {
            *ret = i % 2;
            return true;
        }
    return false;
}

/* ---- Those that are controllers ---- */

static int run_manager(const struct program_manager *p, void *self, struct spn_manager *m,
                       struct spn_client *client, struct spn_err *err)
{
    int r = p->add(self, m, client, err);
    if (r < 0)
        return r;
    r = spn_manager_run(m, err);
    p->done(self);
    return r;
}

static int run_client(const struct program_manager *p, void *self, struct spn_client *client,
                      struct spn_stop *stop, struct spn_err *err)
{
    const struct spn_election_options elections[] = {
        { .ns = "kube-system", .name = p->lease, .identity = p->identity },
        { .ns = "kube-system", .name = p->lease_too, .identity = p->identity },
    };
    const struct spn_manager_options opt = { .client = client,
                                             .stop = stop,
                                             .name = p->name,
                                             .election = p->elects ? elections : NULL,
                                             .n_elections = p->lease_too ? 2 : 1,
                                             .health_address = p->health,
                                             .on_running = p->on_running,
                                             .arg = self };
    struct spn_manager *m;
    int r = spn_manager_new(&opt, &m, err);
    if (r < 0)
        return r;
    r = run_manager(p, self, m, client, err);
    spn_manager_free(m);
    return r;
}

int program_manage(const struct program_manager *p, void *self, const struct spn_config *cfg,
                   struct spn_stop *stop, struct spn_err *err)
{
    struct spn_client *client;
    struct spn_config own = *cfg;
    if (!own.user_agent.n)
        own.user_agent = spn_text_of(p->lease); /* as upstream's programs are called */
    int r = spn_client_new(&own, &client, err);
    if (r < 0)
        return r;
    r = run_client(p, self, client, stop, err);
    spn_client_free(client);
    return r;
}
