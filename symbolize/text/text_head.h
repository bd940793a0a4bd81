/* text_head.h - the headline of a process: its name, how it ended, and what matters most. */
#ifndef SYMBOLIZE_TEXT_TEXT_HEAD_H
#define SYMBOLIZE_TEXT_TEXT_HEAD_H

#include "common/view/format_api.h"

/* arguments: several processes are told apart by theirs. */
void text_head(const struct process *process, bool arguments, const struct view *view,
               FILE *stream);

/* What is lost, or may be: ":", and a line for each verdict. False: nothing is, nor is it written.
 */
bool text_losses(const struct process *process, FILE *stream);

/* "name (pid 42) " */
void text_name(const struct process *process, bool arguments, FILE *stream);

/* "4,000 bytes in 10 blocks", or what samples say of them. */
void text_sum(const struct process *process, enum verdict verdict, FILE *stream);

/* Nothing says that libleak was even asked for memory. */
bool text_saw_nothing(const struct process *process);

#endif
