/* How equal output of many ranks is shown. */
#ifndef ENDPOINTS_OUTPUT_FOLD_HOW_H
#define ENDPOINTS_OUTPUT_FOLD_HOW_H

enum ep_fold {
    EP_FOLD_NONE,
    EP_FOLD_LIVE, /* lines, as they come */
    EP_FOLD_END,  /* whole outputs, when all have ended */
    EP_FOLD_DIFF, /* that of most ranks, and what the others say otherwise */
};

#endif
