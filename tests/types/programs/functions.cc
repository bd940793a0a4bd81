// std::variant, optional, function, any; what threads and promises keep.
#include <any>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>
#include "keep.h"

struct Large {
    double values[9];
};

struct Event {
    std::variant<int, Large, std::string> what;
    std::optional<Large> more;
};

struct Listener {
    std::function<int(int)> call;
    std::any context;
};

__attribute__((noinline)) static Event *event_new(int i)
{
    auto *event = new Event; // TYPE Event

    if (i % 2)
        event->what = Large{};
    return event;
}

struct Scale {
    double by[6];
    int operator()(int i) const { return static_cast<int>(i * by[0]); }
};

__attribute__((noinline)) static void listen(Listener *listener, double by)
{
    listener->call = Scale{{by}}; // TYPE Scale
}

__attribute__((noinline)) static void give(Listener *listener)
{
    listener->context = Large{{1, 2, 3}}; // TYPE Large
}

__attribute__((noinline)) static void add_event(std::vector<std::unique_ptr<Event>> *events)
{
    events->push_back(std::make_unique<Event>()); // TYPE Event|std::unique_ptr<Event, std::default_delete<Event> >
}

int main()
{
    auto *events = new std::vector<std::unique_ptr<Event>>; // TYPE std::vector<std::unique_ptr<Event, std::default_delete<Event> >, std::allocator<std::unique_ptr<Event, std::default_delete<Event> > > >|std::vector<std::unique_ptr<Event>, std::allocator<std::unique_ptr<Event> > >

    for (int i = 0; i < 10; i++) {
        keep(event_new(i));
        auto *listener = new Listener; // TYPE Listener
        listen(listener, i);
        give(listener);
        keep(listener);
        add_event(events);
    }
    keep(events);
}
