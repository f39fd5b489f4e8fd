/* Descriptors of this process as a whole. */
#ifndef ENDPOINTS_SYS_FDS_H
#define ENDPOINTS_SYS_FDS_H

/* Closes every descriptor from `first` up. Cost: one system call, or one per
 * open descriptor where the kernel is older than 5.9. Cannot fail.
 */
void ep_fds_close_from(int first);

/* The same by way of /proc/self/fd, and by trying every number up to the
 * descriptor limit where /proc is missing. For old kernels, and for tests.
 */
void ep_fds_close_listed(int first);

#endif
