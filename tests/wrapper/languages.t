# Programs in other languages than C and C++: what is seen of them, and that they do not notice.
# shellcheck shell=sh disable=SC2154

need_rust() {
    need rustc
    unset RUST_BACKTRACE
    echo 'fn main() {}' >works.rs
    rustc -o works works.rs 2>works.err || skip "no rustc that works: $(tail -n1 works.err)"
}
rust() { # program, flags...; its source on stdin
    program=$1
    shift
    cat >"$program.rs"
    rustc -g -A warnings --crate-name "$program" -o "$program" "$@" "$program.rs"
}
need_go() { # C: with a C compiler that it works with
    need go
    export GOFLAGS=-mod=mod GO111MODULE=off GOTOOLCHAIN=local GOCACHE="$PWD/cache" GOPATH="$PWD/path" CGO_ENABLED=1
    { echo 'package main'; [ $# = 0 ] || echo 'import "C"'; echo 'func main() {}'; } >works.go
    go build -o works works.go >works.err 2>&1 || skip "no go that works: $(tail -n1 works.err)"
}
golang() { # program, flags...; its source on stdin
    program=$1
    shift
    cat >"$program.go"
    go build -o "$program" "$@" "$program.go"
}
the_same() { # status, program and arguments: alone it does what it does under leakrun; the report in report
    wanted=$1
    shift
    status=0
    echo words | "$@" >alone 2>errors || status=$?
    equal 'status alone' "$status" "$wanted"
    status=0
    rm -f report
    echo words | leakrun -o report --show=all --top=0 "$@" >under 2>errors || status=$?
    equal "status under leakrun ($(tail -n 3 errors))" "$status" "$wanted"
    cmp alone under
}

# ---- Rust -----------------------------------------------------------------------------------

all_that_leaks='
use std::cell::RefCell;
use std::rc::Rc;
use std::thread;
struct Node { next: RefCell<Option<Rc<Node>>>, pad: [u64; 13] }
static mut KEPT: Option<&str> = None;
#[inline(never)] fn leak_a_box() { Box::leak(Box::new([1u8; 201])); }
#[inline(never)] fn keep_a_box() { unsafe { KEPT = Some(Box::leak("k".repeat(301).into_boxed_str())); } }
#[inline(never)] fn forget_a_string() { std::mem::forget("forgotten ".repeat(10)); }
#[inline(never)] fn tie_a_ring() {
    let a = Rc::new(Node { next: RefCell::new(None), pad: [7; 13] });
    let b = Rc::new(Node { next: RefCell::new(Some(a.clone())), pad: [8; 13] });
    *a.next.borrow_mut() = Some(b.clone());
    assert!(a.pad[0] < b.pad[0]);
}
#[inline(never)] fn grow_a_vector() {
    let mut v: Vec<u64> = Vec::new();
    for i in 0..5000u64 { v.push(i); }
    std::mem::forget(v);
}
#[inline(never)] fn below(stack: &mut [u8], size: usize) { stack[size] = 1; std::mem::forget(vec![1u8; size]); }
fn in_threads() {
    let all: Vec<_> = (0..4).map(|_| thread::spawn(|| below(&mut [0u8; 65536], 77))).collect();
    for t in all { t.join().unwrap(); }
}
mod deep {
    pub struct Tree<T>(pub T);
    impl<T: Default> Tree<T> {
        #[inline(never)] pub fn plant(&self, n: usize) { std::mem::forget(vec![1u8; n]); }
    }
}
fn panics() {
    let r = std::panic::catch_unwind(|| {
        let v = vec![3u8; 900];
        std::mem::forget(vec![4u8; 123]);
        if v.len() == 900 { panic!("out of {}", v.len()); }
    });
    assert!(r.is_err());
}
#[inline(never)] fn all() {
    leak_a_box(); keep_a_box(); forget_a_string(); tie_a_ring(); grow_a_vector(); in_threads(); panics();
    deep::Tree(5u32).plant(555);
}
fn main() { all(); println!("done"); }'

