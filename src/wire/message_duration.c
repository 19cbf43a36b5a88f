#include "wire/message_duration.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/banned.h"

enum { NANO_DIGITS = 9 };
#define SECONDS_MAX 315576000000u /* as protobuf bounds them */

bool message_duration_read(struct str text, int64_t *ret_seconds, int32_t *ret_nanos)
{
    uint64_t seconds, nanos = 0;
    const bool is_negative = str_starts(text, STR("-"));
    struct str rest = str_skip(text, is_negative);
    if (!str_ends(rest, STR("s")))
        return false;
    rest = str_take(rest, rest.n - 1);
    const bool has_point = str_find(rest, '.') >= 0;
    const struct str whole = str_cut(&rest, '.');
    if (!str_to_u64(whole, &seconds) || seconds > SECONDS_MAX)
        return false;
    if (has_point && (rest.n > NANO_DIGITS || !str_to_u64(rest, &nanos)))
        return false;
    for (size_t i = rest.n; has_point && i < NANO_DIGITS; i++)
        nanos *= 10;
    *ret_seconds = is_negative ? -(int64_t)seconds : (int64_t)seconds;
    *ret_nanos = is_negative ? -(int32_t)nanos : (int32_t)nanos;
    return true;
}

struct str message_duration_text(struct arena *a, int64_t seconds, int32_t nanos)
{
    const bool is_negative = seconds < 0 || nanos < 0;
    const uint64_t whole = seconds < 0 ? 0 - (uint64_t)seconds : (uint64_t)seconds;
    const unsigned part = (unsigned)labs((long)nanos);
    struct str text =
        part ? arena_printf(a, "%s%" PRIu64 ".%09u", is_negative ? "-" : "", whole, part)
             : arena_printf(a, "%s%" PRIu64, is_negative ? "-" : "", whole);
    while (part && str_ends(text, STR("0")))
        text = str_take(text, text.n - 1);
    return arena_printf(a, STR_FMT "s", STR_ARG(text));
}
