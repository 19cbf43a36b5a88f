/* program_scheduler.h - the scheduler as a program. */
#pragma once

#include "main/program.h"
#include "scheduler/scheduler.h"

struct program_scheduler {
    struct program_manager manager;
    struct scheduler_options opt; /* texts outlive the run */

    struct scheduler *scheduler; /* of the run */
};

/* As one that elects a leader, under upstream's names. */
struct program_scheduler program_scheduler_usual(void);
program_fn program_scheduler_run; /* self: a struct program_scheduler */
