/* SPDX-License-Identifier: MIT */
/*
 * Paths in memory that no process has touched: each lies in its own page of a file that was just
 * mapped, and is opened. Then paths that are hard to print: of 4095 bytes, with escapes, of bytes
 * that are no UTF-8. Prints how many were opened.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATHS = 64, PAGE = 65536 }; /* more than the kernel maps around a fault */

int main(void)
{
	char name[] = "/tmp/cold_path.XXXXXX", *map, text[4096], *page = calloc(1, PAGE);
	int fd = mkstemp(name), opened = 0;

	if (fd < 0 || unlink(name) || !page)
		err(1, "%s", name);
	for (int i = 0; i < PATHS; i++) {
		memset(page, 0, PAGE);
		snprintf(page, PAGE, "/nowhere/cold/%d", i);
		if (write(fd, page, PAGE) != PAGE)
			err(1, "write");
	}
	map = mmap(NULL, PATHS * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	for (int i = 0; i < PATHS; i++) {
		openat(AT_FDCWD, map + i * PAGE, O_RDONLY);
		opened++;
	}
	memset(text, 'x', 4095);
	memcpy(text, "/nowhere/long/", 14);
	for (int i = 200; i < 4095; i += 200)
		text[i] = '/';
	text[4095] = 0;
	openat(AT_FDCWD, text, O_RDONLY);
	openat(AT_FDCWD, "/nowhere/\"quoted\"\t\n\\", O_RDONLY);
	openat(AT_FDCWD,
	       "/nowhere/\xff\xc3(\x01"
	       "1",
	       O_RDONLY);
	openat(AT_FDCWD, (const char *)8, O_RDONLY); /* no memory at all */
	printf("%d\n", opened + 4);
	return 0;
}
