#include "controllers/common/times.h"

#include "api/go/gotime.h"
#include "base/clock.h"
#include "client/bridge.h"
#include "base/banned.h"

bool time_read(const struct spn_value *v, int64_t *ret_ns)
{
    return gotime_read_ns(str_in(spn_value_text(v)), ret_ns);
}

struct spn_text time_text(struct spn_arena *a, int64_t wall_ns)
{
    char text[CLOCK_TEXT_BYTES];
    return spn_arena_text(a, text_out(clock_format(wall_ns, false, text)));
}

int64_t time_now(void)
{
    return clock_wall_ns(&clock_system);
}
