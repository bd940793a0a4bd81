// Objects behind std::variant, std::optional, std::any and type erasure of the program's own. Where only a void * is left of what
// new returns, an optimiser may leave nothing that tells the type.
#include <any>
#include <memory>
#include <optional>
#include <variant>
#include <vector>
#include "keep.h"

struct Number {
    double value;
    long unit;
};

struct Word {
    char text[40];
};

struct Large {
    long words[9];
};

struct Holder {
    struct Concept {
        virtual ~Concept() = default;
    };
    template <typename T> struct Model : Concept {
        T object;
        explicit Model(const T &from) : object(from) {}
    };
    Concept *concept_;
    template <typename T> explicit Holder(const T &from) : concept_(new Model<T>(from)) {} // TYPE Holder::Model<Word>|Holder::Model<Large>
};

using Value = std::variant<std::unique_ptr<Number>, std::vector<Word>, int>;

int main()
{
    for (int i = 0; i < 10; i++) {
        auto *values = new std::vector<Value>; // TYPE std::vector<std::variant<std::unique_ptr<Number, std::default_delete<Number> >, std::vector<Word, std::allocator<Word> >, int>, std::allocator<std::variant<std::unique_ptr<Number, std::default_delete<Number> >, std::vector<Word, std::allocator<Word> >, int> > >
        values->reserve(2); // TYPE std::variant<std::unique_ptr<Number, std::default_delete<Number> >, std::vector<Word, std::allocator<Word> >, int>
        values->emplace_back(std::unique_ptr<Number>(new Number{1.5, i})); // TYPE none|Number
        values->emplace_back(std::vector<Word>(3)); // TYPE Word
        keep(values);
        auto *maybe = new std::optional<Large>(Large{}); // TYPE std::optional<Large>
        keep(maybe);
        auto *any = new std::any(Large{}); // TYPE none|std::any|Large
        keep(any);
        keep(new Holder(Word{})); // TYPE none|Holder
        keep(new Holder(Large{})); // TYPE none|Holder
    }
    return 0;
}
