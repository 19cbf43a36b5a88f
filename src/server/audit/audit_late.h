/* audit_late.h - events with large answers, which are read and written on a thread of their own: a
 * loop has others to serve. */
#pragma once

#include "server/audit/audit.h"
#include "server/audit/audit_answer.h"

/* Answers of at most so many bytes are shown at once. */
enum { AUDIT_LATE_LEAST = 64 << 10 };

struct audit_late {
    struct str event;       /* JSON without the answer */
    size_t at;              /* where in it the answer belongs: audit_text_json() */
    struct str words;       /* as of audit_record() */
    struct audit_form form; /* of the answer */
    struct str answer;
    bool omits_managers;
};

/* Everything is copied. False if too much waits already (LIMIT_AUDIT_QUEUE_BYTES). */
bool audit_late_record(struct audit *au, const struct audit_late *late);
