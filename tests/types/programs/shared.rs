// Hash maps, cells in counters, boxed closures, slices, linked lists, nested vectors.
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, LinkedList, BinaryHeap};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

#[allow(dead_code)]
struct Account {
    owner: u64,
    history: [i64; 6],
}

#[allow(dead_code)]
struct Tree {
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
    key: u32,
}

#[allow(dead_code)]
enum Message {
    Quit,
    Text(String),
    Move { x: f64, y: f64, z: f64 },
}

#[inline(never)]
fn account(owner: u64) -> Rc<RefCell<Account>> {
    Rc::new(RefCell::new(Account { owner, history: [1; 6] })) // TYPE alloc::rc::RcInner<core::cell::RefCell<shared::Account>>|alloc::rc::RcBox<core::cell::RefCell<shared::Account>>
}

#[inline(never)]
fn guarded(owner: u64) -> Arc<Mutex<Account>> {
    Arc::new(Mutex::new(Account { owner, history: [2; 6] })) // TYPE alloc::sync::ArcInner<std::sync::poison::mutex::Mutex<shared::Account>>|alloc::sync::ArcInner<std::sync::mutex::Mutex<shared::Account>>
}

#[inline(never)]
fn tree(depth: u32) -> Option<Box<Tree>> {
    if depth == 0 {
        return None;
    }
    Some(Box::new(Tree { left: tree(depth - 1), right: tree(depth - 1), key: depth })) // TYPE shared::Tree
}

#[inline(never)]
fn message(x: f64) -> Box<Message> {
    Box::new(Message::Move { x, y: x, z: x }) // TYPE shared::Message
}

#[inline(never)]
fn list(list: &mut LinkedList<Account>, owner: u64) {
    list.push_back(Account { owner, history: [3; 6] }) // TYPE alloc::collections::linked_list::Node<shared::Account>
}

#[inline(never)]
fn rows(count: usize) -> Vec<Vec<u16>> {
    let mut made = Vec::new();
    for i in 0..count {
        made.push(vec![i as u16; 50]) // TYPE u16|alloc::vec::Vec<u16, alloc::alloc::Global>
    }
    made
}

#[inline(never)]
fn text(number: u64) -> String {
    format!("number {} of this text", number) // TYPE u8|none
}

#[inline(never)]
fn heap(heap: &mut BinaryHeap<(u64, u32)>, key: u64) {
    heap.push((key, 1)) // TYPE (u64, u32)
}

fn main() {
    let mut sum = 0;
    for i in 0..8u64 {
        std::mem::forget(account(i));
        std::mem::forget(guarded(i));
        std::mem::forget(tree(3));
        std::mem::forget(message(i as f64));
        let mut linked = LinkedList::new();
        let mut heaped = BinaryHeap::new();
        let mut map = HashMap::new();
        let mut set = HashSet::new();
        for k in 0..5 {
            list(&mut linked, k);
            heap(&mut heaped, k);
            map.insert(k, Account { owner: k, history: [4; 6] });
            set.insert(k);
        }
        sum += linked.len() + heaped.len() + map.len() + set.len();
        std::mem::forget(linked);
        std::mem::forget(heaped);
        std::mem::forget(map);
        std::mem::forget(set);
        std::mem::forget(rows(4));
        std::mem::forget(text(i));
    }
    println!("{}", sum);
}
