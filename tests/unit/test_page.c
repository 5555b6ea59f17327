/* SPDX-License-Identifier: MIT */
/* Pages of lines: what takes more than a row. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "fixture_timeline.h"
#include "page.h"

/* A call's line takes one row, with the end of its path; the chosen one is shown in whole. */
static void lines_of_calls_are_brief(void **state)
{
	static const char path[] = "/usr/local/lib/python3.11/site-packages/some/long/request.py";
	struct ty_page p = {0};
	const char *s;

	for (int i = 0; i < 3; i++) {
		ty_page_add(&p, TY_ROLE_TEXT, "%d.000 us  app.py/12  read %s", i, path);
		ty_page_link(&p, 0, 0);
		if (i < 2)
			ty_page_link_calls(&p);
	}
	s = ty_tl_view_frame(&ty_page_ops, &p, &ty_tl_utf8, 60, 12);
	if (!strstr(s, ">0.000 us  app.py/12  read\n   /usr/local/lib/python3.11/site-packages") ||
	    !strstr(s, " 1.000 us  app.py/12  read \xe2\x80\xa6/some/long/request.py\n") ||
	    !strstr(s, " 2.000 us  app.py/12  read\n   /usr/local/lib/"))
		fail_msg("%s", s);
	assert_int_equal(ty_page_ops.act(&p, TY_ACT_DOWN), TY_VIEW_CHANGED);
	s = ty_tl_view_frame(&ty_page_ops, &p, &ty_tl_ascii, 60, 12);
	if (!strstr(s, " 0.000 us  app.py/12  read ~/some/long/request.py\n") ||
	    !strstr(s, ">1.000 us  app.py/12  read\n   /usr/local/lib/python3.11/"))
		fail_msg("%s", s);
	/* A click on the row below the chosen line's is still that line. */
	ty_page_ops.mouse(&p, &(struct ty_mouse){TY_MOUSE_CLICK, 5, 3, false});
	assert_int_equal(p.at, 1);
	/* At every size, nothing is written beyond the screen. */
	for (int w = 1; w < 90; w++)
		ty_tl_view_frame(&ty_page_ops, &p, &ty_tl_utf8, w, 5);
	ty_page_reset(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_calls_are_brief),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
