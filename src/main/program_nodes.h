/* program_nodes.h - simulated nodes as a program. */
#pragma once

#include "main/program.h"
#include "node/simulated/simulate.h"

struct simulate_options program_nodes_usual(void);
program_fn program_nodes_run; /* self: a struct simulate_options */
