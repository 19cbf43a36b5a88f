#include "main/xray_print.h"

#include "base/json.h"
#include "base/idiom.h"
#include "base/yaml.h"
#include "base/banned.h"

enum { PART_WIDTH = 12, NAME_WIDTH = 36 };

#define GREEN  "\033[32m"
#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define PLAIN  "\033[0m"

static void paint(struct buf *out, const struct xray_style *style, const char *colour)
{
    if (style->has_colours)
        buf_str_add(out, str_of(colour));
}

static double number(const struct value *v)
{
    double ret = 0;
    (void)value_to_double(v, &ret);
    return ret;
}

/* Text that comes from others: nothing in it may steer the terminal. */
static void add_plain(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        buf_byte(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
    }
}

static void add_padded(struct buf *out, struct str text, size_t width)
{
    add_plain(out, text);
    buf_printf(out, "%*s", text.n < width ? (int)(width - text.n) : 1, "");
}

static void add_time(struct buf *out, double microseconds)
{
    if (microseconds < 1000)
        buf_printf(out, "%8.1f us", microseconds);
    else
        buf_printf(out, "%8.2f ms", microseconds / 1000);
}

/* A side of a change: what is small stands beside its path, the rest below it, as YAML. */
static void add_side(struct buf *out, const struct xray_style *style, char sign, struct str path,
                     const struct value *v)
{
    bool is_small = (v->type != VALUE_OBJECT && v->type != VALUE_ARRAY) || !v->n;
    autobuf text = { 0 };
    if (is_small)
        json_write(&text, v);
    else
        yaml_write(&text, v);
    paint(out, style, sign == '+' ? GREEN : RED);
    buf_printf(out, "    %c ", sign);
    add_plain(out, path);
    buf_byte(out, ':');
    struct str rest = buf_str(&text);
    if (is_small) {
        buf_byte(out, ' ');
        add_plain(out, rest);
    }
    while (!is_small && rest.n) {
        buf_printf(out, "\n    %c     ", sign);
        add_plain(out, str_cut(&rest, '\n'));
    }
    paint(out, style, PLAIN);
    buf_byte(out, '\n');
}

static void add_change(struct buf *out, const struct value *change, const struct xray_style *style)
{
    struct str path = value_text(change, "path");
    if (!style->shows_managers && str_starts(path, STR("/metadata/managedFields")))
        return;
    const struct value *was = value_get(change, STR("was")), *now = value_get(change, STR("value"));
    if (was)
        add_side(out, style, '-', path, was);
    if (now)
        add_side(out, style, '+', path, now);
}

static void add_stage(struct buf *out, const struct value *stage, const struct xray_style *style)
{
    struct str verdict = value_text(stage, "verdict");
    const struct value *changes = value_get(stage, STR("changes"));
    bool is_refused = str_eq(verdict, STR("refused"));
    paint(out, style, is_refused ? RED : changes ? BOLD : DIM);
    add_padded(out, value_text(stage, "part"), PART_WIDTH);
    add_padded(out, value_text(stage, "name"), NAME_WIDTH);
    add_time(out, number(value_get(stage, STR("microseconds"))));
    if (verdict.n) {
        buf_str_add(out, STR("  "));
        add_plain(out, verdict);
    }
    paint(out, style, PLAIN);
    buf_byte(out, '\n');
    value_each_item (change, changes)
        add_change(out, change, style);
}

void xray_print(struct buf *out, const struct value *report, const struct xray_style *style)
{
    int64_t code = 0;
    struct str message = value_str(value_dig(report, "answer", "message"));
    value_each_item (stage, value_get(report, STR("stages")))
        add_stage(out, stage, style);
    (void)value_to_int(value_get(report, STR("code")), &code);
    paint(out, style, code < 300 ? GREEN : RED);
    buf_printf(out, "%lld", (long long)code);
    paint(out, style, PLAIN);
    buf_str_add(out, STR(" in "));
    autobuf time = { 0 };
    add_time(&time, number(value_get(report, STR("microseconds"))));
    buf_str_add(out, str_trim(buf_str(&time)));
    if (code >= 300 && message.n) {
        buf_str_add(out, STR(": "));
        add_plain(out, message);
    }
    buf_byte(out, '\n');
}
