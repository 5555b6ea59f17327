/* SPDX-License-Identifier: MIT */
/* Load every buffer of a trace file with KernelShark's loader and print how many entries it gives.
 */
#include <stdio.h>
#include <stdlib.h>

#include <kernelshark/libkshark-tepdata.h>
#include <kernelshark/libkshark.h>

int main(int argc, char **argv)
{
	struct kshark_context *ks = NULL;
	long total = 0;
	int sd, *all;

	if (argc != 2 || !kshark_instance(&ks))
		return 2;
	sd = kshark_open(ks, argv[1]);
	if (sd < 0 || kshark_tep_init_all_buffers(ks, sd) < 0) {
		fprintf(stderr, "libkshark cannot open %s (%d)\n", argv[1], sd);
		return 1;
	}
	all = kshark_all_streams(ks);
	for (int i = 0; i < ks->n_streams; i++) {
		struct kshark_entry **rows = NULL;
		ssize_t n = kshark_load_entries(ks, all[i], &rows);

		if (n < 0)
			return 1;
		total += n;
	}
	printf("%ld\n", total);
	return 0;
}
