/* call_tree.c - makes a tree of calls from the stacks of a profile; described in profile.h. */
#include "symbolize/profile/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *call_node_name(const struct call_node *node, char buffer[FRAME_NAME_SIZE])
{
    if (node->frame)
        return frame_name(node->frame, buffer);
    if (!node->process)
        return node->label ? node->label : "all";
    snprintf(buffer, FRAME_NAME_SIZE, "%.4000s (pid %" PRId32 ")", process_name(node->process),
             node->process->pid);
    return buffer;
}

/* Returns the index of the call `made` below the node `up`; adds the call to the tree if it is
 * new. */
static uint32_t call_below(struct call_tree *tree, uint32_t up, uint64_t hash,
                           struct call_node made)
{
    uint64_t *slot = hashmap_put(&tree->by_call, hash_mix(hash, up), NULL);

    if (!*slot) {
        tree->nodes =
            array_grow(tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes));
        made.up = up;
        tree->nodes[tree->count] = made;
        *slot = tree->count++;
    }
    return (uint32_t)*slot;
}

static uint32_t process_below(struct call_tree *tree, uint32_t up, const struct process *process)
{
    return call_below(tree, up, hash_mix(3, (uintptr_t)process),
                      (struct call_node){.process = process});
}

/* Returns the number of frames of a stack without the frames of the C library that call main,
 * because all stacks have these. */
static size_t without_runtime(const struct profile_stack *stack)
{
    size_t count = stack->count;

    while (count && stack->frames[count - 1]->role == FRAME_RUNTIME)
        count--;
    return count ? count : stack->count;
}

static void add_stack(struct call_tree *tree, struct heap_profile *profile,
                      const struct profile_stack *stack, const struct amount *amount, bool inverted)
{
    size_t count = profile->view->all_frames ? stack->count : without_runtime(stack);
    uint32_t at = 0;

    if (profile->many && !inverted)
        at = process_below(tree, at, stack->process);
    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = stack->frames[inverted ? i : count - 1 - i];

        at = call_below(tree, at, heap_profile_hash_frame(profile, frame),
                        (struct call_node){.frame = frame});
    }
    if (stack->label)
        at = call_below(tree, at, hash_text(4, stack->label, strlen(stack->label)),
                        (struct call_node){.label = stack->label});
    if (profile->many && inverted)
        at = process_below(tree, at, stack->process);
    amount_add(&tree->nodes[at].own, *amount);
}

struct ranked {
    const struct call_node *node;
    uint32_t index;
};

static int compare_calls(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int by = COMPARE(b->node->all.bytes, a->node->all.bytes);

    by = by ? by : COMPARE(b->node->all.blocks, a->node->all.blocks);
    return by ? by : COMPARE(a->index, b->index);
}

/* Computes the sums, and links the calls of each node. Linking begins with the smallest call, each
 * in front of the list, so that the list is sorted by descending bytes. */
static void finish_tree(struct call_tree *tree)
{
    struct ranked *order = array_grow(NULL, &(size_t){0}, tree->count, sizeof(*order));

    for (size_t i = 0; i < tree->count; i++)
        tree->nodes[i].all = tree->nodes[i].own;
    for (size_t i = tree->count - 1; i > 0; i--)
        amount_add(&tree->nodes[tree->nodes[i].up].all, tree->nodes[i].all);
    for (size_t i = 0; i < tree->count; i++)
        order[i] = (struct ranked){&tree->nodes[i], (uint32_t)i};
    qsort(order, tree->count, sizeof(*order), compare_calls);
    for (size_t i = tree->count; i-- > 0;) {
        uint32_t index = order[i].index;

        if (!index)
            continue;
        tree->nodes[index].next = tree->nodes[tree->nodes[index].up].first;
        tree->nodes[tree->nodes[index].up].first = index;
    }
    free(order);
}

struct call_tree call_tree_begin(struct heap_profile *profile, enum weight weight, bool inverted)
{
    struct call_tree tree = {0};

    tree.nodes = array_grow(NULL, &tree.capacity, 1, sizeof(*tree.nodes));
    tree.nodes[tree.count++] = (struct call_node){0};
    for (size_t i = 0; i < profile->count; i++) {
        const struct amount *amount = &profile->stacks[i].of[weight];

        if (amount->bytes || amount->blocks)
            add_stack(&tree, profile, &profile->stacks[i], amount, inverted);
    }
    finish_tree(&tree);
    hashmap_end(&tree.by_call);
    return tree;
}

void call_tree_end(struct call_tree *tree)
{
    free(tree->nodes);
    *tree = (struct call_tree){0};
}

void call_tree_check(const struct call_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct call_node *node = &tree->nodes[i];
        struct amount sum = node->own;

        for (uint32_t at = node->first; at; at = tree->nodes[at].next) {
            assert(tree->nodes[at].up == i && at > i);
            amount_add(&sum, tree->nodes[at].all);
        }
        assert(sum.bytes == node->all.bytes && sum.blocks == node->all.blocks);
    }
}
