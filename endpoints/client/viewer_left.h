/* Jobs that wait to begin although the client that asked for them has gone,
 * because it wanted them to go on without it.
 *
 * What becomes of such a job is told with --verbose only. Memory: what the
 * client has said about the job.
 */
#ifndef ENDPOINTS_CLIENT_VIEWER_LEFT_H
#define ENDPOINTS_CLIENT_VIEWER_LEFT_H

struct ep_viewer;
struct ep_viewers;

/* The client goes. Nothing happens when it has asked for no such job; when
 * memory is out the job does not begin. O(jobs that are left). */
void ep_viewer_leave_job(struct ep_viewer *viewer);
/* Tries to start all of them, in their order. */
void ep_viewers_left_on(struct ep_viewers *all);
/* Drops all of them; otherwise they wait from one launch to the next. */
void ep_viewers_left_close(struct ep_viewers *all);

#endif
