// Nodes and arrays of the standard containers.
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
#include "keep.h"

struct Point {
    double x, y;
};

struct All {
    std::vector<Point> points;
    std::vector<int> numbers;
    std::list<Point> list;
    std::map<int, Point> map;
    std::set<long> set;
    std::unordered_map<int, Point> table;
    std::deque<Point> queue;
};

__attribute__((noinline)) static All *all_new()
{
    return new All; // TYPE All|Point|Point *
}

__attribute__((noinline)) static void add_point(All *all)
{
    all->points.push_back(Point{1, 2}); // TYPE Point
}

__attribute__((noinline)) static void add_numbers(All *all)
{
    all->numbers.resize(100); // TYPE int
}

__attribute__((noinline)) static void add_to_list(All *all)
{
    all->list.push_back(Point{1, 2}); // TYPE std::_List_node<Point>|std::__cxx11::_List_node<Point>
}

__attribute__((noinline)) static void add_to_map(All *all, int key)
{
    all->map[key] = Point{3, 4}; // TYPE std::_Rb_tree_node<std::pair<const int, Point> >|std::_Rb_tree_node<std::pair<int const, Point> >
}

__attribute__((noinline)) static void add_to_set(All *all, int key)
{
    all->set.insert(key); // TYPE std::_Rb_tree_node<long>|std::_Rb_tree_node<long int>
}

__attribute__((noinline)) static void add_to_queue(All *all)
{
    all->queue.push_back(Point{5, 6}); // TYPE Point
}

int main()
{
    for (int i = 0; i < 5; i++) {
        All *all = all_new();

        for (int k = 0; k < 8; k++) {
            add_point(all);
            add_to_list(all);
            add_to_map(all, k);
            add_to_set(all, k);
        }
        for (int k = 0; k < 40; k++)
            add_to_queue(all);
        add_numbers(all);
        keep(all);
    }
}
