/* All descriptors of this process, and pipes. */
#ifndef ENDPOINTS_SYS_FDS_H
#define ENDPOINTS_SYS_FDS_H

/* Closes every descriptor from `first` up. Cost: one system call, or one per
 * open descriptor where the kernel is older than 5.9. Cannot fail. */
void ep_fds_close_from(int first);

/* Does the same by way of /proc/self/fd, or, without /proc, by trying every
 * number up to the descriptor limit. For old kernels, and for tests. */
void ep_fds_close_listed(int first);

/* What a pipe holds after ep_fds_widen: two of the largest frames. */
enum { EP_PIPE_BYTES = 256 * 1024 };

/* Makes a pipe hold EP_PIPE_BYTES, so that the processes at its ends wake each
 * other less often. A larger pipe, a pipe that the system does not let grow,
 * and what is no pipe stay as they are. */
void ep_fds_widen(int fd);

#endif
