/* SPDX-License-Identifier: MIT */
/* A small program whose ELF files the fuzzers start from (tests/fuzz/run compiles it), with a
 * static probe. */
#include "../../include/tarry.h"

struct item {
	int key;
	struct item *next;
};

int table[64];
static int count;

static inline int twice(int n)
{
	return 2 * n;
}

int find(const struct item *i, int key)
{
	for (; i; i = i->next)
		if (i->key == key)
			return tarry_instant("found"), twice(table[key & 63]);
	return ++count;
}

int main(void)
{
	struct item one = {1, 0};

	return find(&one, 1) + find(&one, count);
}