test_rust_leaks_are_reported_by_name_and_line() {
    need_rust
    echo "$all_that_leaks" | rust leaks
    the_same 0 ./leaks
    says report ' lost=66959/10/[0-9]* indirect=136/1/1 possible=0/0/0 hidden=0/0/0 reachable=301/1/1 '
    says report '^     leaks::leak_a_box  *leaks\.rs:7$'
    says report '^     leaks::forget_a_string  *leaks\.rs:9$'
    says report '^[0-9]*\. 65,536 bytes in 1 block lost \(malloc\)'
    says report '^     leaks::grow_a_vector  *leaks\.rs:18$'
    says report '308 bytes in 4( of [0-9]+)? blocks lost'
    says report '^     leaks::tie_a_ring  *leaks\.rs:1[12]$'
    says report 'reference cycle'
    says report '^     leaks::panics::.*leaks\.rs:35$'
    says report '301 bytes in 1 block still reachable'
    says report '^     leaks::deep::Tree<T>::plant  *leaks\.rs:29$'
    silent_about report '__rust_try|_ZN|_R[A-Z]'
}
test_rust_names_of_the_newer_mangling_are_demangled() {
    need_rust
    echo "$all_that_leaks" | rust leaks -C symbol-mangling-version=v0
    the_same 0 ./leaks
    says report ' lost=66959/10/[0-9]* indirect=136/1/1 '
    says report '^     <leaks::deep::Tree<u32>>::plant  *leaks\.rs:29$'
    says report '^     leaks::panics::\{closure#0\}  *leaks\.rs:35$'
    silent_about report '_R[A-Z]'
}
test_rust_program_without_leaks_has_none() {
    need_rust
    rust tidy <<'END'
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::Read;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
thread_local!(static MINE: std::cell::RefCell<Vec<String>> = Default::default());
fn main() {
    let map = Arc::new(Mutex::new(HashMap::new()));
    let (sender, receiver) = mpsc::channel::<String>();
    let workers: Vec<_> = (0..4).map(|i| {
        let (map, sender) = (map.clone(), sender.clone());
        thread::Builder::new().name(format!("worker {}", i)).spawn(move || for k in 0..500 {
            map.lock().unwrap().insert(i * 1000 + k, vec![k as u8; 20]);
            MINE.with(|m| m.borrow_mut().push(format!("{}", k)));
            sender.send(format!("{}-{}", i, k)).unwrap();
        }).unwrap()
    }).collect();
    drop(sender);
    let length: usize = receiver.iter().map(|s| s.len()).sum();
    for worker in workers { worker.join().unwrap(); }
    for i in 0..50usize {
        let caught = std::panic::catch_unwind(|| {
            let held = vec![1u8; 1000 + i];
            if held[0] == 1 { std::panic::panic_any(String::from("no")); }
        });
        assert!(caught.unwrap_err().is::<String>());
    }
    let mut words = String::new();
    std::io::stdin().read_to_string(&mut words).unwrap();
    let set: HashSet<String> = words.chars().map(|c| c.to_string()).collect();
    let tree: BTreeMap<usize, Box<str>> = (0..99).map(|i| (i, "leaf".into())).collect();
    let queue: VecDeque<Box<usize>> = (0..99).map(Box::new).collect();
    println!("{} {} {} {} {}", length, map.lock().unwrap().len(), set.len(), tree.len(), queue.len());
    if std::env::args().len() > 1 { std::process::exit(3); } // all of it lives then
}
END
    for backtrace in 0 1; do
        export RUST_BACKTRACE=$backtrace
        the_same 0 ./tidy
        says report ' lost=0/0/0 indirect=0/0/0 possible=0/0/0 hidden=0/0/0 .* errors=0 '
        the_same 3 ./tidy exits
        says report ' lost=0/0/0 indirect=0/0/0 possible=0/0/0 hidden=0/0/0 .* errors=0 '
        says report ' reachable=[0-9]*/[2-9][0-9][0-9][0-9]+/'
    done
}
test_rust_allocator_that_hands_on_is_no_headline() {
    need_rust
    rust counts <<'END'
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
struct Counting;
static COUNT: AtomicUsize = AtomicUsize::new(0);
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 { COUNT.fetch_add(1, SeqCst); System.alloc(l) }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) { System.dealloc(p, l) }
}
#[global_allocator] static ALL: Counting = Counting;
#[repr(align(256))] struct Wide([u8; 512]);
#[inline(never)] fn lose() { Box::leak(Box::new([7u8; 501])); }
#[inline(never)] fn lose_aligned() { Box::leak(Box::new(Wide([9; 512]))); }
#[inline(never)] fn both() { lose(); lose_aligned(); }
fn main() { both(); println!("{}", COUNT.load(SeqCst) > 1); }
END
    the_same 0 ./counts
    says report ' lost=1013/2/2 '
    grep -A2 'bytes in 1 block lost' report >first # with a line of its type
    says first '^     counts::lose  *counts\.rs:11$'
    says first '^     counts::lose_aligned  *counts\.rs:12$'
}
test_rust_allocator_that_maps_its_own_memory_is_said() {
    need_rust
    rust maps <<'END'
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
extern "C" { fn mmap(at: usize, size: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut u8; }
struct Mapped;
static NEXT: AtomicUsize = AtomicUsize::new(0);
unsafe impl GlobalAlloc for Mapped {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        if NEXT.load(SeqCst) == 0 {
            NEXT.store(mmap(0, 64 << 20, 3, 0x22, -1, 0) as usize, SeqCst);
        }
        let start = NEXT.fetch_add(l.size() + l.align(), SeqCst);
        ((start + l.align() - 1) & !(l.align() - 1)) as *mut u8
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
#[global_allocator] static ALL: Mapped = Mapped;
fn main() {
    for i in 0..20 { Box::leak(Box::new([i as u8; 1 << 20])); }
    println!("done");
    std::process::exit(4);
}
END
    the_same 4 ./maps
    says report ' lost=0/0/0 .* errors=0 '
    says report 'seems to have its own allocator, whose blocks are not tracked'
}
test_ripgrep_loses_nothing_and_does_not_notice() {
    need rg
    set -f
    for kind in --files '-c static' '-n -w struct -g *.[ch]' '-j4 -l -i TODO|why' '-U (?s)#if.*?#endif -c'; do
        # shellcheck disable=SC2086 # words
        the_same 0 rg --sort path $kind "$root/preload"
        says report ' lost=0/0/0 indirect=0/0/0 possible=0/0/0 .* errors=0 '
        [ -s alone ] || fail "nothing found: $kind"
    done
    the_same 1 rg 'no licence [s]ays this' "$root/LICENSE"
    the_same 2 rg '(' "$root/LICENSE"
    says report ' lost=0/0/0 .* errors=0 '
}

# ---- Go -------------------------------------------------------------------------------------

test_static_go_program_is_refused_in_one_line_and_runs_as_a_child() {
    need_go
    CGO_ENABLED=0 golang pure <<'END'
package main

import (
	"fmt"
	"os"
	"sync"
)

func main() {
	var group sync.WaitGroup
	sums := make([]int, 8)
	for g := range sums {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			for i := 0; i < 100000; i++ {
				sums[g] += len(make([]byte, i%100+1))
			}
		}(g)
	}
	group.Wait()
	fmt.Println(sums)
	os.Exit(7)
}
END
    equal status "$(status_of leakrun ./pure)" 126
    leakrun ./pure 2>err || true
    equal lines "$(wc -l <err)" 1
    says err '^leakrun: \./pure is statically linked, as Go programs without C code are'
    # shellcheck disable=SC2016 # of the other shell
    the_same 7 sh -c './pure; exit $?'
    says alone '^\[5050000 '
}
cgo='package main

/*
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *make(size_t size) { return malloc(size); }
static char *duplicate(const char *s) { return strcpy(make(strlen(s) + 1), s); }
*/
import "C"
import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

type holder struct {
	inner *holder
	block unsafe.Pointer
}

var global unsafe.Pointer
var kept *holder

//go:noinline
func loseString() { C.CString("lost, and is never freed.") }

//go:noinline
func loseInC() {
	s := C.CString("copied")
	C.duplicate(s)
	C.free(unsafe.Pointer(s))
}

//go:noinline
func keepInGlobal() { global = C.make(6007) }

//go:noinline
func keepInGo() { kept = &holder{inner: &holder{block: C.make(5003)}} }

//go:noinline
func keepInMap() map[int]*holder {
	m := map[int]*holder{}
	for i := 0; i < 100; i++ {
		m[i] = &holder{block: C.make(701)}
	}
	return m
}

func faults() (what string) {
	defer func() { what = fmt.Sprint(recover()) }()
	var nowhere *holder
	nowhere.block = nil
	return
}

func main() {
	loseString()
	loseInC()
	keepInGlobal()
	keepInGo()
	m := keepInMap()
	var group sync.WaitGroup
	for g := 0; g < 8; g++ {
		group.Add(2)
		go func() {
			defer group.Done()
			for i := 0; i < 5000; i++ {
				p := C.make(C.size_t(i%100 + 1))
				_ = make([]byte, i%1000)
				C.free(p)
			}
		}()
		go func() {
			defer group.Done()
			x := 0
			for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
				for i := 0; i < 1<<22; i++ {
					x += i ^ x
				}
			}
			if x == 1 {
				fmt.Println("odd")
			}
		}()
	}
	group.Wait()
	runtime.GC()
	waits, forever := make(chan bool), make(chan bool)
	go func() {
		local := C.make(901)
		waits <- true
		<-forever
		C.free(local)
	}()
	<-waits
	fmt.Println(faults(), len(m))
	switch {
	case len(os.Args) == 1:
		C.exit(7)
	case os.Args[1] == "look":
		fmt.Println("ready")
		for os.Getenv("STOP") == "" {
			if _, err := os.Stat("stop"); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	case os.Args[1] == "signals": // signal.Notify starts a thread that blocks all other signals
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGUSR1)
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		fmt.Println(<-heard)
		C.exit(8)
	case os.Args[1] == "panic":
		panic("the end")
	}
	runtime.KeepAlive(m)
}'
# What it leaves: 2 strings of 33 bytes lost, in Go memory and in a goroutine 103 blocks. A word that Go has left on
# a stack or in a register may point into a string, which is not lost then; what is held never is.
go_verdicts() { # file
    figures=' lost=\([0-9]*\)/\([0-9]*\)/.* indirect=0/0/0 possible=\([0-9]*\)/\([0-9]*\)/.* reachable=\([0-9]*\)/\([0-9]*\)/.* errors=0 '
    equal "$(tail -n 1 "$1"): sums, at most 33 bytes lost, 82011 held" "$(sed -n "s,.*$figures.*,\1 \2 \3 \4 \5 \6,p" "$1" |
        awk '{ print $1 + $3 + $5, $2 + $4 + $6, $1 <= 33, $5 >= 82011 }')" '82044 105 1 1'
}

