/* SPDX-License-Identifier: MIT */
/*
 * Ownership of output files: a file that root creates on behalf of a user who called sudo belongs
 * to that user, as given by SUDO_UID and SUDO_GID. Nothing changes when the effective user is not
 * root, when root called sudo, or when either variable is missing or is not a valid id.
 */
#ifndef TY_FILE_OWNER_H
#define TY_FILE_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* True for the effective user and for the user who called sudo. */
bool ty_file_owner_is_ours(uid_t uid);
/* Gives a file that this process has created to the user who called sudo. The file stays root's
 * where the file system refuses the change. */
void ty_file_owner_give(int fd);

#endif
