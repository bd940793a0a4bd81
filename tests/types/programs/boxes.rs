// Box, Rc and Arc of structures and enumerations.
use std::rc::Rc;
use std::sync::Arc;

#[allow(dead_code)]
struct Node {
    next: Option<Box<Node>>,
    value: u64,
    name: [u8; 12],
}

#[allow(dead_code)]
enum Shape {
    Circle(f64),
    Rectangle { width: f64, height: f64, depth: f64 },
}

#[inline(never)]
fn node_new(next: Option<Box<Node>>, value: u64) -> Box<Node> {
    Box::new(Node { next, value, name: [1; 12] }) // TYPE boxes::Node
}

#[inline(never)]
fn shape_new(width: f64) -> Box<Shape> {
    Box::new(Shape::Rectangle { width, height: 1.0, depth: 2.0 }) // TYPE boxes::Shape
}

#[inline(never)]
fn counted_new(value: u64) -> Rc<Node> {
    Rc::new(Node { next: None, value, name: [2; 12] }) // TYPE alloc::rc::RcInner<boxes::Node>|alloc::rc::RcBox<boxes::Node>
}

#[inline(never)]
fn shared_new(value: u64) -> Arc<Node> {
    Arc::new(Node { next: None, value, name: [3; 12] }) // TYPE alloc::sync::ArcInner<boxes::Node>
}

fn main() {
    let mut list = None;
    for i in 0..10 {
        list = Some(node_new(list, i));
        std::mem::forget(shape_new(i as f64));
        std::mem::forget(counted_new(i));
        std::mem::forget(shared_new(i));
    }
    std::mem::forget(list);
}
