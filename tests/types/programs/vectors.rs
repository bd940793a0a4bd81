// Vec of structures and numbers, String, and boxed slices.
#[allow(dead_code)]
#[derive(Clone)]
struct Point {
    x: f64,
    y: f64,
    id: u32,
}

#[inline(never)]
fn points_new(count: usize) -> Vec<Point> {
    let mut points = Vec::with_capacity(count); // TYPE vectors::Point
    points.push(Point { x: 1.0, y: 2.0, id: 3 });
    points
}

#[inline(never)]
fn add_number(numbers: &mut Vec<u32>, number: u32) {
    numbers.push(number); // TYPE u32
}

#[inline(never)]
fn text_new(number: usize) -> String {
    let mut text = String::with_capacity(40 + number); // TYPE u8
    text.push('x');
    text
}

#[inline(never)]
fn slice_new(count: usize) -> Box<[u16]> {
    vec![7u16; count].into_boxed_slice() // TYPE u16
}

fn main() {
    for i in 1..10 {
        let mut numbers = Vec::new();
        for k in 0..20 {
            add_number(&mut numbers, k);
        }
        std::mem::forget(numbers);
        std::mem::forget(points_new(i));
        std::mem::forget(text_new(i));
        std::mem::forget(slice_new(i));
    }
}
