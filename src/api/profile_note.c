#include "api/profile_note.h"

#include "api/words.h"
#include "base/banned.h"

#define LOCALHOST STR("localhost/")

struct str profile_note_type(struct str note, struct str *ret_local)
{
    static const struct profile {
        struct str word, type;
    } profiles[] = {
        { STR("unconfined"), STR("Unconfined") },
        { STR("runtime/default"), STR("RuntimeDefault") },
    };
    *ret_local = STR("");
    if (str_starts(note, LOCALHOST)) {
        *ret_local = str_skip(note, LOCALHOST.n);
        return STR("Localhost");
    }
    const struct profile *profile = words_row(note, profiles);
    return profile ? profile->type : STR("");
}
