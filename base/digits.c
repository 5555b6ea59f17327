/* SPDX-License-Identifier: MIT */
#include "digits.h"

#include <endian.h>
#include <string.h>

#define TEN(m) UINT64_C(1##m)

char *ty_put_big_dec(char *p, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	static const uint64_t tens[] = {TEN(),
					TEN(0),
					TEN(00),
					TEN(000),
					TEN(0000),
					TEN(00000),
					TEN(000000),
					TEN(0000000),
					TEN(00000000),
					TEN(000000000),
					TEN(0000000000),
					TEN(00000000000),
					TEN(000000000000),
					TEN(0000000000000),
					TEN(00000000000000),
					TEN(000000000000000),
					TEN(0000000000000000),
					TEN(00000000000000000),
					TEN(000000000000000000),
					TEN(0000000000000000000)};
	/* Number of digits from number of bits: 1233 / 4096 is slightly more than log10(2). */
	unsigned n = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;
	char *end;

	n += n < 20 && v >= tens[n];
	n += !n;
	end = p += n;
	for (; v >= 100; v /= 100)
		memcpy(p -= 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(p - 2, pairs + v * 2, 2);
	else
		p[-1] = (char)('0' + v);
	return end;
}

/* Eight digits of 32 bits, in a word whose first byte is the first digit. */
static uint64_t hex8(uint64_t v)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	v = (v << 16 | v) & UINT64_C(0x0000ffff0000ffff);
	v = (v << 8 | v) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v << 4 | v) & ones * 0x0f;
	/* distance from the character after '9' to 'a': 39 */
	v += ones * '0' + ((v + ones * 6) >> 4 & ones) * ('a' - '0' - 10);
	return htobe64(v);
}

char *ty_put_hex(char *p, uint64_t v)
{
	unsigned n = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;
	uint64_t digits[4] = {hex8(v >> 32), hex8(v & UINT32_MAX)};

	*p++ = '0';
	*p++ = 'x';
	memcpy(p, (const char *)digits + 16 - n, 16); /* bytes after the last digit are garbage */
	return p + n;
}
