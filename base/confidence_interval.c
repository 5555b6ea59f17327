/* SPDX-License-Identifier: MIT */
/* See confidence_interval.h. */
#include "confidence_interval.h"

#include <math.h>

void ty_wilson(double share, double n, double *low, double *high)
{
	const double z = 1.959964;
	const double mid = share + z * z / (2 * n), d = 1 + z * z / n;
	const double half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n));

	*low = n > 0 && (mid - half) / d > 0 ? (mid - half) / d : 0;
	*high = n > 0 && (mid + half) / d < 1 ? (mid + half) / d : 1;
}
