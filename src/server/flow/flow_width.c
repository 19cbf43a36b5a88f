#include "server/flow/flow_width.h"

#include "base/clock.h"
#include "base/idiom.h"
#include "base/banned.h"

enum {
    OBJECTS_A_SEAT = 100,
    WATCHES_A_SEAT = 10,
    MOST_SEATS = 10,
    EVENT_MS = 5, /* that a seat's watches take for an event */
    MOST_PERCENT = 15,
};

static uint32_t divide_up(uint64_t n, uint32_t by)
{
    return (uint32_t)((n + by - 1) / by);
}

static struct flow_work width_of_list(const struct flow_question *q, uint32_t n_objects,
                                      uint32_t most)
{
    uint64_t n = n_objects;
    if (q->access.name.n)
        n = 1;
    else if (q->limit > 0 && (uint64_t)q->limit < n && !q->has_selector)
        n = (uint64_t)q->limit;
    uint32_t seats = divide_up(n, OBJECTS_A_SEAT);
    seats = seats > most ? most : seats;
    return (struct flow_work){ .seats = seats ? seats : 1 };
}

/* The work that its event makes, as wide as allowed and as long as needed. */
static struct flow_work width_of_write(const struct flow_question *q, uint32_t n_watches,
                                       uint32_t most)
{
    struct flow_work w = { .seats = 1 };
    bool is_token =
        str_eq(q->access.resource, STR("serviceaccounts")) && str_eq(q->access.sub, STR("token"));
    if (n_watches < WATCHES_A_SEAT || is_token)
        return w;
    uint32_t seats = divide_up(n_watches, WATCHES_A_SEAT);
    w.final_seats = seats > most ? most : seats;
    w.extra_ns = (int64_t)EVENT_MS * NS_PER_MS * seats / w.final_seats;
    return w;
}

static bool is_write(struct str verb)
{
    return str_eq(verb, STR("create")) || str_eq(verb, STR("update")) ||
           str_eq(verb, STR("patch")) || str_eq(verb, STR("delete"));
}

struct flow_work flow_width(const struct flow_question *q, uint32_t n_objects, uint32_t n_watches,
                            uint32_t most)
{
    most = !most || most > MOST_SEATS ? MOST_SEATS : most;
    if (str_eq(q->access.verb, STR("list")) ||
        (str_eq(q->access.verb, STR("watch")) && q->wants_objects))
        return width_of_list(q, n_objects, most);
    if (is_write(q->access.verb))
        return width_of_write(q, n_watches, most);
    return (struct flow_work){ .seats = 1 };
}

uint32_t flow_width_most(uint32_t seats, uint32_t hand_size)
{
    if (!hand_size)
        return 0;
    uint32_t part = divide_up((uint64_t)seats * MOST_PERCENT, 100), dealt = seats / hand_size;
    uint32_t most = part < dealt ? part : dealt;
    return most ? most : 1;
}

bool flow_width_is_endless(const struct access *q)
{
    static const struct str connecting[] = { STR("attach"), STR("exec"), STR("proxy"), STR("log"),
                                             STR("portforward") };
    if (str_eq(q->verb, STR("watch")))
        return false;
    if (str_eq(q->verb, STR("proxy")))
        return true;
    for (size_t i = 0; q->is_resource && i < ARRAY_LEN(connecting); i++)
        if (str_eq(q->sub, connecting[i]))
            return true;
    return false;
}
