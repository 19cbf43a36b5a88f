/* load_report.h - what was measured, for people or as one line of JSON. */
#pragma once

#include "bench/load_scenarios.h"

struct load_result {
    const struct load_scenario *scenario;
    const struct load_target *target;
    struct load_stats stats;
    struct load_meter meter;
};

/* Right answers per second; for list bytes say more. */
double load_result_rate(const struct load_result *r);
void load_report(const struct load_result *r, bool json);
void load_report_ratio(const struct load_result *ours, const struct load_result *theirs, bool json);
