/* SPDX-License-Identifier: MIT */
/* Folders in sysfs whose files are fixed texts, for the kernel modules here: struct attribute *v[]
 * = {TEXT(type, "8"), NULL}, then GROUP("folder", v). */
#ifndef TY_SYSFS_TEXT_H
#define TY_SYSFS_TEXT_H

#include <linux/device.h>
#include <linux/sysfs.h>

static ssize_t show(struct device *d, struct device_attribute *a, char *out)
{
	return sysfs_emit(out, "%s\n",
			  (char *)container_of(a, struct dev_ext_attribute, attr)->var);
}
#define TEXT(file, text)                                                                           \
	&((struct dev_ext_attribute){__ATTR(file, 0444, show, NULL), text}).attr.attr
#define GROUP(folder, files)                                                                       \
	&(struct attribute_group)                                                                  \
	{                                                                                          \
		.name = folder, .attrs = files                                                     \
	}

#endif
