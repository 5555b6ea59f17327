/* SPDX-License-Identifier: MIT */
/* See python_line.h. */
#include "python_line.h"

#include <stdbool.h>

static uint32_t valid(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs: bytes of code, lines that the code behind them is further on. */
static uint32_t lnotab(const uint8_t *p, size_t n, int64_t line, int64_t at)
{
	int64_t end = 0;

	for (size_t i = 0; i + 2 <= n; i += 2) {
		end += p[i];
		if (end > at)
			break;
		line += (int8_t)p[i + 1];
	}
	return valid(line);
}

/* Pairs: bytes of code, lines that this code is further on than that before; -128: no line. */
static uint32_t linetable(const uint8_t *p, size_t n, int64_t line, int64_t at)
{
	int64_t end = 0;

	for (size_t i = 0; i + 2 <= n; i += 2) {
		const int8_t delta = (int8_t)p[i + 1];

		end += p[i];
		if (delta != -128)
			line += delta;
		if (end > at)
			return delta == -128 ? 0 : valid(line);
	}
	return 0;
}

/* Of six bits a byte, the lowest first; bit 6: another byte follows. false: there is none. */
static bool take_varint(const uint8_t *p, size_t n, size_t *at, uint32_t *out)
{
	*out = 0;
	for (unsigned shift = 0; *at < n && shift < 32; shift += 6) {
		const uint8_t b = p[(*at)++];

		*out |= (uint32_t)(b & 63) << shift;
		if (!(b & 64))
			return true;
	}
	return false;
}

/* Entries: a byte with bit 7 set, the kind in bits 3 to 6 and one less than the number of
 * instructions (of two bytes) in bits 0 to 2; then, by the kind, bytes without bit 7. */
static uint32_t locations(const uint8_t *p, size_t n, int64_t line, int64_t at)
{
	enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
	int64_t end = 0;
	size_t i = 0;

	while (i < n) {
		const unsigned kind = p[i] >> 3 & 15;
		uint32_t v = 0;

		if (!(p[i] & 128))
			return 0;
		end += 2 * ((p[i++] & 7) + 1);
		if (kind == LONG || kind == NO_COLUMNS) {
			if (!take_varint(p, n, &i, &v))
				return 0;
			line += v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
		} else if (kind >= ONE_LINE_0 && kind <= ONE_LINE_2) {
			line += kind - ONE_LINE_0;
		}
		if (end > at)
			return kind == NONE ? 0 : valid(line);
		while (i < n && !(p[i] & 128))
			i++;
	}
	return 0;
}

uint32_t ty_python_line(enum ty_py_lines kind, const uint8_t *table, size_t n, int32_t first_line,
			int64_t at)
{
	if (at < 0)
		return valid(first_line);
	switch (kind) {
	case TY_PY_LNOTAB: return lnotab(table, n, first_line, at);
	case TY_PY_LINETABLE: return linetable(table, n, first_line, at);
	case TY_PY_LOCATIONS: return locations(table, n, first_line, at);
	}
	return 0;
}
