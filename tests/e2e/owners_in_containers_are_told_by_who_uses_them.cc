// An owner that a member of a class template allocated or freed is told by the function that uses the container.
// What a container that grows moved elsewhere and then freed was no owner.
// CFLAGS: -O1 -g -fno-inline -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^ +it was owned by a block from fill_shelf\(\), which was freed in
// REFUSE: Rack<
// REFUSE: from fill_table
// JSON: [f.function for f in hits("make_book")[0].holder_freed.frames if f.user] == ["drop_shelf"]
// JSON: [f.function for f in hits("make_book")[0].holder_freed.holder] == ["fill_shelf"]
// JSON: hits("make_plate")[0].verdict == "lost" and hits("make_plate")[0].holder_freed is None

#include <cstdlib>
#include <cstring>

template <typename T> struct Rack {
    T *all;
    std::size_t count, room;
    Rack() : all(nullptr), count(0), room(0) {}
    T *allocate(std::size_t n) { return static_cast<T *>(std::malloc(n * sizeof(T))); }
    void resize(std::size_t n)
    {
        T *larger = allocate(n);
        for (std::size_t i = 0; i < count; i++)
            larger[i] = all[i];
        std::free(all);
        all = larger;
        room = n;
    }
    void reserve(std::size_t n)
    {
        all = allocate(n);
        room = n;
    }
    void add(T one)
    {
        if (count == room)
            resize(room * 2 + 8);
        all[count++] = one;
    }
    void forget() { std::memset(all, 0, count * sizeof(T)); }
    void clear() { std::free(all); }
};

struct Book {
    long pages[5];
};
struct Plate {
    long size[6];
};
struct Shelf {
    Rack<Book *> books;
};
struct Table {
    Rack<Plate *> plates;
};

static Book *make_book() { return new Book(); }
static void fill_shelf(Shelf &shelf)
{
    shelf.books.reserve(16);
    for (int i = 0; i < 12; i++)
        shelf.books.add(make_book());
}
static void drop_shelf(Shelf &shelf) { shelf.books.clear(); }

static Plate *make_plate() { return new Plate(); }
static void fill_table(Table &table)
{
    for (int i = 0; i < 40; i++)
        table.plates.add(make_plate());
}
static void drop_table(Table &table)
{
    table.plates.forget();
    table.plates.clear();
}

int main()
{
    Shelf shelf;
    Table table;
    fill_shelf(shelf);
    drop_shelf(shelf);
    fill_table(table);
    drop_table(table);
    return 0;
}
