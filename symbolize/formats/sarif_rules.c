/* sarif_rules.c - see sarif_rules.h. */
#include "symbolize/formats/sarif_rules.h"

#include <string.h>

#define FREE_IT "Free the block where the last pointer to it goes away, or let an owner do so."
#define CLOSE_IT "Close it on every path, errors included."
#define PAIR "Release a block with the function that belongs to the one that allocated it."
#define ONCE "Find out who owns the block, and let only that one free it."

static const struct sarif_rule table[] = {
    {"lost", "error", "Lost memory", "Nothing points to the block: it can never be freed.",
     FREE_IT},
    {"indirect", "note", "Memory lost with its owner", "Only lost blocks lead to the block.",
     "Free the record it hangs under, and what that holds."},
    {"possible", "warning", "Possibly lost memory",
     "Only a pointer to the inside of the block, or an unaligned one, is left.", FREE_IT},
    {"hidden", "warning", "Memory held by a hidden pointer",
     "Only a pointer in another form leads to the block: tagged, shifted, encoded.",
     "If the program does not keep such pointers, the block is lost."},
    {"reachable", "note", "Memory still reachable at the end",
     "The program could still free the block.", "Free it, or suppress it if it is kept by design."},
    {"runtime", "note", "Memory of the C and C++ libraries",
     "The C and C++ libraries keep the block for themselves.", "Nothing needs to be done."},
    {"unfreed", "warning", "Memory that was not freed",
     "The block was not freed, and nobody looked whether anything points to it.", FREE_IT},
    {"mismatched-free", "error", "Block released by the wrong function",
     "The block was released by a function of another family than the one that allocated it.",
     PAIR},
    {"double-free", "error", "Block freed twice", "The block had been freed before.", ONCE},
    {"invalid-free", "error", "Free of an address that is no block",
     "The address was never a block of the heap.", "Free only what was allocated."},
    {"interior-free", "error", "Free of an address inside of a block",
     "The address is not the start of the block it is in.", "Keep the pointer that was returned."},
    {"bad-realloc", "error", "Block of new given to realloc",
     "realloc got a block that operator new allocated.", PAIR},
    {"size-mismatch", "error", "delete with the wrong size",
     "A sized delete says another size than new did.",
     "Delete an object as what it is, or give its class a virtual destructor."},
    {"alignment-mismatch", "error", "delete with the wrong alignment",
     "An aligned delete says another alignment than new did.", PAIR},
    {"pool-leak", "error", "Pool destroyed while its blocks lived",
     "The program destroyed a pool of its own, and had not released all of its blocks.",
     "Release them before, or turn the option pool_destroy_leaks off."},
    {"crash", "error", "Killed by a signal",
     "The process was killed by a signal of its own making.",
     "See the stack, and the block that the address is in or behind."},
    {"stack-overflow", "error", "Stack overflow", "A thread used more stack than it has.",
     "See what repeats in the stack."},
    {"fd", "warning", "Descriptor left open", "A descriptor was still open at the end.", CLOSE_IT},
    {"file", "warning", "Stream left open", "A stream was still open at the end.", CLOSE_IT},
    {"dir", "warning", "Directory left open", "A directory was still open at the end.", CLOSE_IT},
    {"mmap", "warning", "Mapping left", "A mapping was still there at the end.",
     "Unmap it on every path, errors included."},
    {"dl", "warning", "Library handle left open", "A library was still held at the end.", CLOSE_IT},
    {"pair", "warning", "Object left", "What one function had created no other one had destroyed.",
     "Destroy it on every path, errors included."},
    {"thread", "warning", "Thread neither joined nor detached",
     "The thread ended, and its stack is kept for a join that never came.", "Join or detach it."},
    {"double-close", "error", "Descriptor closed twice",
     "The number was closed already, and may have been another one's by then.", CLOSE_IT},
    {"bad-close", "error", "Close of a descriptor that never was open",
     "The number never was an open descriptor.", "Close only what was opened."},
    {"other", "warning", "Something else", "See the message.", "See the message."},
};
#define COUNT (sizeof(table) / sizeof(*table))

const struct sarif_rule *sarif_rule(const char *id)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(table[i].id, id) == 0)
            return &table[i];
    return &table[COUNT - 1];
}

size_t sarif_rule_index(const struct sarif_rule *rule)
{
    return (size_t)(rule - table);
}

static void write_text(struct json *json, const char *key, const char *text)
{
    json_open(json, key, '{');
    json->flat = true;
    json_put_text(json, "text", text);
    json_close(json, '}');
    json->flat = false;
}

void sarif_rules(struct json *json)
{
    json_open(json, "rules", '[');
    for (size_t i = 0; i < COUNT; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "id", table[i].id);
        write_text(json, "shortDescription", table[i].brief);
        write_text(json, "fullDescription", table[i].full);
        write_text(json, "help", table[i].help);
        json_open(json, "defaultConfiguration", '{');
        json_put_text(json, "level", table[i].level);
        json_close(json, '}');
        json_open(json, "properties", '{');
        json_open(json, "tags", '[');
        json_put_text(json, NULL, "memory");
        json_put_text(json, NULL, "libleak");
        json_close(json, ']');
        json_close(json, '}');
        json_close(json, '}');
    }
    json_close(json, ']');
}
