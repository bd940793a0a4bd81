/* vld.h - vld.ini: the words of Visual Leak Detector for what libleak has as well.
 *
 * Lines "Name = value" with ; comments and [sections], names and words in any case. They become
 * lines of libleak's own options. What has no form here is written down by name, to be said to who
 * wants to know; what libleak does anyway is passed over. Pure functions: callable anywhere.
 */
#ifndef PRELOAD_VLD_H
#define PRELOAD_VLD_H

#include "preload/text.h"

#define VLD_FILE "vld.ini" /* in the working directory */

/* options: "name=value\n" for each; passed: "Name=value, ..." of what has no form. */
void vld_translate(const char *ini, size_t length, struct text *options, struct text *passed);

#endif
