#include "server/flow/flow_borrow.h"

#include <math.h>

#include "base/banned.h"

/* Of what is remembered each time, so that half of it is forgotten in five minutes. */
static const double KEPT = 0.977;

enum { STEPS = 60 /* of a search by halves */ };

void flow_demand_look(struct flow_demand *d, uint32_t seats)
{
    d->n++;
    d->sum += seats;
    d->squares += (double)seats * seats;
    d->highest = seats > d->highest ? seats : d->highest;
}

/* Returns the highest wish. */
static uint32_t demand_close(struct flow_demand *d)
{
    double mean = d->n ? d->sum / d->n : 0, spread = d->n ? d->squares / d->n - mean * mean : 0;
    double wish = mean + (spread > 0 ? sqrt(spread) : 0);
    d->smoothed = wish > d->smoothed ? wish : KEPT * d->smoothed + (1 - KEPT) * wish;
    uint32_t highest = d->highest;
    *d = (struct flow_demand){ .smoothed = d->smoothed };
    return highest;
}

static uint32_t clamp(uint32_t v, uint32_t least, uint32_t most)
{
    return v < least ? least : v > most ? most : v;
}

/* What a level gets if everybody gets this part of his wish. `seats` is its least so far. */
static double part_of(const struct flow_share *s, double part)
{
    double wish = s->demand.smoothed > s->seats ? s->demand.smoothed : s->seats;
    return fmin(fmax(part * wish, s->seats), fmax(s->most, s->seats));
}

static double sum_of(const struct flow_share *shares, size_t n, double part)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += shares[i].is_exempt ? 0 : part_of(&shares[i], part);
    return sum;
}

static double find_part(const struct flow_share *shares, size_t n, double total)
{
    double low = 0, high = total + 1;
    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        if (sum_of(shares, n, middle) < total)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* There is not enough for what all want of their own: the part above the least shrinks. */
static void shrink(struct flow_share *shares, size_t n, double left, double least, double wanted)
{
    double part = left <= least ? 0 : (left - least) / (wanted - least);
    for (size_t i = 0; i < n; i++) {
        struct flow_share *s = &shares[i];
        if (!s->is_exempt)
            s->seats = s->least + (uint32_t)lround((s->seats - s->least) * part);
    }
}

void flow_borrow(struct flow_share *shares, size_t n)
{
    double total = 0, left = 0, least = 0, wanted = 0;
    for (size_t i = 0; i < n; i++) {
        struct flow_share *s = &shares[i];
        uint32_t highest = demand_close(&s->demand);
        total += s->nominal;
        s->seats = clamp(highest, s->least, s->is_exempt ? UINT32_MAX : s->nominal);
        left -= s->is_exempt ? s->seats : 0;
        least += s->is_exempt ? 0 : s->least;
        wanted += s->is_exempt ? 0 : s->seats;
    }
    left += total;
    if (left <= wanted) {
        shrink(shares, n, left, least, wanted);
        return;
    }
    double part = find_part(shares, n, total);
    for (size_t i = 0; i < n; i++)
        if (!shares[i].is_exempt)
            shares[i].seats = (uint32_t)lround(part_of(&shares[i], part));
}
