// Hard case 3: a function that calls exit and keeps nothing holds nothing, whatever earlier calls have
// left in the padding of its frame.
// CFLAGS: -O0 -g
// CFLAGS: -O1 -g
// CFLAGS: -O2 -g
// JSON: verdict("lose") == {"lost": (1, 56)} and lost_total == (1, 56)

#include "lib/verdicts.h"
#include "lib/old_words.h"

TAKE(lose, 56)

FAR static void end(const char *text)
{
    fputs(text, stderr);
    exit(0);
}

FAR static void lose_it(void)
{
    leave_words(lose());
}

int main(void)
{
    lose_it();
    end("the end\n");
}
