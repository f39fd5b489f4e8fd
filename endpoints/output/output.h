/* The output of processes: it goes to the console, to files, or to both. Each
 * of these is a place.
 *
 * An output takes the records of all jobs. For the console, each record carries
 * the style of its job (name, and how its lines look). An output has one set of
 * files.
 *
 * Memory: that of the console and the files (endpoints/console/console.h,
 * endpoints/output/files.h). Records stay borrowed until all places have taken
 * them, so the caller's windows bound the records in hand.
 *
 * All calls and callbacks happen in the thread that runs the event base.
 * Callbacks come from the loop, never from within a call, except that the
 * console's on_written may; they may call everything except ep_output_close.
 */
#ifndef ENDPOINTS_OUTPUT_OUTPUT_H
#define ENDPOINTS_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/console.h"
#include "endpoints/output/folds.h"
#include "endpoints/output/names.h"

struct ep_output;

enum ep_output_place { EP_OUTPUT_CONSOLE, EP_OUTPUT_FILES, EP_OUTPUT_PLACES };

struct ep_output_events {
    /* A place has written these bytes: one record, whole and unchanged, in
     * order for each channel. */
    void (*on_written)(void *arg, enum ep_output_place place, uint32_t proc,
                       uint8_t channel, const void *mem, uint32_t len_bytes);
    /* One place has written, spooled or dropped the record. Called once for
     * each place that the record went to. */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* A place takes no further output: `why` names what cannot be written, and
     * the reason. `channel` is that of the console's descriptor; 0: the files.
     * Called at most once for each. */
    void (*on_error)(void *arg, uint8_t channel, int err, const char *why);
    /* All output is written or dropped. */
    void (*on_drained)(void *arg);
    /* A message for the user. */
    void (*on_note)(void *arg, const char *text);
    /* stderr is now free for other writers, as ep_output_pause() asked. May be
     * NULL when ep_output_pause() is not called. */
    void (*on_pause)(void *arg);
};

struct ep_output_cfg {
    struct ep_console_cfg console; /* its events and arg are not used */
    /* names of files; EP_NAMES_NONE: no files are written */
    struct ep_names names;
    bool file_only;    /* nothing goes to the console; else with exact names
                          only channels without files do */
    uint32_t open_max; /* most files open at a time; 0: 256, or fewer */
    /* Not 0: the console shows one of this many ranks after the other
     * (endpoints/output/turns.h). A rank has ended when these channels of it
     * have (bits, 1 << TEXT_CHANNEL_). */
    uint32_t turns;
    uint8_t turn_channels;
    /* Not 0, and turns is 0: the console shows equal lines of this many ranks
     * once (endpoints/output/folds.h); channels and ranks as with turns. */
    uint32_t folds;
    enum ep_fold fold_how;
    /* False: no output of this rank comes. NULL: that of all ranks does. */
    bool (*has_turn)(const void *arg, uint32_t rank);
    const void *turn_arg;
    const struct ep_output_events *events;
    void *arg;
};

/* Opens an output. Returns 0, OV_EINVAL (as ep_console_open, or file_only
 * without files), OV_ENOMEM, or OV_ESYS with errno; *is_files is then true when
 * it is the directory of the files that cannot be made. */
int ep_output_open(const struct ep_output_cfg *cfg, struct ep_output **out,
                   bool *is_files);

/* Drops what is not written and frees everything, without callbacks. NULL is
 * fine. */
void ep_output_close(struct ep_output *out);

/* Takes one record. A record of a tool (TEXT_CONSOLE_TOOL) goes to the console
 * only. Returns the number of places that the record goes to: on_taken is
 * called this often. Or OV_EINVAL (channel, length or style out of range, or a
 * tool's record without a console) or OV_ENOMEM: the record then still belongs
 * to the caller. When memory is out for the files alone, on_error is called
 * from within. O(1), never blocks. */
int ep_output_record(struct ep_output *out, const struct job_record *rec);

/* Takes one record for the console alone, whatever its origin. Returns what
 * ep_output_record() returns; OV_EINVAL also when there is no console. */
int ep_output_show(struct ep_output *out, const struct job_record *rec);

/* Says that no record follows: open lines are ended. May be called again. */
void ep_output_finish(struct ep_output *out);

/* Returns the number of records that are not written everywhere yet, plus the
 * work that ep_output_finish has still to do. */
uint64_t ep_output_pending(const struct ep_output *out);

/* True when output waits for a place that takes none; finds since when, and
 * which place. See ep_console_is_stuck(). */
bool ep_output_is_stuck(struct ep_output *out, uint64_t *since_ns,
                        enum ep_output_place *place);

/* Stops the console as ep_console_pause() does; true when there is no
 * console. */
bool ep_output_pause(struct ep_output *out);
void ep_output_resume(struct ep_output *out);

/* Shows a line of status on the terminal that is stderr, as ep_console_status()
 * does; also where output goes to files only. */
bool ep_output_status(struct ep_output *out, const char *text);
/* Hold, forget and erase that line and the bars, as ep_console_hold(),
 * ep_console_forget() and ep_console_settle() do. */
bool ep_output_hold(struct ep_output *out, bool is_held);
void ep_output_forget(struct ep_output *out);
void ep_output_settle(struct ep_output *out);

/* Drops all output that is not written, and all that comes from now on.
 * Interrupts writes that are stuck. */
void ep_output_give_up(struct ep_output *out);

/* Returns the number of bytes dropped, a byte counting once for each place that
 * dropped it. */
uint64_t ep_output_dropped(const struct ep_output *out);

/* The first returns to how many places each record goes, and the second the
 * number of this place among these, from 0. The third is true when there is
 * this place. */
unsigned ep_output_places(const struct ep_output *out);
unsigned ep_output_nth(const struct ep_output *out, enum ep_output_place place);
bool ep_output_has(const struct ep_output *out, enum ep_output_place place);

#endif
