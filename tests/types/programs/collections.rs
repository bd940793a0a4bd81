// Maps, and trait objects.
use std::collections::{BTreeMap, VecDeque};

#[allow(dead_code)]
struct Payload {
    numbers: [u64; 4],
}

trait Job {
    fn run(&self) -> u64;
}

struct Adder {
    a: u64,
    b: u64,
}

impl Job for Adder {
    fn run(&self) -> u64 {
        self.a + self.b
    }
}

#[inline(never)]
fn job_new(a: u64) -> Box<dyn Job> {
    Box::new(Adder { a, b: 1 }) // TYPE collections::Adder
}

#[inline(never)]
fn add(map: &mut BTreeMap<u64, Payload>, key: u64) {
    map.insert(key, Payload { numbers: [key; 4] }); // TYPE alloc::collections::btree::node::LeafNode<u64, collections::Payload>
}

#[inline(never)]
fn queue(queue: &mut VecDeque<Payload>) {
    queue.push_back(Payload { numbers: [1; 4] }); // TYPE collections::Payload
}

fn main() {
    let mut sum = 0;
    for i in 0..10 {
        let job = job_new(i);
        sum += job.run();
        std::mem::forget(job);
        let mut map = BTreeMap::new();
        let mut jobs = VecDeque::new();
        for k in 0..5 {
            add(&mut map, k);
            queue(&mut jobs);
        }
        std::mem::forget(map);
        std::mem::forget(jobs);
    }
    println!("{}", sum);
}
