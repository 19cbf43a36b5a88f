#include "wire/message.h"

#include "wire/message_table.h"
#include "base/banned.h"

const struct message_type *message_find(struct str full_name)
{
    size_t low = 0, high = n_message_types;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int c = str_cmp(full_name, message_types[middle].name);
        if (c == 0)
            return &message_types[middle];
        if (c < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

struct str message_name(const struct message_type *m)
{
    return m->name;
}
