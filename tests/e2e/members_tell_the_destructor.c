// A destructor that frees the members of an object, but not the object: nothing that the same function allocates was
// freed, but what it calls allocates is, all by the destructor, which is named. Where several functions free that, none
// is named, nor is one that calls the allocating function.
// CFLAGS: -O0 -g -fno-optimize-sibling-calls
// RUN: %leak %t; %report --color=never store/*
// EXPECT: ^ +other allocations of the same function are freed in widget_end,$
// EXPECT: ^ +called by use_widget at .*:[0-9]+$
// REFUSE: freed in (take_|serve)
// JSON: [[f.function for f in hits("widget_new")[0].freed_beside if f.function == "widget_end"], hits("parse")[0].freed_beside, hits("answer")[0].freed_beside] == [["widget_end"], None, None]
#include <stdlib.h>
#define FAR __attribute__((noinline))

struct widget {
    char filler[100];
    char *name, *text;
};

FAR char *make_name(void) { return malloc(30); }
FAR char *copy_text(void) { return malloc(40); }
FAR char *make_text(void) { return copy_text(); }

FAR struct widget *widget_new(void)
{
    struct widget *widget = malloc(sizeof(*widget));
    widget->name = make_name();
    widget->text = make_text();
    return widget;
}
FAR void widget_end(struct widget *widget)
{
    free(widget->name);
    free(widget->text); /* not the widget */
}
FAR void use_widget(void) { widget_end(widget_new()); }

FAR char *read_word(void) { return malloc(50); }
FAR char *read_line(void) { return malloc(60); }
FAR char *parse(char **word, char **line)
{
    *word = read_word();
    *line = read_line();
    return malloc(70);
}
FAR void take_word(char *word) { free(word); }
FAR void take_line(char *line) { free(line); }
FAR void use_parser(void)
{
    char *word, *line;

    parse(&word, &line)[0] = 1;
    take_word(word);
    take_line(line);
}

FAR char *ask(void) { return malloc(80); }
FAR char *look(void) { return malloc(81); }
FAR char *answer(char **asked, char **looked)
{
    *asked = ask();
    *looked = look();
    return malloc(90);
}
FAR void serve(void)
{
    char *asked, *looked;

    answer(&asked, &looked)[0] = 1;
    free(asked);
    free(looked);
}

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(void)
{
    use_widget();
    use_parser();
    serve();
    scrub();
    return 0;
}
