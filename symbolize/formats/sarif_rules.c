/* sarif_rules.c - the rules of a SARIF report; described in sarif.h. */
#include "symbolize/formats/sarif.h"

#include <string.h>

#define FREE_IT "Free the block before its last pointer is overwritten, or let an owner free it."
#define PAIR "Free a block with the function that matches its allocation function."
#define ONCE "Give the block one owner, and free it only there."

static const struct sarif_rule table[] = {
    {"lost", "error", "Lost memory", "Nothing points to the block: it can never be freed.",
     FREE_IT},
    {"indirect", "note", "Indirectly lost memory", "Only lost blocks point to the block.",
     "Free the lost block that owns it, and what that block owns."},
    {"possible", "warning", "Possibly lost memory",
     "Only interior or unaligned pointers to the block are left.", FREE_IT},
    {"hidden", "warning", "Memory held by a hidden pointer",
     "Only an encoded pointer leads to the block: tagged, shifted or masked.",
     "If the program does not use such pointers, the block is lost."},
    {"reachable", "note", "Memory still reachable at the end",
     "The program could still free the block.", "Free it, or suppress it if it is kept by design."},
    {"runtime", "note", "Memory of the C and C++ libraries",
     "The C and C++ libraries keep the block for themselves.", "Nothing needs to be done."},
    {"unfreed", "warning", "Unfreed memory",
     "The block was not freed, and no leak check classified it.", FREE_IT},
    {"mismatched-free", "error", "Block released by the wrong function",
     "The block was freed by a function that does not match its allocation function.", PAIR},
    {"double-free", "error", "Block freed twice", "The block was already freed.", ONCE},
    {"invalid-free", "error", "Free of an address that is not a heap block",
     "The address was never a block of the heap.", "Free only what was allocated."},
    {"interior-free", "error", "Free of an interior pointer",
     "The address is inside a block, not at its start.", "Keep the pointer that was returned."},
    {"bad-realloc", "error", "Block of new given to realloc",
     "realloc was called with a block from operator new.", PAIR},
    {"size-mismatch", "error", "delete with the wrong size",
     "A sized delete passed a size that differs from that of new.",
     "Delete an object through its own type, or give its class a virtual destructor."},
    {"alignment-mismatch", "error", "delete with the wrong alignment",
     "An aligned delete passed an alignment that differs from that of new.", PAIR},
    {"pool-leak", "error", "Pool destroyed with live blocks",
     "The program destroyed one of its pools before it released all its blocks.",
     "Release them before, or turn the option pool_destroy_leaks off."},
    {"crash", "error", "Killed by a signal",
     "The process was killed by a signal that it caused itself.",
     "See the stack, and the block at or before the address."},
    {"stack-overflow", "error", "Stack overflow", "A thread exceeded its stack.",
     "See which frames repeat in the stack."},
#define X(name, word, noun, plural, title, sentence, remedy)                                       \
    {word, "warning", title, sentence, remedy},
    LEAK_RESOURCE_TABLE(X)
#undef X
        {"double-close", "error", "Descriptor closed twice",
         "The number was already closed, and may have been reused by another descriptor.",
         LEAK_CLOSE_IT},
    {"bad-close", "error", "Close of a descriptor that was never open",
     "The number was never an open descriptor.", "Close only what was opened."},
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

static void write_sarif_rule_text(struct json_writer *json, const char *key, const char *text)
{
    json_open(json, key, '{');
    json->flat = true;
    json_put_text(json, "text", text);
    json_close(json, '}');
    json->flat = false;
}

void sarif_rules(struct json_writer *json)
{
    json_open(json, "rules", '[');
    for (size_t i = 0; i < COUNT; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "id", table[i].id);
        write_sarif_rule_text(json, "shortDescription", table[i].brief);
        write_sarif_rule_text(json, "fullDescription", table[i].full);
        write_sarif_rule_text(json, "help", table[i].help);
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