test_cgo_leaks_name_go_functions_and_go_memory_holds_blocks() {
    need_go C
    echo "$cgo" | golang calls
    for _ in 1 2 3 4 5; do
        the_same 7 ./calls
        go_verdicts report
        ! grep -q ' lost=33/2/2 ' report || break
    done
    says report ' lost=33/2/2 '
    says alone 'nil pointer dereference 100$'
    says report '^     main\.loseString  *calls\.go:32$'
    says report '^     duplicate .*calls\.go:9$'
    says report '^     main\.loseInC  *calls\.go:37$'
    says report '^     main\.main  *calls\.go:[0-9]+$'
    silent_about report 'no unwind information.*main'
}
test_goroutines_that_are_preempted_do_not_notice() {
    need_go C
    echo "$cgo" | golang calls
    for processors in 1 2 8; do
        export GOMAXPROCS=$processors
        the_same 7 ./calls
        go_verdicts report
        the_same 8 ./calls signals
        says alone '^user defined signal 1$'
        says report ' indirect=0/0/0 .* errors=0 '
        the_same 2 ./calls panic
        says errors '^panic: the end'
    done
}
test_stripped_go_programs_are_known_as_such_too() {
    need_go C
    echo "$cgo" | golang calls -ldflags '-s -w -buildid='
    the_same 7 ./calls
    go_verdicts report
}
test_go_program_that_exits_by_itself_can_be_asked() {
    need_go C
    echo "$cgo" | golang calls
    the_same 0 ./calls end
    says report ' lost=0/0/0 .* unfreed=82[0-9]*/10[0-9]/'
    mkdir -m 700 stores
    env "LD_PRELOAD=$O/libleak.so" "LIBLEAK_OPTIONS=dir=$PWD/stores" ./calls look >out &
    trap 'touch stop; wait' EXIT
    until grep -q ready out; do sleep 0.1; done
    LIBLEAK_DIR=$PWD/stores "$O/leakctl" snapshot $! >look
    "$O/leakreport" stores/*.leak --show=all --top=0 >report || true
    go_verdicts report
}
test_go_archive_in_a_program_of_c_runs() {
    need_go C
    cat >part.go <<'END'
package main

/*
#include <stdlib.h>
*/
import "C"
import "time"

//export Work
func Work(n C.int) C.int {
	done := make(chan C.int)
	for i := 0; i < 4; i++ {
		go func() {
			x := C.int(0)
			for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
				for i := 0; i < 1<<22; i++ {
					x |= C.int(i)
				}
			}
			for i := 0; i < 100; i++ {
				C.CString("lost")
			}
			done <- x &^ x
		}()
	}
	for i := 0; i < 4; i++ {
		n += 1 + <-done
	}
	return n
}

