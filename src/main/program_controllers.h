/* program_controllers.h - the built-in controllers as a program. */
#pragma once

#include "auth/jwt.h"
#include "controllers/controllers.h"
#include "main/program.h"

struct program_controllers {
    struct program_manager manager;
    struct controllers_options opt; /* texts outlive the run; `sign` is set by the key */
    struct signature_key *key;      /* signs tokens in Secrets; lent; NULL: they stay empty */

    struct controllers *all; /* of the run */
};

/* As one that elects a leader, under upstream's names. */
struct program_controllers program_controllers_usual(void);
program_fn program_controllers_run; /* self: a struct program_controllers */
