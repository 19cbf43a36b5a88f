/* suite_space.h - a network namespace for a test alone, so that the machine's own is never touched.
 */
#pragma once

/* Moves the process into new namespaces. Ends it with 77, which is "skipped", where that is not
 * allowed. Before there are threads. */
void suite_space_enter(void);
