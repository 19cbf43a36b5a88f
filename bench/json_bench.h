/* json_bench.h - one turn of each library: parse, write compactly, release; returns the bytes
 * written. The headers of jansson and json-c use the same names, so each has its own file. */
#pragma once

#include "base/str.h"

size_t json_bench_jansson(struct str text);
size_t json_bench_json_c(struct str text);

void json_bench_check(bool good, const char *what); /* ends the program if not */
