/* suite_watch.h - the part of the suite that is about watches. */
#pragma once

void watch_from_every_revision(void **state);
void watch_takes_a_whole_revision_at_once(void **state);
void watch_that_is_full_gets_it_again(void **state);
void watch_below_the_floor_expires(void **state);
void watch_that_is_stuck_expires(void **state);
void watches_may_stop_each_other(void **state);
void watch_reads_history_from_the_log(void **state);
void watch_knows_what_was_there_before(void **state);
void watches_are_woken(void **state);
