/* Lines of container logs: what is read of one lies inside of it. */
#include "node/serve/container_log.h"

#include <assert.h>

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct str whole, struct str part)
{
    assert(!part.n || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str line = { (const char *)data, size };
    struct log_line l;
    char out[LOG_TIME_BYTES];
    if (!log_line_parse(line, &l))
        return 0;
    check_inside(line, l.time);
    check_inside(line, l.text);
    assert(l.time.n);
    struct str time = log_time_text(l.time, out);
    assert(time.n <= LOG_TIME_BYTES || time.p == l.time.p);
    return 0;
}
