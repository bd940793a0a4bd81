// Of a lost block with a reference count it is said who freed its last owner, and who freed the owner before, which
// may be the one that did not give up its reference. That is said of no block whose owner gave it away before, nor
// where one function freed both owners. --anonymize removes directories of both.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report --apart store/*.leak; ! %report --anonymize --format=json store/*.leak | grep -oE '"(file|module)": ?"[^"]*/.*'
// EXPECT: ^ +it was owned by a block from make_list\(\), which was freed in drop_list
// EXPECT: ^ +before, by a block that was freed in sort_values
// REFUSE: before, by a block that was freed in (drop_list|hand_over)
// JSON: [f.function for f in hits("make_value")[0].earlier_holder_freed.frames if f.user] == ["sort_values"]
// JSON: [f.line for f in hits("make_value")[0].earlier_holder_freed.frames if f.user] == [line("here")]
// JSON: [f.function for f in hits("make_value")[0].holder_freed.frames if f.user] == ["drop_list"]
// JSON: "/" in [f.file for f in hits("make_value")[0].earlier_holder_freed.frames if f.user][0]
// JSON: hits("make_gift")[0].holder_freed and hits("make_gift")[0].earlier_holder_freed is None
// JSON: hits("make_twice")[0].holder_freed and hits("make_twice")[0].earlier_holder_freed is None

#include <stdlib.h>

#define FAR __attribute__((noinline))

struct value {
    long references;
    char text[40];
};
struct list {
    long number;
    struct value *value;
};

FAR struct value *new_value(void)
{
    struct value *value = malloc(sizeof *value);
    value->references = 1;
    return value;
}
FAR struct value *make_value(void)
{
    return new_value();
}
FAR struct value *make_gift(void)
{
    return new_value();
}
FAR struct value *make_twice(void)
{
    return new_value();
}

FAR void drop_value(struct value *value)
{
    if (--value->references == 0)
        free(value);
}

FAR struct list *make_list(struct value *value)
{
    struct list *list = malloc(sizeof *list);
    value->references++;
    list->value = value;
    return list;
}
FAR void drop_list(struct list *list)
{
    drop_value(list->value);
    free(list);
}

FAR void sort_values(struct value *value)
{
    struct list *entry = malloc(sizeof *entry);
    value->references++;
    entry->value = value;
    free(entry); // here
}

FAR void hand_over(struct value *value)
{
    struct list *entry = malloc(sizeof *entry);
    entry->value = value;
    value->references++;
    entry->value = NULL;
    free(entry);
}

int main(void)
{
    for (int i = 0; i < 8; i++) {
        struct value *value = make_value();
        struct list *list = make_list(value);
        drop_value(value);
        sort_values(value);
        drop_list(list);
    }
    for (int i = 0; i < 8; i++) {
        struct value *gift = make_gift();
        struct list *list = make_list(gift);
        drop_value(gift);
        hand_over(gift);
        drop_list(list);
    }
    for (int i = 0; i < 8; i++) {
        struct value *twice = make_twice();
        drop_list(make_list(twice));
        drop_list(make_list(twice));
    }
    return 0;
}
