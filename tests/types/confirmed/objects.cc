// Classes with virtual tables of their own, containers and shared pointers: read as each other they are impossible. gdb looks
// at them in finished().
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Shape {
    double x = 0.5, y = 1.5;
    virtual ~Shape() = default;
    virtual double area() const { return 0; }
};

struct Circle : Shape {
    double radius = 2;
    std::shared_ptr<Shape> around;
    double area() const override { return radius * radius * 3.14; }
};

struct Path : Shape {
    std::vector<double> points{1, 2, 3};
    double area() const override { return points[0]; }
};

struct Drawing {
    std::map<std::string, std::shared_ptr<Shape>> named;
    std::vector<std::unique_ptr<Path>> paths;
    std::string title = "a drawing whose title does not fit into the object";
};

static std::vector<std::unique_ptr<Drawing>> *drawings;

__attribute__((noinline)) void finished()
{
    __asm__ volatile("" ::: "memory");
}

int main()
{
    drawings = new std::vector<std::unique_ptr<Drawing>>;
    for (int i = 0; i < 10; i++) {
        auto drawing = std::make_unique<Drawing>();
        auto circle = std::make_shared<Circle>();
        circle->around = std::make_shared<Circle>();
        drawing->named["circle"] = circle;
        drawing->paths.push_back(std::make_unique<Path>());
        drawings->push_back(std::move(drawing));
    }
    finished();
    return drawings->size() == 10 ? 0 : 1;
}
