/* SPDX-License-Identifier: MIT */
/*
 * Whose files are: what root makes on behalf of a user who called sudo belongs to that user, told
 * by SUDO_UID and SUDO_GID. Nothing changes where the effective user is not root, where root called
 * sudo, or where one of the two is missing or is no number of a user or group.
 */
#ifndef TY_FILE_OWNER_H
#define TY_FILE_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* Is this user the effective one, or the one who called sudo? */
bool ty_file_owner_is_ours(uid_t uid);
/* Give an open file, which this process has made, to who called sudo. Where the file system refuses
 * (no such owners there), it stays root's. */
void ty_file_owner_give(int fd);

#endif
