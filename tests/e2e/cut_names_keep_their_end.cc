// A C++ name that is too long for its line loses its template arguments, then outer scopes, and keeps its end: the class
// and the function. A name that fits keeps all.
// CFLAGS: -O0 -g
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^     …::InnerStackOfThreads::grow_if_needed +cut_names
// EXPECT: ^     Engine<…>::run +cut_names
// EXPECT: ^     Small<int>::make +cut_names
// REFUSE: [a-zA-Z]…[a-zA-Z]

template <int mode, class T, class U> struct Engine {
    struct InnerStackOfThreads {
        [[gnu::noinline]] int *grow_if_needed()
        {
            return new int[40];
        }
    };
    [[gnu::noinline]] void run()
    {
        InnerStackOfThreads stack;
        stack.grow_if_needed();
    }
};

struct ArgumentOfTheEngineWithALongName {
};
struct OtherArgumentOfTheEngineWithALongName {
};

template <class T> struct Small {
    [[gnu::noinline]] int *make()
    {
        return new int[20];
    }
};

int main()
{
    Engine<1, ArgumentOfTheEngineWithALongName, OtherArgumentOfTheEngineWithALongName>{}.run();
    Small<int>{}.make();
}
