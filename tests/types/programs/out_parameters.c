/* Blocks that come back through a parameter: the function's result is a status. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct channel {
    int number;
    struct channel *peer;
    char name[20];
};

struct sample {
    double value;
    int64_t when;
};

__attribute__((noinline)) static int channel_open(int number, struct channel **channel)
{
    struct channel *made;

    if (number < 0)
        return -1;
    made = calloc(1, sizeof(*made)); // TYPE struct channel
    made->number = number;
    strcpy(made->name, "channel");
    *channel = made;
    return 0;
}

__attribute__((noinline)) static int samples_read(size_t count, struct sample **samples)
{
    *samples = malloc(count * sizeof(**samples)); // TYPE struct sample
    return *samples ? 0 : -1;
}

__attribute__((noinline)) static int lines_split(const char *text, char ***lines, size_t *count)
{
    *count = strlen(text) + 2;
    *lines = calloc(*count, sizeof(**lines)); // TYPE char *
    return *lines ? 0 : -1;
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        struct channel *channel;
        struct sample *samples;
        char **lines;
        size_t count;

        if (channel_open(i, &channel) == 0)
            keep(channel);
        if (samples_read((size_t)i * 3 + 3, &samples) == 0)
            keep(samples);
        if (lines_split("some words", &lines, &count) == 0)
            keep(lines);
    }
    return 0;
}
