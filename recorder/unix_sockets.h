/* SPDX-License-Identifier: MIT */
/* The unix sockets of a network namespace with their other ends, by sock_diag(7). */
#ifndef TY_UNIX_SOCKETS_H
#define TY_UNIX_SOCKETS_H

/*
 * Calls `each` for all unix sockets of this process's own network namespace, with inode and a name
 * as call_data has: "UNIX-STREAM:[17->18,"/run/x"]", " listening" behind it. Not 0 from `each` ends
 * it and is returned; -1: the kernel refuses, or would have to load a module. It only reads.
 */
int ty_unix_sockets(int (*each)(void *ctx, unsigned long inode, const char *text), void *ctx);

#endif
