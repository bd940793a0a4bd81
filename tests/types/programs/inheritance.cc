// Polymorphic classes through pointers to their base: what counts is the object's own class.
#include <cstdio>
#include "keep.h"

class Shape {
public:
    virtual ~Shape() {}
    virtual double area() const = 0;
};

class Circle : public Shape {
public:
    explicit Circle(double radius) : radius(radius) {}
    double area() const override { return radius * radius * 3.14; }
    double radius;
};

class Square : public Shape {
public:
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
    double side;
};

class Cube final : public Square {
public:
    explicit Cube(double side) : Square(side) {}
    double area() const override { return 6 * Square::area(); }
};

__attribute__((noinline)) static Shape *circle_new(double size)
{
    return new Circle(size); // TYPE Circle
}

__attribute__((noinline)) static Shape *square_new(double size)
{
    return new Square(size); // TYPE Square
}

__attribute__((noinline)) static Shape *cube_new(double size)
{
    Shape *shape = new Cube(size); // TYPE Cube

    return shape;
}

int main()
{
    double sum = 0;

    for (int i = 0; i < 10; i++) {
        Shape *shapes[] = {circle_new(i), square_new(i), cube_new(i)};

        for (Shape *shape : shapes) {
            sum += shape->area();
            keep(shape);
        }
    }
    std::printf("%g\n", sum);
}
