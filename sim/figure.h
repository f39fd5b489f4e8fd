/* Formats figures for people: three digits and a unit, computed in integers. */
#ifndef SIM_FIGURE_H
#define SIM_FIGURE_H

#include <stdint.h>

enum { SIM_FIGURE_BYTES = 32 };

/* Each writes the figure into text, which has SIM_FIGURE_BYTES, and returns
 * text. SIM_NEVER becomes a dash. Bytes are in units of 1024, rates in units of
 * 1000. */
const char *sim_figure_time(char *text, uint64_t ns);
const char *sim_figure_bytes(char *text, uint64_t bytes);
const char *sim_figure_rate(char *text, uint64_t rate);

#endif
