/* SPDX-License-Identifier: MIT */
/* See kernel_names.h. */
#include "kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "partition.h"

enum { LIST_MAX = 64 << 20 };

struct name {
	uint64_t addr;
	uint32_t at; /* its line in the text */
	bool wanted;
};

ORDER(by_addr, struct name, compare(a->addr, b->addr) ?: compare(a->at, b->at))

/* All lines that name code: "ADDRESS t NAME". */
static bool read_list(const char *path, struct ty_buf *text, struct name **names, size_t *n)
{
	VEC(struct name) v = {0};
	FILE *f = fopen(path, "re");
	char line[1024], type;
	uint64_t addr;
	bool bad = !f;

	while (!bad && fgets(line, sizeof(line), f)) {
		char *end;

		addr = strtoull(line, &end, 16);
		type = end[0] == ' ' ? end[1] : 0;
		if (!addr || !type || !strchr("tTwW", type))
			continue;
		bad = vec_push(&v, ((struct name){.addr = addr, .at = (uint32_t)text->len})) ||
		      ty_buf_add(text, line, strlen(line) + 1);
	}
	if (f)
		fclose(f);
	vec_sort(&v, by_addr);
	*names = v.v;
	*n = v.n;
	return !bad;
}

void ty_kernel_names(const char *path, const struct ty_pair_map *addresses, struct ty_buf *out)
{
	struct name *v = NULL;
	struct ty_buf text;
	size_t n = 0;

	ty_buf_init(&text, LIST_MAX);
	if (read_list(path, &text, &v, &n)) {
		vec_each (a, &addresses->pairs) {
			const uint64_t addr = a->a;
			const size_t i = partition_point(k, (size_t)0, n, v[k].addr <= addr);
			size_t first = i;

			/* All names of one address: which of them is shown is the reader's choice.
			 */
			while (first && v[first - 1].addr == v[i - 1].addr)
				v[--first].wanted = true;
			if (i && i < n)
				v[i].wanted = true;
		}
		for (size_t i = 0; i < n; i++)
			if (v[i].wanted)
				ty_buf_adds(out, text.p + v[i].at);
	}
	free(v);
	ty_buf_fini(&text);
}
