/* Where the output of processes goes: the console, files, or both.
 *
 * Takes the records of any job. On the console, what belongs to the job (its
 * name, and how its lines look) comes with the record as its style. One output
 * has one set of files.
 *
 * Memory: what its sinks use (endpoints/console/console.h,
 * endpoints/output/files.h). Records stay borrowed until all sinks have taken
 * them, so the caller's windows bound what is in hand.
 *
 * All calls and callbacks happen in the thread that runs the event base.
 * Callbacks come from the loop, never from within a call, except as on_written
 * of the console may; they may call everything except ep_output_close.
 */
#ifndef ENDPOINTS_OUTPUT_OUTPUT_H
#define ENDPOINTS_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/console.h"
#include "endpoints/output/names.h"

struct ep_output;

enum ep_output_place { EP_OUTPUT_CONSOLE, EP_OUTPUT_FILES, EP_OUTPUT_PLACES };

struct ep_output_events {
    /* A place has taken these bytes: one record, whole and as it came, in order
     * for each channel. */
    void (*on_written)(void *arg, enum ep_output_place place, uint32_t proc,
                       uint8_t channel, const void *mem, uint32_t len_bytes);
    /* The record is safe in one of the places that have it, or was dropped
     * there. */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* A place takes nothing further: `why` says what cannot be written, and why
     * not. channel: of the console's descriptor; 0: files. Comes once for
     * each. */
    void (*on_error)(void *arg, uint8_t channel, int err, const char *why);
    /* Nothing is pending any longer. */
    void (*on_drained)(void *arg);
    /* Something the user should know. */
    void (*on_note)(void *arg, const char *text);
    /* The place that ep_output_pause() asked for is there. NULL: it is never
     * asked for. */
    void (*on_pause)(void *arg);
};

struct ep_output_cfg {
    struct ep_console_cfg console; /* all but events and arg */
    struct ep_names names;         /* of files; EP_NAMES_NONE: there are none */
    bool file_only;                /* nothing goes to the console */
    uint32_t open_max;             /* files open at a time; 0: 256, or fewer */
    const struct ep_output_events *events;
    void *arg;
};

/* Returns 0, OV_EINVAL (as ep_console_open, or file_only without files),
 * OV_ENOMEM, or OV_ESYS with errno; then *is_files says whether the directory
 * of the files is what cannot be made. */
int ep_output_open(const struct ep_output_cfg *cfg, struct ep_output **out,
                   bool *is_files);

/* Drops what is not written and frees everything, without callbacks. NULL is
 * fine. */
void ep_output_close(struct ep_output *out);

/* Takes one record. A record of a tool (TEXT_CONSOLE_TOOL) goes to the console
 * only. Returns how many places have it, and on_taken comes as often; or
 * OV_EINVAL (channel, length or style out of range, or a tool's record without
 * a console) or OV_ENOMEM: the record then still belongs to the caller. When
 * memory is out for the files alone, on_error says so from within. O(1), never
 * blocks. */
int ep_output_record(struct ep_output *out, const struct job_record *rec);

/* Takes one record for the console alone, whatever it is from. Returns as
 * ep_output_record(); OV_EINVAL also when there is no console. */
int ep_output_show(struct ep_output *out, const struct job_record *rec);

/* No record follows: open lines end here. May be called again. */
void ep_output_finish(struct ep_output *out);

/* Returns how many records are not yet written everywhere, plus what a finish
 * has to do. */
uint64_t ep_output_pending(const struct ep_output *out);

/* Tells whether a place takes nothing, since when, and which. See
 * ep_console_is_stuck(). */
bool ep_output_is_stuck(struct ep_output *out, uint64_t *since_ns,
                        enum ep_output_place *place);

/* Does what ep_console_pause() does; true when there is no console. */
bool ep_output_pause(struct ep_output *out);
void ep_output_resume(struct ep_output *out);

/* Drops everything that is not written, and everything that comes from now on.
 * Interrupts writes that are stuck. */
void ep_output_give_up(struct ep_output *out);

/* Returns how many bytes were dropped, counted for each place. */
uint64_t ep_output_dropped(const struct ep_output *out);

/* Returns how many places there are, and whether this is one of them. */
unsigned ep_output_places(const struct ep_output *out);
bool ep_output_has(const struct ep_output *out, enum ep_output_place place);

#endif
