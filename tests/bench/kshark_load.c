/* SPDX-License-Identifier: MIT */
/*
 * Times KernelShark opening a trace file with all its buffers, as its window does
 * (KsDataStore::loadDataFile of its src/KsUtils.cpp): the plugins that it loads by default, or
 * those named; all entries; the collection of each CPU's. Prints the entries, the seconds until
 * they are loaded, and the seconds until the collections are there, too. Usage: kshark_load FILE
 * [PLUGIN.so...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kernelshark/libkshark-plugin.h>
#include <kernelshark/libkshark-tepdata.h>
#include <kernelshark/libkshark.h>

static struct timespec begin;

static double since_begin(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
}

static bool of_cpu(struct kshark_context *ks, struct kshark_entry *e, int sd, int *cpu)
{
	return e->stream_id == sd && e->cpu == *cpu && e->visible & KS_GRAPH_VIEW_FILTER_MASK;
}

static void add_plugin(struct kshark_context *ks, const char *path)
{
	struct kshark_plugin_list *p = kshark_register_plugin(ks, path, path);

	if (!p || !p->process_interface) {
		fprintf(stderr, "libkshark cannot load %s\n", path);
		exit(1);
	}
	for (int sd = 0; sd < ks->n_streams; sd++) {
		struct kshark_data_stream *s = kshark_get_data_stream(ks, sd);

		kshark_handle_dpi(s,
				  kshark_register_plugin_to_stream(s, p->process_interface, true),
				  KSHARK_PLUGIN_INIT);
	}
}

int main(int argc, char **argv)
{
	struct kshark_context *ks = NULL;
	struct kshark_entry **rows = NULL;
	double loaded;
	ssize_t n;
	int sd, *sds;

	if (argc < 2 || !kshark_instance(&ks))
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	sd = kshark_open(ks, argv[1]);
	if (sd < 0 || kshark_tep_init_all_buffers(ks, sd) < 0) {
		fprintf(stderr, "libkshark cannot open %s (%d)\n", argv[1], sd);
		return 1;
	}
	for (int i = 2; i < argc; i++)
		add_plugin(ks, argv[i]);
	n = kshark_load_all_entries(ks, &rows);
	loaded = since_begin();
	sds = kshark_all_streams(ks);
	for (int i = 0; n > 0 && sds && i < ks->n_streams; i++)
		for (int cpu = 0; cpu < ks->stream[sds[i]]->n_cpus; cpu++)
			kshark_register_data_collection(ks, rows, (size_t)n, of_cpu, sds[i], &cpu,
							1, 0);
	fprintf(stdout, "\n%zd %.3f %.3f\n", n, loaded, since_begin());
	return n < 0;
}
