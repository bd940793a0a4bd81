/* command_table.c - the commands of leakctl, one row each: name, operands, help, options,
 * function. */
#include "control/commands.h"

#define OF_REQUESTS .options = arguments_of_requests, .process = true

const struct command command_table[] = {
    {"snapshot", "PID|NAME", "check a running process for leaks now",
     "Waits until the leak check is in the recording file, and prints its result in one line.",
     .options = arguments_of_snapshot, .process = true, .run = command_snapshot},
    {"mark", "PID|NAME MARK", "give this moment a name",
     "leakreport --since=MARK then reports what was allocated later and still lives.", OF_REQUESTS,
     .operand = true, .run = command_mark},
    {"disable", "PID|NAME", "record no stacks from now on, and report nothing new as a leak",
     "Frees are still recorded. leakctl enable undoes it.", OF_REQUESTS, .run = command_disable},
    {"enable", "PID|NAME", "record stacks again", "Also in a program started with start=off.",
     OF_REQUESTS, .run = command_enable},
    {"attach", "PID [OPTION...]", "load libleak into a process that runs already",
     "Blocks from before have a size and a verdict, but no stack. With --for it reports and "
     "detaches by "
     "itself;\nother options after the PID are then passed to leakreport.",
     .options = arguments_of_attach, .process = true, .other = true, .rest = true,
     .run = command_attach},
    {"detach", "PID", "undo leakctl attach",
     "The program runs as before, and nothing is recorded; the library stays mapped.",
     .options = arguments_of_detach, .process = true, .run = command_detach},
    {"report", "PID|NAME [OPTION...]", "check for leaks, and run leakreport with these options",
     "Options after the process are passed to leakreport.", .options = arguments_of_report,
     .process = true, .rest = true, .run = command_report},
    {"who", "PID|NAME ADDRESS [OPTION...]", "show the block at an address, and what points to it",
     "Options after the address are passed to leakreport.", OF_REQUESTS, .operand = true,
     .rest = true, .run = command_who},
    {"scan", "PID|NAME [OPTION...]", "look for leaks in a process that runs without libleak",
     "Reads its heap from outside: what is lost, by size and class; no call stacks.",
     .options = scan_process_options, .process = true, .other = true, .run = command_scan},
    {"clean", "[OPTION...]", "remove recording files of processes that have ended",
     "Files of other users, other hosts and running processes stay.", .options = arguments_of_clean,
     .run = command_clean},
    {0},
};
