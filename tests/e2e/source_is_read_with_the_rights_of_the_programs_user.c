// Root reports on a program of another user: it shows the lines of source that this user may read, and no others,
// whoever owns them; nor the names of a program that he may run but not read. Of root's own program it shows all.
//
// NEEDS: root setpriv
// NOBUILD:
// RUN: w=$(mktemp -d); chmod 755 $w; cp %s $w/main.c; cp %O/libleak.so $w; chmod 644 $w/libleak.so; cd $w || exit 1
// RUN: printf 'one\nof everybody\n' >open; printf 'one\nof root only\n' >closed; chmod 600 closed; cp closed group; chmod 640 group
// RUN: ${CC:-cc} -w -O1 -g main.c -o t; mkdir store; chmod 777 store
// RUN: for user in 'setpriv --reuid=65534 --regid=65534 --clear-groups' ''; do
// RUN:   rm -f store/*; $user env LD_PRELOAD=$w/libleak.so LIBLEAK_OPTIONS=dir=$w/store ./t
// RUN:   for option in --format=text --source-path=/ --format=html; do
// RUN:     %report $option store/* >all
// RUN:     echo "${user:+other }user $option: $(grep -c 'of everybody' all) and $(grep -c 'of root only' all)"; done
// RUN:   chmod 711 t; echo "${user:+other }user, program not readable: $(%report store/* | grep -c '  opened')"; chmod 755 t
// RUN: done; cd /; rm -rf $w
// EXPECT: ^other user --format=text: 1 and 0$
// EXPECT: ^other user --source-path=/: 1 and 0$
// EXPECT: ^other user --format=html: 1 and 0$
// EXPECT: ^user --format=text: 1 and 2$
// EXPECT: ^user --format=html: 1 and 2$
// EXPECT: ^other user, program not readable: 0$
// EXPECT: ^user, program not readable: 1$

#include <stdlib.h>

void *volatile sink;

# 2 "open"
void opened(void) { sink = malloc(11); sink = NULL; }
# 2 "closed"
void closed(void) { sink = malloc(22); sink = NULL; }
# 2 "group"
void group(void) { sink = malloc(33); sink = NULL; }
# 30 "main.c"
int main(void)
{
    opened();
    closed();
    group();
    return 0;
}
