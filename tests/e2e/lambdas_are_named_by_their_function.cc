// The code of a lambda is shown as "lambda in" the function that contains it, also where the compiler inlines it, and a
// template with a lambda as argument names that function. A class with a call operator is shown with its own name, and
// a class inside of a function with that of the function.
// CFLAGS: -O2 -g
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^     lambda in app::Reader::parse( \(inlined\))? +lambdas.cc:112$
// EXPECT: ^     lambda in main \(inlined\) +lambdas.cc:165$
// EXPECT: ^     app::each<lambda in parse> +lambdas.cc:105$
// EXPECT: ^     Maker::operator\(\) \(inlined\) +lambdas.cc:128$
// EXPECT: ^     make_local::Local::grow +lambdas.cc:149$
// REFUSE: ^     operator\(\)
// REFUSE: lambda in (app::)?each
// JSON: any(f.function == "main::{lambda}::operator()" for f in hits("main::{lambda}::operator()")[0].frames)

#line 100 "lambdas.cc"
namespace app
{
template <class F> [[gnu::noinline]] void each(int n, F f)
{
    for (int i = 0; i < n; i++)
        f(i);
}

struct Reader {
    [[gnu::noinline]] int parse(int *sum)
    {
        each(3, [=](int i) {
            int *item = new int[10];
            item[3] = i;
            *sum += item[3];
            asm volatile("" : : "r"(item) : "memory");
        });
        return *sum;
    }
};
} // namespace app

namespace
{
struct Maker {
    int *volatile last = nullptr;
    void operator()(int size)
    {
        last = new int[size];
        asm volatile("" : : "r"(this) : "memory");
    }
};
} // namespace

#line 140
struct Base {
    virtual int *grow() = 0;
};
[[gnu::noinline]] Base *make_local()
{
    struct Local : Base {
        int last = 0;
        [[gnu::noinline]] int *grow() override
        {
            int *made = new int[40 + last];
            asm volatile("" : : "r"(made) : "memory");
            return made;
        }
    };
    static Local local;
    return &local;
}

#line 160
int main()
{
    make_local()->grow();
    int sum = 0;
    auto copy = [](int size) {
        int *volatile kept = new int[size];
        kept[0] = size;
        asm volatile("" : : "r"(kept) : "memory");
    };
    app::Reader().parse(&sum);
    copy(20);
    Maker maker;
    maker(30);
    maker.last = nullptr;
}
