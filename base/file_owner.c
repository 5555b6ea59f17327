/* SPDX-License-Identifier: MIT */
/* See file_owner.h. */
#include "file_owner.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "units.h"

/* A decimal id. UINT32_MAX, which chown() takes as "unchanged", is refused. */
static bool number(const char *s, uint32_t *out)
{
	uint64_t v;

	if (!s || ty_parse_digits(s, strlen(s), UINT32_MAX - 1, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

/* User and group of the sudo caller. False: only the effective user owns files. */
static bool caller(uid_t *uid, gid_t *gid)
{
	uint32_t u, g;

	if (geteuid() || !number(getenv("SUDO_UID"), &u) || !number(getenv("SUDO_GID"), &g) || !u)
		return false;
	*uid = u;
	*gid = g;
	return true;
}

bool ty_file_owner_is_ours(uid_t uid)
{
	uid_t u;
	gid_t g;

	return uid == geteuid() || (caller(&u, &g) && uid == u);
}

void ty_file_owner_give(int fd)
{
	uid_t u;
	gid_t g;

	if (caller(&u, &g))
		(void)!fchown(fd, u, g);
}
