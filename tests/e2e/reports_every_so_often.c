// report_every= appends what the heap holds to a file, one report after the other and one at the end; what it shows and
// what it leaves out are all there is.
// RUN: LIBLEAK_OPTIONS=report_every=500ms:report_file=heap.%e.txt; %leak %t
// RUN: awk '/^Shown:/ { print } /blocks? of t|^libleak: pid=/ { print }' heap.t.txt | grep -c '^Shown:' | sed 's/^[3-9]$\|^..$/three or more/'
// RUN: tail -n 30 heap.t.txt
// RUN: LIBLEAK_OPTIONS=; %report --format=heap --top=1 store/*.leak
// EXPECT: ^three or more$
// EXPECT: ^1\. 6,000 bytes in 6 blocks \(malloc\)
// EXPECT: keep_some
// EXPECT: ^Shown: [0-9.,]* [a-zA-Z]* in [0-9]* blocks of [2-9] sites\. Rest: 0 bytes in 0 blocks of 0 sites\.
// EXPECT: ^Shown: 6,000 bytes in 6 blocks of 1 site\. Rest: 1,[0-9]{3} bytes in [0-9]* blocks of [1-9] sites?\.
// REFUSE: child seen

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[8];

__attribute__((noinline)) static void keep_some(void)
{
    for (int i = 0; i < 6; i++)
        kept[i] = malloc(1000);
}

static int reports(void)
{
    static char text[1 << 20];
    FILE *file = fopen("heap.t.txt", "r");
    int count = 0;
    if (!file)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (char *at = text; (at = strstr(at, "\nShown:")); at++)
        count++;
    return count;
}

int main(void)
{
    keep_some();
    kept[6] = malloc(700);
    kept[7] = malloc(800);
    for (int i = 0; i < 500 && reports() < 2; i++)
        usleep(100000);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        puts("child seen");
    return 0;
}
