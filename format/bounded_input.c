/* SPDX-License-Identifier: MIT */
#include "bounded_input.h"

#include <string.h>

#include "checked_read.h"
#include "spool_file.h"

/* Makes the bytes at pos available in *p. Returns how many (at least 1); 0 at the end. */
static size_t ready(struct ty_in *in, const uint8_t **p)
{
	if (in->bad || in->pos >= in->end)
		return 0;
	if (in->mem) {
		*p = in->mem + in->pos;
		return (size_t)(in->end - in->pos);
	}
	if (in->pos < in->win_off || in->pos - in->win_off >= in->win_n) {
		int64_t n = ty_pread(in->fd, in->win, TY_IN_WINDOW, in->pos);

		in->win_off = in->pos;
		in->win_n = n > 0 ? (size_t)n : 0;
		if (n <= 0)
			return 0;
	}
	*p = in->win + (in->pos - in->win_off);
	{
		size_t have = in->win_n - (size_t)(in->pos - in->win_off);

		return have < in->end - in->pos ? have : (size_t)(in->end - in->pos);
	}
}

void ty_in_get(struct ty_in *in, void *dst, size_t n)
{
	uint8_t *d = dst;

	if (n > ty_in_left(in)) {
		in->bad = true;
	} else if (!in->mem && n > TY_IN_WINDOW) {
		if (ty_pread(in->fd, dst, n, in->pos) != (int64_t)n)
			in->bad = true;
		else
			in->pos += n;
	} else {
		for (size_t done = 0; done < n;) {
			const uint8_t *p;
			size_t k = ready(in, &p);

			if (!k) {
				in->bad = true;
				break;
			}
			if (k > n - done)
				k = n - done;
			memcpy(d + done, p, k);
			done += k;
			in->pos += k;
		}
	}
	if (in->bad && n)
		memset(dst, 0, n);
}

uint64_t ty_in_uint(struct ty_in *in, unsigned bytes)
{
	uint8_t b[8] = {0};

	ty_in_get(in, b, bytes);
	return ty_load(b, bytes, in->swap);
}

void ty_in_skip(struct ty_in *in, uint64_t n)
{
	if (n > ty_in_left(in))
		in->bad = true;
	else
		in->pos += n;
}

size_t ty_in_str(struct ty_in *in, char *dst, size_t size)
{
	size_t n = 0;

	for (;;) {
		const uint8_t *p, *z;
		size_t k = ready(in, &p);

		if (!k)
			break;
		if (k > size - n)
			k = size - n;
		z = memchr(p, 0, k);
		if (z) {
			memcpy(dst + n, p, (size_t)(z - p) + 1);
			n += (size_t)(z - p);
			in->pos += (size_t)(z - p) + 1;
			return n;
		}
		memcpy(dst + n, p, k);
		n += k;
		in->pos += k;
		if (n == size)
			break;
	}
	in->bad = true;
	dst[0] = 0;
	return 0;
}
