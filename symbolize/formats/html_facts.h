/* html_facts.h - what the page says of a process in words: its headline, and how it went. */
#ifndef SYMBOLIZE_FORMATS_HTML_FACTS_H
#define SYMBOLIZE_FORMATS_HTML_FACTS_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* "name", "running", "headline": [what is wrong, what else], "facts": [[what, is]] */
void html_facts(struct json *json, const struct process *process);

#endif
