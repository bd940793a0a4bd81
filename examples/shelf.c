/* shelf.c - a small program that leaks in a few ways; `make demo` runs it under leakrun.
 *
 * A shelf holds books. Three functions lose memory, each by a common mistake. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct book {
    char *title;
    struct book *next;
};

static struct book *shelf;

/* Right: books on the shelf are freed before the program ends. */
static struct book *book_make(const char *title)
{
    struct book *book = malloc(sizeof *book);
    book->title = strdup(title);
    book->next = NULL;
    return book;
}

static void book_free(struct book *book)
{
    free(book->title);
    free(book);
}

/* Wrong: frees the book, but not its title. */
static void careless_customer(int visits)
{
    for (int i = 0; i < visits; i++) {
        struct book *book = book_make("The Mythical Man-Month");
        free(book);
    }
}

/* Wrong: each step allocates a longer array and drops the old one. */
static int *growing_list(int lengths)
{
    int *list = NULL;
    for (int n = 1; n <= lengths; n++) {
        int *longer = malloc((size_t)n * 1024 * sizeof *longer);
        if (list)
            memcpy(longer, list, (size_t)(n - 1) * 1024 * sizeof *list);
        list = longer;
    }
    return list;
}

/* Wrong: the early return on an error leaks the copy. */
static int parse(const char *line)
{
    char *copy = malloc(256);
    snprintf(copy, 256, "%s", line);
    if (copy[0] == '#')
        return -1;
    int length = (int)strlen(copy);
    free(copy);
    return length;
}

int main(void)
{
    for (int i = 0; i < 100; i++) {
        struct book *book = book_make("The C Programming Language");
        book->next = shelf;
        shelf = book;
    }
    careless_customer(250);
    int *list = growing_list(8);
    int errors = 0;
    for (int i = 0; i < 30; i++)
        errors += parse(i % 3 ? "a line" : "# a comment") < 0;
    printf("%d books served, %d lines skipped\n", 350, errors);
    free(list);
    while (shelf) {
        struct book *book = shelf;
        shelf = book->next;
        book_free(book);
    }
    return 0;
}
