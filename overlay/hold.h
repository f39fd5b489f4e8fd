/* Holds: who was beneath a lost child, until somebody else answers for them or
 * the root gives them up. Nothing ends a hold but that: a holder only asks.
 */
#ifndef OVERLAY_HOLD_H
#define OVERLAY_HOLD_H

#include "overlay/state.h"

/* Nobody listens any more, for us, where that former child, or one beneath it,
 * did: there, in the driver's words; the reference passes; NULL: nobody can be
 * asked to look, too. O(places). */
void ov_hold_on_refused(struct ov_node *node, uint32_t who,
                        struct ov_buf *address, struct ov_out *out);

/* What a second witness has seen of one whom we have asked it about. OV_EPROTO.
 */
int ov_hold_on_seen(struct ov_node *node, struct ov_item *item);

/* Holds whose time has come are asked about, or judged by the root; root: who
 * has not joined in time is given up. O(members) for each. */
void ov_hold_on_time(struct ov_node *node, struct ov_out *out);

/* The next member to ask the parent about; false when there is none. */
bool ov_hold_question(struct ov_node *node, struct ov_member_ref *ref);

/* A child's question about its holds: LEFT for those that are elsewhere, none
 * where an ask is on its way, and on to the parent for the rest. OV_EPROTO. */
int ov_hold_on_missing(struct ov_node *node, uint16_t link,
                       struct ov_item *item);

/* The parent's word that members are elsewhere, or lost. OV_EPROTO. */
int ov_hold_on_left(struct ov_node *node, struct ov_item *item);

#endif