func main() {}
END
    cat >uses.c <<'END'
#include <stdio.h>
int Work(int n);
int main(void) { printf("%d\n", Work(3)); return 5; }
END
    for kind in archive shared; do
        case $kind in archive) library=./libpart.a ;; *) library=./libpart.so ;; esac
        go build -buildmode=c-$kind -o $library part.go
        gcc -g -o uses uses.c $library -pthread
        the_same 5 ./uses
        says alone '^7$'
        # Not all 400 are lost: Go's memory is full of stale words.
        says report ' indirect=0/0/0 possible=0/0/0 .* unfreed=0/0/0 .* errors=0 '
        says report 'bytes in ([4-9][0-9]|[1-3][0-9][0-9]|400) blocks lost'
        says report '^     main\.Work\.func1  *part\.go:[0-9]+$'
    done
}

# ---- Free Pascal, Ada, D, Haskell, OCaml, Fortran ---------------------------------------------

# Each program: without an argument nothing is lost; "leak" loses ten blocks of 1234 bytes and more, in lose;
# another word ends it otherwise. Its main, or what stands for it, returns in the language's own way.
compiles() { # compiler and arguments
    need "$1"
    "$@" >compiler.out 2>&1 || skip "no $1 that works: $(tail -n1 compiler.out)"
}
ends_as_alone() { # the program, the statuses without an argument, with "leak" and with "other"; blocks
    program=$1
    the_same "$2" "$program"
    says report " lost=[0-9]*/${5:-0}/.* errors=0 "
    the_same "$3" "$program" leak
    says report ' lost=[12][0-9]{4}/(9|1[01])/.* errors=0 '
    the_same "$4" "$program" other
    for options in enabled=0 crash=only; do
        status=0
        env "LD_PRELOAD=$O/libleak.so" "LIBLEAK_OPTIONS=$options:dir=$PWD" "$program" leak >under 2>errors || status=$?
        equal "status with $options ($(tail -n 3 errors))" "$status" "$3"
        "$program" leak >alone 2>errors || true
        cmp alone under
    done
}

