/* The lines of the start-up text, as tables; boot.h says what they are for. */
#ifndef ENDPOINTS_BOOT_BOOT_LINES_H
#define ENDPOINTS_BOOT_BOOT_LINES_H

#include "job/lines.h"

/* Down, of a struct ep_boot_config: between the first line and `go`. */
extern const struct job_line ep_boot_lines[];
/* Down, behind `go`, of a struct ep_boot_peer: one line. */
extern const struct job_line ep_boot_peer_lines[];
/* Up, of a struct ep_boot_up: one for each enum ep_boot_up_kind. */
extern const struct job_line ep_boot_up_lines[];

#endif
