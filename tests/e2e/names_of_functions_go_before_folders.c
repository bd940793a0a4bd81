// Where a line has no room for a function's name and its place, the place loses its first folders, not the name its
// middle. A place that fits is whole, and so is one whose file alone is too long.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak; %report -v store/*.leak
// EXPECT: ^     copy_the_name_of_the_first_user_there_is  …/users/database/names.c:70$
// EXPECT: ^     make_all +source/users/database/folder/users.c:80$
// EXPECT: ^     copy_the_[a-z_]*…[a-z_]*user  names_of_all_the_users_of_this_program_and.c:90$
// EXPECT: ^ +(copy_the_name_of_the_first_user_there_is  )?source/programs/users/database/names.c:70$
// JSON: any(f.file.endswith("source/programs/users/database/names.c") for f in hits("copy_the_name_of_the_first_user_there_is")[0].frames if f.file)

#include <stdlib.h>

#define FAR __attribute__((noinline))

char *volatile kept;

#line 70 "source/programs/users/database/names.c"
FAR void copy_the_name_of_the_first_user_there_is(void) { kept = malloc(40); }
#line 90 "names_of_all_the_users_of_this_program_and.c"
FAR void copy_the_name_of_the_other_user(void) { kept = malloc(50); }
#line 80 "source/users/database/folder/users.c"
FAR void make_all(void) { copy_the_name_of_the_first_user_there_is(); copy_the_name_of_the_other_user(); kept = NULL; }

int main(void)
{
    make_all();
    return 0;
}
