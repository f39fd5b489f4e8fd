/* Closes all descriptors of this process, and widens pipes. */
#ifndef ENDPOINTS_SYS_FDS_H
#define ENDPOINTS_SYS_FDS_H

/* Closes every descriptor from `first` up. Cost: one system call, or one per
 * open descriptor where the kernel is older than 5.9. Cannot fail. */
void ep_fds_close_from(int first);

/* Closes the same descriptors with the list in /proc/self/fd, or, without
 * /proc, by trying every number up to the descriptor limit. For old kernels,
 * and for tests. */
void ep_fds_close_listed(int first);

/* The size of a pipe after ep_fds_widen: two of the largest frames. */
enum { EP_PIPE_BYTES = 256 * 1024 };

/* Makes a pipe hold EP_PIPE_BYTES, so that the processes at its ends wake each
 * other less often. Does nothing when the pipe is larger, when the system does
 * not let it grow, or when fd is no pipe. */
void ep_fds_widen(int fd);

#endif
