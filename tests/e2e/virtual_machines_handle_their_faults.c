// node: an access that WebAssembly checks by a fault, and a stack that is full.
// NEEDS: node
// NOBUILD:
// RUN: cat >case.js <<'END'
// RUN: const code = new Uint8Array([0,97,115,109,1,0,0,0,1,6,1,96,1,127,1,127,3,2,1,0,5,3,1,0,1,7,5,1,1,102,0,0,10,9,1,7,0,32,0,40,2,0,11]);
// RUN: const f = new WebAssembly.Instance(new WebAssembly.Module(code)).exports.f;
// RUN: let caught = 0;
// RUN: for (let i = 0; i < 1000; i++) try { f(0x7ffffff0) } catch (e) { caught++ }
// RUN: function down() { return down() + 1 }
// RUN: try { down() } catch (e) { console.log(caught, e.constructor.name) }
// RUN: END
// RUN: %leak node case.js; echo "status $?"
// RUN: %leak node -e 'process.kill(process.pid, "SIGSEGV"); setTimeout(() => 0, 5000)'; echo "status $?"
// RUN: %report store/*.leak | grep CRASH
// EXPECT: ^1000 RangeError$
// EXPECT: ^status 0$
// EXPECT: ^status 139$
// EXPECT: CRASH: SIGSEGV, raised by the program itself
