// The program whose files fuzz_names damages: inlined calls, templates, namespaces, variables of every place.
#include <cstdlib>

namespace outer { namespace inner {
template <typename T> struct Node { T value; Node *next; };
static Node<int> *list;
int counter = 7;
thread_local int of_thread = 3;

template <typename T> static inline __attribute__((always_inline)) Node<T> *make(T value)
{
    Node<T> *node = static_cast<Node<T> *>(malloc(sizeof(Node<T>)));
    node->value = value;
    return node;
}

__attribute__((noinline)) void add(int value)
{
    static int calls = 1;
    int local[4] = {value, calls++, counter, of_thread};
    Node<int> *node = make(local[value & 3]);
    node->next = list;
    list = node;
}
} }

int main(int argc, char **)
{
    for (int i = 0; i < argc + 3; i++)
        outer::inner::add(i);
    return outer::inner::list->value == 99;
}
