/* match.h - is this the answer that was recorded?
 *
 * Expected trees hold marks where a recording cannot be repeated: {ns}, <uid:N>, <rv:N>, <ip:N>,
 * <nodePort:N> (numbered, so that equal things must stay equal within a case), <rv>, <time>, <gen>,
 * <continue>, <any>, <sha256>, <kid:N>, <date>; names in braces are given beforehand; a token is
 * {"<jwt>": ...}. The expected side is walked and each mark is held against what really came. Key
 * order does not matter, list order does; metadata.managedFields is not compared. */
#pragma once

#include "base/map.h"
#include "base/value.h"

/* What stands for a name in braces, also a number for one in quotes. */
struct match_name {
    struct str name, text; /* "{webhook}", "https://127.0.0.1:4711" */
};

struct match {
    struct arena *arena;   /* of the case */
    struct str ns;         /* what {ns} stands for; may be empty */
    struct str advertised; /* what {advertised} stands for */
    const struct match_name *names;
    size_t n_names;
    int64_t now_sec;     /* for <time> */
    struct map meanings; /* mark → struct str *, by first appearance */
    struct map marks;    /* "kind value" → struct str *: no two marks mean the same thing */
    struct str words;    /* lines: descriptions of columns that may stand where others do */
    struct buf *diff;    /* if set: where and how they differ */
};

void match_done(struct match *m);

/* `at` names the place, for the diff. */
bool match_value(struct match *m, const struct value *want, const struct value *got, struct str at);
/* The name that `text` begins with; NULL: none. */
const struct match_name *match_name_at(const struct match *m, struct str text);
bool match_text(struct match *m, struct str want, struct str got);
