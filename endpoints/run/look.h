/* What the processes of a job are doing, as their nodes answer when they are
 * asked. Nodes answer a tenth of a second after the question; a node that has
 * not answered after two seconds counts as silent. Memory: a byte for each
 * process, once the nodes were asked. */
#ifndef ENDPOINTS_RUN_LOOK_H
#define ENDPOINTS_RUN_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct job_life;
struct job_word;
struct run_orders;

enum { RUN_LOOK_MS = 2000 };

/* A look that is all zero has asked no node. */
struct run_look {
    uint8_t *doing; /* owned: an enum job_doing for each rank; or NULL */
    uint64_t asked_ns;
    uint32_t left; /* how many running processes no answer was about */
    uint16_t ticket;
};

void ep_run_look_fini(struct run_look *look);

/* Asks the nodes of all processes that run, unless they were asked less than
 * two seconds ago. Does nothing when memory is out. O(processes). */
void ep_run_look_ask(struct run_look *look, const struct job_life *life,
                     struct run_orders *orders, uint64_t now_ns);
/* Handles a DOING message that is an answer. Returns true when it is the last
 * awaited answer. O(processes in the message). */
bool ep_run_look_hear(struct run_look *look, const struct job_life *life,
                      const struct job_word *word);
/* True when all nodes have answered, or had two seconds to do so. O(1). */
bool ep_run_look_is_over(const struct run_look *look, uint64_t now_ns);

#endif
