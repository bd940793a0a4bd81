# Formats in the hands of those they are for: programs that read what other tools write.

# A ring, an owner and what it owns, an inner pointer, a mismatched free; what is lost is lost for any
# tool: no pointer is left in registers or on the stack.
shelf='#include <cstdlib>
#include <cstring>
struct book { char title[40]; book *next; };
book *volatile sink;
char *volatile inside;
static inline __attribute__((always_inline)) book *make_book(const char *title)
{
    book *made = new book();
    strncpy(made->title, title, 39);
    return made;
}
__attribute__((noinline)) void fill() { sink = make_book("one"); sink->next = make_book("two"); }
__attribute__((noinline)) void ring()
{
    sink = make_book("x");
    sink->next = make_book("y");
    sink->next->next = sink;
}
__attribute__((noinline)) void wrong()
{
    char *volatile block = (char *)malloc(10);
    delete[] block;
}
__attribute__((noinline)) void wipe() { volatile char stack[8192]; for (char volatile &c : stack) c = 0; }
int main()
{
    fill();
    ring();
    wrong();
    inside = (char *)malloc(100) + 10;
    sink = nullptr;
    wipe();
    return 0;
}'
build_shelf() { echo "$shelf" | g++ -w -g -O1 -x c++ -o "${1-shelf}" -; }

test_xml_says_of_a_program_what_valgrind_says() {
    need g++ valgrind python3
    build_shelf
    leakrun --format=xml -o ours.xml ./shelf 2>err
    valgrind --leak-check=full --xml=yes --xml-file=theirs.xml ./shelf 2>err
    # What checks ours must find theirs right, too.
    for file in ours theirs; do
        python3 "$root/tests/consumers/valgrind_xml.py" <$file.xml || fail "$file.xml"
        python3 "$here/losses.py" $file.xml >$file
    done
    equal 'defects' "$(cat ours)" "$(cat theirs)"
    says ours 'Leak_DefinitelyLost 96 1 .* fill shelf'
    says ours 'MismatchedFree .* wrong shelf'
}
