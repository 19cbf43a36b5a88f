/* program.h - programs that act on an API server: controllers, the scheduler, simulated nodes.
 *
 * Each is a function that works until it is stopped. It runs as a command of its own, against any
 * server, or in the process of ours (plane.h). */
#pragma once

#include <sampan/config.h>
#include <sampan/controller.h>

/* 0: it was stopped. Negative: it cannot work, or has to begin anew. */
typedef int program_fn(void *self, const struct spn_config *cfg, struct spn_stop *stop,
                       struct spn_err *err);

/* ---- Alone ---- */

struct program_command {
    /* What is left when the flags that kubectl has were taken: 0, or an exit status + 1. */
    int (*parse)(int argc, char **argv, void *self);
    program_fn *run;
    void *self;
};

/* Returns the exit status; has said what went wrong. */
int program_main(int argc, char **argv, const struct program_command *c);

/* Large blocks of arenas are mapped from now on, so that their memory goes back to the system when
 * what used it ends. For programs that run long; before there are threads. */
void program_return_memory(void);

/* A flag that is a boolean, as Go has it: without a value it is true. False: it is none. */
bool program_bool(const char *value, bool *ret);

/* ---- Those that are controllers ---- */

struct program_manager {
    const char *name;      /* the component of events */
    const char *lease;     /* in kube-system; the leader holds it */
    const char *lease_too; /* and this one; or NULL */
    const char *identity;  /* of the holder; NULL: one of this process */
    const char *health;    /* an address; NULL: health is served nowhere */
    bool elects;
    /* Adds to the manager before it runs, and frees what it made after that. */
    int (*add)(void *self, struct spn_manager *m, struct spn_client *c, struct spn_err *err);
    void (*done)(void *self);
    void (*on_running)(void *self); /* it leads, and works from now on; or NULL */
};

int program_manage(const struct program_manager *p, void *self, const struct spn_config *cfg,
                   struct spn_stop *stop, struct spn_err *err);
