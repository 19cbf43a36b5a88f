#include "bench/load_report.h"

#include <stdio.h>

#include "base/json.h"

#include "base/banned.h"

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static double mb(long kb)
{
    return (double)kb / 1024;
}

static double per_second(double n, double seconds)
{
    return seconds > 0 ? n / seconds : 0;
}

double load_result_rate(const struct load_result *r)
{
    return per_second((double)r->stats.latency.n, r->stats.seconds);
}

static double megabytes_rate(const struct load_result *r)
{
    return per_second((double)r->stats.n_bytes / 1e6, r->stats.seconds);
}

static double server_cpu(const struct load_meter *m)
{
    return m->after.cpu_seconds - m->before.cpu_seconds;
}

/* ---- For people ---- */

static void print_latency(const char *what, const struct load_histogram *h)
{
    printf("    %-9s p50 %.2f ms, p99 %.2f ms, max %.2f ms\n", what, ms(load_histogram_at(h, 0.5)),
           ms(load_histogram_at(h, 0.99)), ms(h->max_ns));
}

static void print_server(const struct load_result *r)
{
    const struct load_meter *m = &r->meter;
    double seconds = r->stats.seconds;
    if (m->pid)
        printf("    %-9s cpu %.2f s (%.2f cores); RSS %.1f MB before, %.1f peak, %.1f after; own "
               "%.1f, %.1f, %.1f\n",
               "server", server_cpu(m), per_second(server_cpu(m), seconds), mb(m->before.rss_kb),
               mb(m->peak.rss_kb), mb(m->after.rss_kb), mb(m->before.own_kb), mb(m->peak.own_kb),
               mb(m->after.own_kb));
    printf("    %-9s cpu %.2f s (%.2f cores)\n", "generator", r->stats.own_cpu,
           per_second(r->stats.own_cpu, seconds));
}

static void print_result(const struct load_result *r)
{
    const struct load_stats *s = &r->stats;
    autobuf errors = { 0 };
    load_stats_list_errors(s, false, &errors);
    printf("%-10s %-6s %10.0f/s  %8.1f MB/s  (%llu in %.2f s)  errors: " STR_FMT "\n",
           r->scenario->name, r->target->label, load_result_rate(r), megabytes_rate(r),
           (unsigned long long)s->latency.n, s->seconds,
           STR_ARG(errors.n ? buf_str(&errors) : STR("none")));
    if (s->first_error[0])
        printf("    first     %s\n", s->first_error);
    print_latency(r->scenario->measure ? "to all" : "latency", &s->latency);
    if (s->delivery.n)
        print_latency("to each", &s->delivery);
    print_server(r);
}

/* ---- For machines ---- */

static void add_latency(struct buf *out, const char *name, const struct load_histogram *h)
{
    buf_printf(out, ",\"%s_p50_ms\":%.3f,\"%s_p99_ms\":%.3f,\"%s_max_ms\":%.3f", name,
               ms(load_histogram_at(h, 0.5)), name, ms(load_histogram_at(h, 0.99)), name,
               ms(h->max_ns));
}

static void add_server(struct buf *out, const struct load_meter *m)
{
    if (m->pid == 0)
        return;
    buf_printf(out,
               ",\"server_cpu_s\":%.2f,\"rss_before_kb\":%ld,\"rss_peak_kb\":%ld,"
               "\"rss_after_kb\":%ld,\"own_before_kb\":%ld,\"own_peak_kb\":%ld,"
               "\"own_after_kb\":%ld",
               server_cpu(m), m->before.rss_kb, m->peak.rss_kb, m->after.rss_kb, m->before.own_kb,
               m->peak.own_kb, m->after.own_kb);
}

static void print_json(const struct load_result *r)
{
    const struct load_stats *s = &r->stats;
    autobuf out = { 0 };
    buf_printf(&out,
               "{\"scenario\":\"%s\",\"server\":\"%s\",\"count\":%llu,\"seconds\":%.4f,"
               "\"per_second\":%.1f,\"mb_per_second\":%.2f",
               r->scenario->name, r->target->label, (unsigned long long)s->latency.n, s->seconds,
               load_result_rate(r), megabytes_rate(r));
    add_latency(&out, "latency", &s->latency);
    if (s->delivery.n) {
        buf_printf(&out, ",\"deliveries\":%llu", (unsigned long long)s->delivery.n);
        add_latency(&out, "delivery", &s->delivery);
    }
    add_server(&out, &r->meter);
    buf_printf(&out, ",\"generator_cpu_s\":%.2f,\"n_errors\":%llu,\"errors\":{", s->own_cpu,
               (unsigned long long)load_stats_errors(s));
    load_stats_list_errors(s, true, &out);
    buf_str_add(&out, STR("},\"first_error\":"));
    json_write_string(&out, str_of(s->first_error));
    printf(STR_FMT "}\n", STR_ARG(buf_str(&out)));
}

void load_report(const struct load_result *r, bool json)
{
    if (json)
        print_json(r);
    else
        print_result(r);
    (void)fflush(stdout);
}

/* A watch is compared by its time, everything else by its rate: more is better in both. */
static double ratio(const struct load_result *ours, const struct load_result *theirs)
{
    double a = load_result_rate(ours), b = load_result_rate(theirs);
    if (ours->scenario->measure) {
        a = ms(load_histogram_at(&theirs->stats.latency, 0.99));
        b = ms(load_histogram_at(&ours->stats.latency, 0.99));
    }
    return b > 0 ? a / b : 0;
}

void load_report_ratio(const struct load_result *ours, const struct load_result *theirs, bool json)
{
    const char *a = ours->target->label, *b = theirs->target->label;
    double times = ratio(ours, theirs);
    if (json)
        printf("{\"scenario\":\"%s\",\"ratio\":%.3f}\n", ours->scenario->name, times);
    else if (ours->scenario->measure)
        printf("%-10s %s/%s %.2fx as fast (p99)\n", ours->scenario->name, a, b, times);
    else
        printf("%-10s %s/%s %.2fx\n", ours->scenario->name, a, b, times);
    (void)fflush(stdout);
}
