/* Computes the sizes of a session. */
#include "endpoints/hub/sizes.h"

enum {
    SHARED_LENT_FRAMES = 4,
    /* So many frames that the root need not wait for the slowest leaf while all
     * others have work. */
    DOWN_FRAMES = 32,
    SHARED_DOWN_FRAMES = 16, /* the frames of each node, when a daemon has
                              * several */
    /* The window for a node's own records: with a larger one they would only
     * displace each other from the processor's cache. */
    UP_WINDOW_FRAMES = 4,
    UP_WINDOW_BYTES_MAX = 256 << 10,
    /* The most memory for links and windows; the rest of the bounds is for
     * libraries, code and messages in flight. */
    ONE_NODE_BYTES = 18 << 20,
    FURTHER_NODE_BYTES = 850 << 10,
    FRAME_BYTES_MIN = 8 << 10,
    /* The bounds. The first 32 MiB are for links, windows and unfinished lines;
     * what these leave is for libraries and code, a part of what a link takes
     * besides its frames, and in the launcher the console's spool. */
    BASE_BYTES = 32 << 20,
    NODE_BYTES = 1 << 20,
    /* For each node the launcher has entries in tables; and for a node that it
     * adopts a link beyond those of its plan, which takes 31 KiB as
     * measured. */
    KNOWN_NODE_BYTES = 1 << 10,
    KNOWN_PROC_BYTES = 1 << 9,
    ADOPTED_BYTES = 36 << 10,
    ADOPTED_MAX = 4096,
    /* For each process of a daemon: 2.1 KiB as measured with stdout and stderr,
     * 3 KiB at most with everything that a process can have, and some 500 bytes
     * while the daemon looks at what processes are doing. */
    PROC_BYTES = 7 << 9,
};

/* Returns the number of frames held by a node with that many children. */
static uint64_t frames_of(uint64_t children,
                          const struct ep_session_sizes *sizes)
{
    uint64_t links = children + 1;

    return links * EP_SESSION_POSTED_RECEIVES +
           children * EP_SESSION_UP_FRAMES + sizes->lent + sizes->down_frames +
           EP_SESSION_CONTROL_FRAMES + 6;
}

/* Returns how many children may have what is planned for a child: when a daemon
 * has several nodes, only the children of the plan. */
static uint16_t standing_of(uint64_t children, uint32_t nodes_per_daemon,
                            const struct ep_session_sizes *sizes)
{
    uint64_t frames = ONE_NODE_BYTES / sizes->frame_bytes;
    uint64_t most = children;

    if (nodes_per_daemon == 1 && frames > frames_of(children, sizes))
        most += (frames - frames_of(children, sizes)) /
                (EP_SESSION_POSTED_RECEIVES + EP_SESSION_UP_FRAMES);
    return (uint16_t)(most > 0 ? most : 1);
}

uint32_t ep_session_children(struct topo_tree tree)
{
    return tree.arity < tree.nodes ? tree.arity : tree.nodes - 1;
}

struct ep_session_sizes ep_session_sizes(struct topo_tree tree,
                                         uint32_t nodes_per_daemon)
{
    uint64_t children = ep_session_children(tree);
    uint32_t frame_bytes = 128 * 1024;
    struct ep_session_sizes sizes = {
        .posted_receives = EP_SESSION_POSTED_RECEIVES,
        .up_frames = EP_SESSION_UP_FRAMES,
        .lent =
            nodes_per_daemon > 1 ? SHARED_LENT_FRAMES : EP_SESSION_LENT_FRAMES,
        .down_frames = nodes_per_daemon > 1 ? SHARED_DOWN_FRAMES : DOWN_FRAMES,
    };

    /* Each node has one child on average; an inner node has all of
     * `children`. */
    while (frame_bytes > FRAME_BYTES_MIN &&
           (frames_of(children, &sizes) * frame_bytes > ONE_NODE_BYTES ||
            (nodes_per_daemon > 1 &&
             frames_of(1, &sizes) * frame_bytes > FURTHER_NODE_BYTES)))
        frame_bytes /= 2;
    sizes.frame_bytes = frame_bytes;
    sizes.standing = standing_of(children, nodes_per_daemon, &sizes);
    sizes.up_window_bytes = UP_WINDOW_FRAMES * frame_bytes;
    if (sizes.up_window_bytes > UP_WINDOW_BYTES_MAX)
        sizes.up_window_bytes = UP_WINDOW_BYTES_MAX;
    return sizes;
}

uint64_t ep_session_launcher_bytes(uint64_t nodes, uint64_t procs,
                                   uint64_t adopted)
{
    if (adopted > ADOPTED_MAX)
        adopted = ADOPTED_MAX;
    return BASE_BYTES + nodes * KNOWN_NODE_BYTES + procs * KNOWN_PROC_BYTES +
           adopted * ADOPTED_BYTES;
}

uint64_t ep_session_daemon_bytes(uint64_t nodes, uint64_t procs)
{
    return BASE_BYTES + (nodes - 1) * NODE_BYTES + procs * PROC_BYTES;
}

int ep_session_pack(struct ep_boot_config *config,
                    const struct ep_session_sizes *sizes, uint32_t inputs)
{
    int rc;

    config->frame_bytes = sizes->frame_bytes;
    config->up_window_bytes = sizes->up_window_bytes;
    config->down_window_frames = sizes->down_frames;
    rc = ep_boot_add_param(config, "posted_receives", sizes->posted_receives);
    if (rc == 0)
        rc = ep_boot_add_param(config, "up_frames", sizes->up_frames);
    if (rc == 0)
        rc = ep_boot_add_param(config, "standing", sizes->standing);
    if (rc == 0)
        rc = ep_boot_add_param(config, "lent", sizes->lent);
    if (rc == 0)
        rc = ep_boot_add_param(config, "inputs", inputs);
    return rc;
}

uint32_t ep_session_inputs(const struct ep_boot_config *config)
{
    return (uint32_t)ep_boot_param(config, "inputs", 1);
}

uint64_t ep_session_descriptors(struct topo_tree tree, uint32_t nodes,
                                uint32_t per_node)
{
    uint64_t children = ep_session_children(tree);
    uint64_t links = nodes == 1 ? children + 1 : 2 * (uint64_t)nodes + children;

    /* Each link needs one descriptor, and each 64 links need three; the rest
     * is for the loop, the fabric and the spawner. */
    return links + 3 * (links / 64 + 1) + (uint64_t)nodes * per_node + 64;
}
