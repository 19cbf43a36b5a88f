/* probe_result.h - kinds of probes and what they say. */
#pragma once

enum probe_kind { PROBE_STARTUP, PROBE_READINESS, PROBE_LIVENESS, PROBE_KINDS };

enum probe_result {
    PROBE_NONE, /* nothing is known of that container */
    PROBE_UNKNOWN,
    PROBE_SUCCESS,
    PROBE_FAILURE,
};
