/* SPDX-License-Identifier: MIT */
/* The interval of a share that was sampled. */
#ifndef TY_CONFIDENCE_INTERVAL_H
#define TY_CONFIDENCE_INTERVAL_H

/* Where a share of n samples lies with 95% confidence (Wilson's score interval); 0 to 1 of none. */
void ty_wilson(double share, double n, double *low, double *high);

#endif
