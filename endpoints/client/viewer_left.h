/* Jobs that have not begun although the client that asked for them has left;
 * the client wanted them to go on without it.
 *
 * The launcher reports only with --verbose what becomes of such a job. Memory:
 * the client's request for the job.
 */
#ifndef ENDPOINTS_CLIENT_VIEWER_LEFT_H
#define ENDPOINTS_CLIENT_VIEWER_LEFT_H

struct ep_viewer;
struct ep_viewers;

/* Keeps the request of a client that leaves, if the client wanted its job to go
 * on without it. When memory is out the job does not begin. O(jobs of clients
 * that have left). */
void ep_viewer_leave_job(struct ep_viewer *viewer);
/* Tries to start all jobs that are kept, in the order in which their clients
 * left. */
void ep_viewers_left_on(struct ep_viewers *all);
/* Drops all kept jobs at the end of the session. From one launch to the next
 * they stay. */
void ep_viewers_left_close(struct ep_viewers *all);

#endif
