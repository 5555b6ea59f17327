/* SPDX-License-Identifier: MIT */
/* Times KernelShark's loader over all buffers of a trace file: prints entries and seconds. */
#include <stdio.h>
#include <time.h>

#include <kernelshark/libkshark-tepdata.h>
#include <kernelshark/libkshark.h>

int main(int argc, char **argv)
{
	struct kshark_context *ks = NULL;
	struct kshark_entry **rows = NULL;
	struct timespec a, b;
	ssize_t n;
	int sd;

	if (argc != 2 || !kshark_instance(&ks))
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &a);
	sd = kshark_open(ks, argv[1]);
	if (sd < 0 || kshark_tep_init_all_buffers(ks, sd) < 0) {
		fprintf(stderr, "libkshark cannot open %s (%d)\n", argv[1], sd);
		return 1;
	}
	n = kshark_load_all_entries(ks, &rows);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%zd %.3f\n", n,
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
	return n < 0;
}
