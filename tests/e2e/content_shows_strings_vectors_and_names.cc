// The fields of a block show std::string as its text, whether it lies in the object or in a block that was recorded, too,
// std::vector by its bytes, enumerations by name, and text behind a pointer; the block of a std::shared_ptr has its counts. Behind a block that was freed, or without
// content, there is no text.
// CFLAGS: -O0 -g
// CFLAGS: -O2 -g
// RUN: LIBLEAK_OPTIONS=content=256; %leak %t; s=$(ls store/*.leak); report() { n=$1; shift; %report "$@" $s | sed "s|^|$n: |"; }; report full --content; report given --content --anonymize; rm store/*.leak
// RUN: LIBLEAK_OPTIONS=content=0; %leak %t; %report --content store/*.leak | sed 's|^|none: |'
// EXPECT: ^full: +number = 7$
// EXPECT: ^full: +color = BLUE$
// EXPECT: ^full: +name = "short"$
// EXPECT: ^full: +place = "a place whose name is longer than that"$
// EXPECT: ^full: +nowhere = ""$
// EXPECT: ^full: +marks = 12 of 32 bytes used at 0x[0-9a-f]+$
// EXPECT: ^full: +none = \{\}$
// EXPECT: ^full: +note = "hello"$
// EXPECT: ^full: +forty = "1234567890123456789012345678901234567890"$
// EXPECT: ^full: +more = "1234567890123456789012345678901234567890"…$
// EXPECT: ^full: +gone = 0x[0-9a-f]+$
// EXPECT: ^full: +use_count = 2$
// EXPECT: ^full: +weak_count = 1$
// REFUSE: ^full: +((name|place|nowhere|marks|none)\._M_|.*_count = 3)
// REFUSE: ^(given|none): .* (place|note|marks) =
#include <memory>
#include <string>
#include <vector>

enum class Color { RED, GREEN, BLUE };
struct Record {
    int number;
    Color color;
    std::string name, place, nowhere;
    std::vector<int> marks, none;
    const char *note, *gone, *forty, *more;
};
struct Shared {
    std::shared_ptr<Shared> itself, again;
    std::weak_ptr<Shared> weak;
};
static void *volatile sink;

__attribute__((noinline)) static void make()
{
    auto *record = new Record{7, Color::BLUE, "short", "a place whose name is longer than that", "", {1, 2, 3}, {}, nullptr, nullptr, nullptr, nullptr};
    record->marks.reserve(8);
    record->note = new char[6]{'h', 'e', 'l', 'l', 'o', 0};
    record->forty = new char[48]{"1234567890123456789012345678901234567890"};
    record->more = new char[48]{"12345678901234567890123456789012345678901"};
    auto *gone = new char[600]{'h', 'e', 'r', 'e'};
    record->gone = gone;
    sink = record;
    sink = gone;
    delete[] gone;
}

__attribute__((noinline)) static void share()
{
    auto one = std::make_shared<Shared>();

    one->itself = one->again = one;
    one->weak = one;
}

int main()
{
    make();
    share();
    sink = nullptr;
    volatile char wipe[8192];
    for (auto &c : wipe) c = 0;
    return 0;
}
