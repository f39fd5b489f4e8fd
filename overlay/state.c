/* Puts links into a node's queue of links to serve. */
#include "overlay/state.h"

void ov_node_serve(struct ov_node *node, uint16_t index)
{
    struct ov_link *link = &node->links[index];

    OV_ASSERT(index < node->links_max);
    if (link->is_queued || link->state == OV_LINK_FREE)
        return;
    link->is_queued = true;
    link->next = OV_NO_LINK;
    if (node->serve_first == OV_NO_LINK)
        node->serve_first = index;
    else
        node->links[node->serve_last].next = index;
    node->serve_last = index;
}
