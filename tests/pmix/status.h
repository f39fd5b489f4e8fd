/* The name of a status, spelled as in libpmix 4.2, whichever libpmix is used.
 *
 * PMIx 5 has the names of the constants instead of words: PMIX_ERR_NOT_FOUND
 * for NOT-FOUND. Tests compare names, so the tools print one spelling.
 */
#ifndef TESTS_PMIX_STATUS_H
#define TESTS_PMIX_STATUS_H

#include <stdio.h>
#include <string.h>

#include <pmix.h>

/* Statuses whose names differ by more than the spelling. */
static const struct {
    const char *name, *words;
} status_words[] = {
    {"PMIX_ERR_EXIT_NONZERO_TERM", "PROC-EXIT-NONZERO-TERM"},
    {"PMIX_ERR_JOB_ABORTED_BY_SIG", "ABORTED-BY-SIGNAL"},
    {"PMIX_ERR_JOB_APP_NOT_EXECUTABLE", "APPLICATION-NOT-EXECUTABLE"},
    {"PMIX_ERR_JOB_EXE_NOT_FOUND", "EXECUTABLE-NOT-FOUND"},
    {"PMIX_ERR_JOB_INSUFFICIENT_RESOURCES", "INSUFFICIENT-RESOURCES"},
    {"PMIX_ERR_JOB_NON_ZERO_TERM", "NON-ZERO-TERMINATION"},
    {"PMIX_ERR_JOB_WDIR_NOT_FOUND", "WORKING-DIRECTORY-NOT-FOUND"},
    {"PMIX_ERR_LOST_CONNECTION", "LOST_CONNECTION"},
    {"PMIX_ERR_NOT_AVAILABLE", "NOT_AVAILABLE"},
    {"PMIX_ERR_UNREACH", "UNREACHABLE"},
    {"PMIX_EVENT_JOB_END", "JOB ENDED"},
    {"PMIX_EVENT_JOB_START", "JOB STARTED"},
    {"PMIX_LAUNCH_COMPLETE", "PMIX LAUNCH COMPLETE"},
};

/* Returns the name, valid until the thread's next call but one. */
static const char *status_name(pmix_status_t status)
{
    static _Thread_local char rooms[2][64];
    static _Thread_local unsigned calls;
    char *words = rooms[calls++ % 2];
    const char *name = PMIx_Error_string(status);
    size_t count = sizeof(status_words) / sizeof(status_words[0]);

    if (strncmp(name, "PMIX_", 5) != 0)
        return name;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, status_words[i].name) == 0)
            return status_words[i].words;
    }
    name += strncmp(name, "PMIX_ERR_", 9) == 0 ? 9 : 5;
    snprintf(words, sizeof(rooms[0]), "%s", name);
    for (char *at = words; *at != '\0'; at++) {
        if (*at == '_')
            *at = '-';
    }
    return words;
}

#endif
