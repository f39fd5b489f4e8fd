/* The lines of the start-up text, as tables; boot.h says what the lines are
 * for. */
#ifndef ENDPOINTS_BOOT_BOOT_LINES_H
#define ENDPOINTS_BOOT_BOOT_LINES_H

#include "job/lines.h"

/* The lines between the first line and `go`, which go down and fill a struct
 * ep_boot_config. */
extern const struct job_line ep_boot_lines[];
/* The line that goes down after `go` and fills a struct ep_boot_peer. */
extern const struct job_line ep_boot_peer_lines[];
/* The lines that go up and fill a struct ep_boot_up: one for each enum
 * ep_boot_up_kind. */
extern const struct job_line ep_boot_up_lines[];

#endif
