/* SPDX-License-Identifier: MIT */
/* A program in a pseudo-terminal, its screen kept by libvterm. One at a time. */
#ifndef TY_TEST_VT_H
#define TY_TEST_VT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* env: "NAME=value" ..., NULL. */
void ty_vt_start(int w, int h, const char *const *env, const char *const *argv);
/* The same as a shell's job: when it stops for the Nth time, "[stopped N]" is written, and a line
 * typed then continues it. ty_vt_pid and ty_vt_end are of the shell, which ends as the job did. */
void ty_vt_start_job(int w, int h, const char *const *env, const char *const *argv);
/* What is typed, byte for byte. */
void ty_vt_send(const char *bytes, size_t n);
void ty_vt_resize(int w, int h);
/* Read on until the screen shows s (shows it no more); false after 30 s. */
bool ty_vt_shows(const char *s);
bool ty_vt_lacks(const char *s);
/* Read what comes until nothing comes for so long. */
void ty_vt_settle(int ms);
/* The screen as UTF-8 lines; static. */
const char *ty_vt_screen(void);
/* The same with colours, for scripts/screen_png: a line per cell, "x y code fg bg bold reverse". */
void ty_vt_dump(const char *path);
/* Bytes that the program wrote since the start. */
uint64_t ty_vt_bytes(void);
/* Any cell that has a colour of its own. */
bool ty_vt_coloured(void);
/* Is the program on the alternate screen, with the cursor hidden? */
bool ty_vt_taken(void);
int ty_vt_pid(void);
/* Wait until the program (the job) waits for its terminal to take what it writes: up to 30 s, not
 * at all where the kernel does not show it. */
void ty_vt_until_writing(void);
/* Waits for its end: the wait status; -1 when it does not end within 30 s (then it is killed). */
int ty_vt_end(void);

#endif
