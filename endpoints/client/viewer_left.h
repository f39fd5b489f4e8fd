/* Jobs that clients have asked for and that wait to begin, of those that are to
 * go on without their client: it may go before.
 *
 * What becomes of such a job nobody is told but those who want to know all.
 * Memory: what the client has said of the job.
 */
#ifndef ENDPOINTS_CLIENT_VIEWER_LEFT_H
#define ENDPOINTS_CLIENT_VIEWER_LEFT_H

struct ep_viewer;
struct ep_viewers;

/* The client goes; nothing happens where it has asked for no such job. Without
 * memory the job does not begin. O(jobs that are left). */
void ep_viewer_leave_job(struct ep_viewer *viewer);
/* All of them are tried, in their order. */
void ep_viewers_left_on(struct ep_viewers *all);
/* They are dropped, which else wait over launches. */
void ep_viewers_left_close(struct ep_viewers *all);

#endif