test_free_pascal_main_ends_as_alone() {
    need fpc
    cat >program.pas <<'END'
program program1;
{$mode objfpc}{$H+}
uses cmem, SysUtils, Classes;
var list: TStringList; i: integer;
procedure lose;
var p: pointer;
begin
  p := GetMem(1234);
  FillChar(p^, 1234, 0);
  p := nil;
end;
procedure clear(deep: integer);
var dead: array[0..1023] of integer;
begin
  for deep := 0 to 1023 do dead[deep] := deep;
  if dead[1023] = 0 then clear(1);
end;
begin
  list := TStringList.Create;
  for i := 1 to 100 do list.Add(IntToStr(i));
  WriteLn(list.Count, ' ', list[42]);
  list.Free;
  try raise Exception.Create('raised'); except on e: Exception do WriteLn(e.Message); end;
  if ParamStr(1) = 'leak' then for i := 1 to 10 do lose;
  clear(0);
  if ParamStr(1) = 'other' then Halt(9);
  ExitCode := 5;
end.
END
    compiles fpc -gl program.pas
    ends_as_alone ./program 5 5 9
    says alone '^100 43$'
}
test_free_pascal_thread_that_halts_ends_as_alone() {
    need fpc
    cat >threads.pas <<'END'
program threads;
{$mode objfpc}{$H+}
uses cthreads, SysUtils, Classes;
type T = class(TThread) procedure Execute; override; end;
procedure T.Execute;
var i: integer; s: string;
begin
  s := '';
  for i := 1 to 10000 do s := s + 'x';
  WriteLn(Length(s));
  if ParamStr(1) = 'halt' then Halt(6);
end;
var one: T;
begin
  one := T.Create(false);
  one.WaitFor;
  one.Free;
  WriteLn('done');
  Halt(3);
end.
END
    compiles fpc -gl threads.pas
    the_same 3 ./threads
    the_same 6 ./threads halt
}
test_ada_main_ends_as_alone() {
    cat >program.adb <<'END'
with Ada.Text_IO; use Ada.Text_IO;
with Ada.Command_Line; use Ada.Command_Line;
with Ada.Containers.Vectors;
procedure Program is
   type Block is array (1 .. 1234) of Character;
   type Pointer is access Block;
   package Vectors is new Ada.Containers.Vectors (Positive, Integer);
   All_Of_Them : Vectors.Vector;
   procedure Lose is
      P : Pointer;
   begin
      P := new Block;
      P (1) := 'x';
      P := null;
   end Lose;
   task type Worker;
   task body Worker is begin null; end Worker;
begin
   for I in 1 .. 1000 loop All_Of_Them.Append (I); end loop;
   declare One, Two : Worker; begin null; end;
   Put_Line ("length" & All_Of_Them.Length'Image);
   begin raise Constraint_Error; exception when Constraint_Error => Put_Line ("caught"); end;
   Set_Exit_Status (5);
   if Argument_Count > 0 and then Argument (1) = "leak" then for I in 1 .. 10 loop Lose; end loop; end if;
   if Argument_Count > 0 and then Argument (1) = "other" then raise Program_Error; end if;
end Program;
END
    compiles gnatmake -g -q program.adb
    ends_as_alone ./program 5 5 1
}
d_program='import core.stdc.stdlib, core.thread, std.stdio;
class Node { int[] all; this() { all.length = 1000; } }
void lose() { auto p = cast(char*) calloc(1, 1234); p[0] = 1; p = null; }
void clear() { int[1024] dead; foreach (i, ref word; dead) word = cast(int) i; if (dead[1023] == 0) clear(); }
int main(string[] words) {
    foreach (i; 0 .. 1000) { auto node = new Node; node.all[3] = i; }
    auto thread = new Thread({ foreach (i; 0 .. 100) new Node; });
    thread.start();
    thread.join();
    try { throw new Exception("thrown"); } catch (Exception e) { writeln(e.msg); }
    if (words.length > 1 && words[1] == "leak") foreach (i; 0 .. 10) lose();
    clear();
    if (words.length > 1 && words[1] == "other") exit(9);
    return 5;
}'
test_d_main_of_ldc_ends_as_alone() {
    echo "$d_program" >program.d
    compiles ldc2 -g -of=program program.d
    ends_as_alone ./program 5 5 9
}
test_d_main_of_gdc_ends_as_alone() {
    echo "$d_program" >program.d
    compiles gdc -g -o program program.d
    ends_as_alone ./program 5 5 9
}
test_haskell_main_ends_as_alone() {
    cat >program.hs <<'END'
{-# LANGUAGE ForeignFunctionInterface #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map as Map
import System.Environment
import System.Exit
foreign import ccall "lose" lose :: IO ()
main :: IO ()
main = do
  arguments <- getArgs
  print (Map.size (Map.fromList [(i, show i) | i <- [1 .. 1000 :: Int]]))
  done <- newEmptyMVar
  _ <- forkIO (putMVar done ())
  takeMVar done
  when (arguments == ["leak"]) (replicateM_ 10 lose)
  r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
  print r
  when (arguments == ["other"]) (error "the end")
  exitWith (ExitFailure 5)
END
    cat >part.c <<'END'
#include <stdlib.h>
static void *volatile sink;
void lose(void) { sink = calloc(1, 1234); sink = NULL; }
END
    for kind in '' -threaded; do
        # shellcheck disable=SC2086 # no word, or one
        compiles ghc -g $kind program.hs part.c -o program
        ends_as_alone ./program 5 5 1
    done
}
test_ocaml_main_ends_as_alone() {
    cat >program.ml <<'END'
external lose : unit -> unit = "lose"
let () =
  let list = List.init 10000 string_of_int in
  print_endline (string_of_int (List.length list));
  (try failwith "raised" with Failure m -> print_endline m);
  at_exit (fun () -> print_endline "at exit");
  if Array.length Sys.argv > 1 && Sys.argv.(1) = "leak" then for _ = 1 to 10 do lose () done;
  if Array.length Sys.argv > 1 && Sys.argv.(1) = "other" then failwith "the end";
  exit 5
END
    cat >part.c <<'END'
#include <stdlib.h>
static void *volatile sink;
long lose(long unit) { sink = calloc(1, 1234); sink = NULL; return unit; }
END
    compiles ocamlopt -g -o program part.c program.ml
    ends_as_alone ./program 5 5 2 1 # the runtime's stack for signals
}
test_fortran_main_ends_as_alone() {
    cat >program.f90 <<'END'
program main
  implicit none
  integer, allocatable :: a(:)
  integer :: i
  character(10) :: word
  allocate(a(1000))
  a = [(i, i = 1, 1000)]
  print *, sum(a)
  deallocate(a)
  call get_command_argument(1, word)
  if (word == 'leak') then
    do i = 1, 10
      call lose()
    end do
  end if
  if (word == 'other') error stop 9
  stop 5
contains
  subroutine lose()
    character, pointer :: p(:)
    allocate(p(1234))
    p = 'x'
    nullify(p)
  end subroutine
end program
END
    compiles gfortran -g -o program program.f90
    ends_as_alone ./program 5 5 9
}

# ---- Clang's XRay -------------------------------------------------------------------------------

# Old pointers in memory that was never written hide blocks; node has much of it. Its own blocks are no leaks of the addon.
test_leaks_of_a_node_addon_are_found() {
    need gcc node
    headers=
    for folder in /usr/include/node /usr/local/include/node; do
        [ ! -e "$folder/node_api.h" ] || headers=$folder
    done
    [ "$headers" ] || skip 'no node_api.h here'
    cat >addon.c <<'END'
#include <node_api.h>
#include <stdlib.h>
static napi_value work(napi_env env, napi_callback_info info)
{
    char *volatile block = malloc(1234);
    (void)env, (void)info;
    block[0] = 1;
    if (FREES)
        free(block);
    block = NULL;
    return NULL;
}
static napi_value start(napi_env env, napi_value exports)
{
    napi_value function;
    napi_create_function(env, "work", NAPI_AUTO_LENGTH, work, NULL, &function);
    napi_set_named_property(env, exports, "work", function);
    return exports;
}
NAPI_MODULE(addon, start)
END
    echo 'const addon = require("./addon.node"); for (let i = 0; i < 40; i++) addon.work(); console.log("ok");' >main.js
    for frees in 0 1; do
        gcc -g -O1 -shared -fPIC "-I$headers" "-DFREES=$frees" -o addon.node addon.c
        leakrun --color=never --top=0 -o report --force node main.js >out 2>err
        equal output "$(cat out)" ok
        case $frees in
        0) says report '^[0-9]+\. 49,360 bytes in 40( of [0-9]+)? blocks lost' && says report '^     work  *addon\.c:5$' ;;
        1) silent_about report 'addon\.c' ;;
        esac
    done
}
test_xray_rewrites_a_linked_malloc() {
    need clang
    cat >xray.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int __xray_set_handler(void (*)(int, int)), __xray_patch(void), __xray_unpatch(void);
static long seen;
__attribute__((xray_never_instrument)) static void handler(int function, int what) { seen++; }
static void *volatile sink;
__attribute__((noinline)) static void lose(void) { sink = malloc(77); sink = NULL; }
__attribute__((noinline)) static void use(void **old)
{
    for (int i = 0; i < 1000; i++) {
        void *p = calloc(3, i % 9 + 1), *q = malloc(i % 300 + 1);
        free(realloc(p, 500));
        free(q);
    }
    free(*old);
    *old = malloc(1000);
    lose();
}
int main(void)
{
    void *old = NULL;
    use(&old);
    __xray_set_handler(handler);
    for (int i = 0; i < 5; i++) {
        __xray_patch();
        use(&old);
        __xray_unpatch();
        use(&old);
    }
    free(old);
    printf("%ld\n", seen);
    return 5;
}
END
    for protection in none full; do
        compiles clang -O2 -g -w -fno-builtin -fcf-protection=$protection -fxray-instrument \
            -fxray-instruction-threshold=1 -o xray xray.c "$root/tests/e2e/lib/linked_malloc.c" -pthread
        the_same 5 ./xray
        says alone '^[0-9]{5}'
        says report ' lost=847/11/[0-9]* indirect=0/0/0 possible=0/0/0 .* reachable=0/0/0 .* errors=0 '
        silent_about errors 'not tracked'
    done
}
