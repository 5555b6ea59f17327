/* SPDX-License-Identifier: MIT */
/* Names of block devices, from a made-up /proc and /sys: a disk with two partitions, one of which
 * carries a mapped device; a disk that is mounted as a whole; one that is not mounted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk_names.h"

static char root[] = "/tmp/tarry-disks-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[300];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(full, 0700);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void points_to(const char *path, const char *to)
{
	char full[300];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_return_code(symlink(to, full), 0);
}

static int setup(void **state)
{
	assert_non_null(mkdtemp(root));
	put("/proc/partitions", "major minor  #blocks  name\n\n"
				" 259 0 500 nvme0n1\n 259 1 100 nvme0n1p1\n 259 2 400 nvme0n1p2\n"
				" 253 0 400 dm-0\n 7 0 20 loop0\n 7 1 0 loop1\n 8 0 20 sda\n");
	put("/proc/self/mountinfo",
	    "20 1 0:21 / /proc rw - proc proc rw\n"
	    "21 1 253:0 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw\n"
	    "22 21 259:1 / /boot rw - ext4 /dev/nvme0n1p1 rw\n"
	    "23 21 253:0 /srv /bound rw - ext4 /dev/mapper/vg-root rw\n"
	    "24 21 7:0 / /mnt/a\\040b rw - ext4 /dev/loop0 rw\n"
	    "25 21 7:0 / /mnt/c rw - ext4 /dev/loop0 rw\n"
	    "26 21 7:0 / /mnt/d rw - ext4 /dev/loop0 rw\n"
	    "27 21 7:0 / /mnt/e rw - ext4 /dev/loop0 rw\n"
	    "cut\n28 21 7:0\n");
	put("/sys/devices/nvme0n1/dev", "259:0\n");
	put("/sys/devices/nvme0n1/nvme0n1p1/partition", "1\n");
	put("/sys/devices/nvme0n1/nvme0n1p2/partition", "2\n");
	put("/sys/devices/nvme0n1/nvme0n1p2/dev", "259:2\n");
	put("/sys/devices/dm-0/dm/name", "vg-root\n");
	put("/sys/devices/dm-0/slaves/here", "");
	points_to("/sys/devices/dm-0/slaves/nvme0n1p2", "../../nvme0n1/nvme0n1p2");
	put("/sys/dev/block/here", "");
	points_to("/sys/dev/block/259:0", "../../devices/nvme0n1");
	points_to("/sys/dev/block/259:1", "../../devices/nvme0n1/nvme0n1p1");
	points_to("/sys/dev/block/259:2", "../../devices/nvme0n1/nvme0n1p2");
	points_to("/sys/dev/block/253:0", "../../devices/dm-0");
	return 0;
}

static int teardown(void **state)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	return system(cmd);
}

static void devices_have_names_and_mounts(void **state)
{
	struct ty_buf b;

	ty_buf_init(&b, 1 << 16);
	ty_disk_names(&b, root);
	assert_string_equal(b.p, "disk=259 0 nvme0n1 /, /boot\n"
				 "disk=259 1 nvme0n1p1 /boot\n"
				 "disk=259 2 nvme0n1p2 /\n"
				 "disk=253 0 vg-root /\n"
				 "disk=7 0 loop0 /mnt/a b, /mnt/c, /mnt/d, ...\n"
				 "disk=8 0 sda \n");
	ty_buf_fini(&b);
}

static void without_files_there_are_no_names(void **state)
{
	struct ty_buf b;

	ty_buf_init(&b, 1 << 16);
	ty_disk_names(&b, "/nonexistent");
	assert_int_equal(b.len, 0);
	ty_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_have_names_and_mounts),
		cmocka_unit_test(without_files_there_are_no_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
