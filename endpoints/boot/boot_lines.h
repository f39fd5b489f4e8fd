/* The lines of the start-up text, as tables; boot.h says what they are for. */
#ifndef ENDPOINTS_BOOT_BOOT_LINES_H
#define ENDPOINTS_BOOT_BOOT_LINES_H

#include "job/lines.h"

/* Lines that go down, of a struct ep_boot_config: between the first line and
 * `go`. */
extern const struct job_line ep_boot_lines[];
/* The line that goes down after `go`, of a struct ep_boot_peer. */
extern const struct job_line ep_boot_peer_lines[];
/* Lines that go up, of a struct ep_boot_up: one for each enum
 * ep_boot_up_kind. */
extern const struct job_line ep_boot_up_lines[];

#endif
