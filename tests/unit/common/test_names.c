/* test_names.c - names and what they say: demangling, whose code a frame is. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"
#include "common/base/term_text.h"
#include "tests/unit/suite.h"

static const struct {
    const char *mangled, *readable;
} names[] = {
    {"main", "main"},
    {"", ""},
    {"_ZN3foo3barEi", "foo::bar(int)"},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi",
     "std::vector<int, std::allocator<int> >::push_back(int const&)"},
    {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"work.constprop.0", "work"},
    {"work.isra.0.cold", "work"},
    {"memcpy@@GLIBC_2.14", "memcpy"},
    {"__GI__IO_file_doallocate", "_IO_file_doallocate"},
    {"_Znot_mangled", "_Znot_mangled"},
    {".part.3", ".part.3"},
};

START_TEST(names_are_made_readable)
{
    struct arena *mem = arena_begin();

    ck_assert_str_eq(demangle(mem, names[_i].mangled), names[_i].readable);
    arena_end(mem);
}
END_TEST

static const struct {
    const char *name, *shorter;
} shortened[] = {
    {"main", "main"},
    {"std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
     "std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
     "> > >::push_back",
     "std::vector<std::string>::push_back"},
    {"app::Cache<std::map<int, std::vector<long, std::allocator<long> >, std::less<int>, "
     "std::allocator<std::pair<int const, std::vector<long, std::allocator<long> > > > > >::put",
     "app::Cache<std::map<int, std::vector<long>>>::put"},
    {"std::__1::vector<int, std::__1::allocator<int> >::at", "std::vector<int>::at"},
    {"std::basic_ostream<wchar_t, std::char_traits<wchar_t> >& f", "std::wostream& f"},
    {"std::unique_ptr<A, std::default_delete<A> >::reset", "std::unique_ptr<A>::reset"},
    {"name[abi:cxx11]", "name"},
    /* What somebody chose stays. */
    {"std::vector<int, my::pool<int> >::at", "std::vector<int, my::pool<int>>::at"},
    {"std::map<int, long, std::greater<int>, std::allocator<int> >::at",
     "std::map<int, long, std::greater<int>, std::allocator<int>>::at"},
    {"std::basic_string<char, my::traits, std::allocator<char> >::at",
     "std::basic_string<char, my::traits, std::allocator<char>>::at"},
    {"std::map<int, std::less<int> >::at", "std::map<int, std::less<int>>::at"},
    {"std::vector<std::allocator<int> >::at", "std::vector<std::allocator<int>>::at"},
    {"my::std::vector<int, std::allocator<int> >::at",
     "my::std::vector<int, std::allocator<int>>::at"},
    {"vector<int, std::allocator<int> >::at", "vector<int, std::allocator<int>>::at"},
    {"std::vectors<int, std::allocator<int> >::at", "std::vectors<int, std::allocator<int>>::at"},
    /* Brackets that are none, and lists that do not end. */
    {"std::set<F<(1 > 2)>, std::less<F<(1 > 2)> >, std::allocator<F<(1 > 2)> > >::at",
     "std::set<F<(1 > 2)>>::at"},
    {"std::set<F<&X::operator< >, std::less<int> >::at",
     "std::set<F<&X::operator< >, std::less<int>>::at"},
    {"std::vector<int, std::allocator<int", "std::vector<int, std::allocator<int"},
    {"std::vector<", "std::vector<"},
    {"std::__cxx11::", "std::"},
    {"std::basic_", "std::basic_"},
    {"", ""},
};

START_TEST(names_lose_what_the_standard_says_anyway)
{
    char name[CXX_SHORTEN_MAX];
    size_t length;

    strcpy(name, shortened[_i].name);
    length = cxx_shorten_name(name);
    ck_assert_str_eq(name, shortened[_i].shorter);
    ck_assert_uint_eq(length, strlen(name));
    cxx_shorten_name(name);
    ck_assert_str_eq(name, shortened[_i].shorter); /* once is enough */
}
END_TEST

static const struct {
    const char *name, *without;
} omitted[] = {
    {"main", "main"},
    {"Cache<std::map<int, long>>::Entry<char[4]>::put", "Cache<…>::Entry<…>::put"},
    {"Array<(Mode)1, (2>1)>::operator<", "Array<…>::operator<"},
    {"std::operator<< <char>", "std::operator<< <…>"},
    {"List<T>::operator->", "List<T>::operator->"},
    {"damaged<int", "damaged<int"},
};

START_TEST(template_arguments_are_left_out_before_a_name_is_cut)
{
    char name[CXX_SHORTEN_MAX];

    strcpy(name, omitted[_i].name);
    ck_assert_uint_eq(cxx_omit_arguments(name), strlen(omitted[_i].without));
    ck_assert_str_eq(name, omitted[_i].without);
}
END_TEST

static const struct {
    const char *name, *plain;
} plain_names[] = {
    {"f(int)::Local::run(char) const", "f::Local::run"},
    {"app::f(int) const::Local::~Local()", "app::f::Local::~Local"},
    {"main::Local::run()", "main::Local::run"},
    {"f(int)::Local::run()::Inner::get()", "f::Local::run::Inner::get"},
    {"(anonymous namespace)::f(int)::Local::run()", "(anonymous namespace)::f::Local::run"},
    /* What is behind the parameters otherwise is no part of the name. */
    {"app::parse(int) const", "app::parse"},
    {"Thing::operator()(int) const", "Thing::operator()"},
    {"f(g::h)", "f"},
    {"main", "main"},
    {"", ""},
};

START_TEST(members_of_local_classes_keep_their_names)
{
    char name[64];

    ck_assert_uint_eq(demangle_copy_name(plain_names[_i].name, name, sizeof(name)),
                      strlen(plain_names[_i].plain));
    ck_assert_str_eq(name, plain_names[_i].plain);
    ck_assert_uint_eq(demangle_copy_name("four", name, 4), 0);
}
END_TEST

static const struct {
    const char *name, *owner;
} lambdas[] = {
    {"app::parse(int)::{lambda(int)#1}::operator()(int) const", "app::parse"},
    {"void app::parse<int>(char) const::{lambda(int)#2}::operator()(int)", "app::parse<int>"},
    {"main::{lambda()#1}::operator()", "main"},
    {"main::{lambda}::operator()", "main"},
    {"main::<lambda()>::operator()", "main"},
    {"app::parse(int)::$_0::operator()(int) const", "app::parse"},
    {"main::$_1::operator()() const", "main"},
    {"f()::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const", "f"},
    {"(anonymous namespace)::f()::{lambda()#1}::operator()() const", "(anonymous namespace)::f"},
    {"Job::operator()(int)::{lambda()#1}::operator()() const", "Job::operator()"},
    {"f(int)::Local::run()::{lambda()#1}::operator()() const", "f"},
    /* A lambda that is an argument is not the function itself. */
    {"void app::each<main::{lambda(int)#1}>(int, main::{lambda(int)#1})", NULL},
    {"app::parse(int)", NULL},
    {"main::$_0::run()", NULL},
    {"Job::operator()(int) const", NULL},
    {"lambda", NULL},
    {"::{lambda", NULL},
    {"", NULL},
};

START_TEST(the_function_that_contains_a_lambda_is_found)
{
    size_t length;
    const char *owner = demangle_lambda_owner(lambdas[_i].name, &length);

    ck_assert_int_eq(owner != NULL, lambdas[_i].owner != NULL);
    if (owner) {
        ck_assert_uint_eq(length, strlen(lambdas[_i].owner));
        ck_assert_mem_eq(owner, lambdas[_i].owner, length);
    }
}
END_TEST

static const struct {
    const char *name, *named;
} arguments[] = {
    {"each<app::parse(int) const::{lambda(int)#1}>", "each<lambda in parse>"},
    {"each<app::parse<char>(int)::{lambda(int)#1}, Other>::run", "each<lambda in parse>::run"},
    {"each<main()::<lambda(int)>>", "each<lambda in main>"},
    {"each<Job::~Job()::{lambda()#1}>", "each<lambda in ~Job>"},
    {"each<main::$_0>", "each<main::$_0>"},
    {"each<app::Reader::run()::$_0>", "each<lambda in run>"},
    {"a<int>::each<main::{lambda()#1}>", "a<int>::each<lambda in main>"},
    /* Without a lambda, or without the name of its function, nothing changes. */
    {"each<app::parse, 3>", "each<app::parse, 3>"},
    {"each<lambda>", "each<lambda>"},
    {"each<(a>b)::{lambda()#1}>", "each<(a>b)::{lambda()#1}>"},
    {"operator<< <char>", "operator<< <char>"},
    {"damaged<main::{lambda()#1}", "damaged<main::{lambda()#1}"},
    {"main", "main"},
};

START_TEST(a_lambda_as_argument_is_named_by_its_function)
{
    char name[CXX_SHORTEN_MAX];

    strcpy(name, arguments[_i].name);
    ck_assert_uint_eq(cxx_name_lambdas(name), strlen(arguments[_i].named));
    ck_assert_str_eq(name, arguments[_i].named);
}
END_TEST

START_TEST(the_first_words_of_a_name_are_known)
{
    char words[2][NAME_WORD_SIZE];

    ck_assert_uint_eq(name_first_words("tree::makeNode_at(int)", words), 2);
    ck_assert_str_eq(words[0], "make");
    ck_assert_str_eq(words[1], "node");
    ck_assert_uint_eq(name_first_words("make", words), 1);
    ck_assert_str_eq(words[0], "make");
    ck_assert_uint_eq(name_first_words("", words), 0);
}
END_TEST

/* f(Long...<Long...<int>>): libiberty itself gives up at a depth of about 1000. */
START_TEST(names_of_ten_thousand_characters_are_read)
{
    struct arena *mem = arena_begin();
    char name[30000] = "_Z1f", *at = name + 4;
    const char *readable;

    for (int i = 0; i < 200; i++)
        at += sprintf(at, "60Long%056dI", i);
    at = stpcpy(at, "i");
    for (int i = 0; i < 200; i++)
        at = stpcpy(at, "E");
    readable = demangle(mem, name);
    ck_assert_msg(strncmp(readable, "f(Long0000", 10) == 0, "got %.40s", readable);
    ck_assert_uint_gt(strlen(readable), 10000);
    arena_end(mem);
}
END_TEST

/* Each pair takes the one before it twice: 2^60 characters when written out. */
START_TEST(a_name_that_would_never_end_is_left_as_it_is)
{
    struct arena *mem = arena_begin();
    char name[4096] = "_Z1fSt4pairIiiE", *at = name + strlen(name);

    for (int i = 0; i < 60; i++)
        at += sprintf(at, "St4pairIS%c_S%c_E", i < 10 ? '0' + i : 'A' + i % 26,
                      i < 10 ? '0' + i : 'A' + i % 26);
    ck_assert_uint_lt(strlen(demangle(mem, name)), 1 << 18);
    arena_end(mem);
}
END_TEST

static const struct {
    const char *name, *bare;
} scopes[] = {
    {"main", "main"},
    {"foo::bar(int)", "foo::bar"},
    {"void ns::fill<int>(std::vector<int, std::allocator<int> >&)", "ns::fill<int>"},
    {"(anonymous namespace)::helper(char const*)", "(anonymous namespace)::helper"},
    {"operator new(unsigned long)", "operator new"},
    {"Thing::operator()(int) const", "Thing::operator()"},
    {"bool operator< <int>(A<int> const&)", "operator< <int>"},
    {"std::map<int, int>& get<(E)3>(int)", "get<(E)3>"},
    {"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
     "<alloc::vec::Vec<T> as core::clone::Clone>::clone"},
    {"", ""},
    {"(", "("},
    {"<<<<<<", "<<<<<<"},
};

START_TEST(the_qualified_name_is_found)
{
    const char *scope = demangle_scope(scopes[_i].name);
    size_t length = demangle_bare_length(scope);

    ck_assert_msg(strlen(scopes[_i].bare) == length && memcmp(scope, scopes[_i].bare, length) == 0,
                  "%s: wanted '%s', got '%.*s'", scopes[_i].name, scopes[_i].bare, (int)length,
                  scope);
}
END_TEST

static const struct {
    const char *name;
    bool member;
} members[] = {
    {"std::vector<int>::push_back(int)", true},
    {"ns::Map<int, A<B> >::Node::~Node()", true},
    {"void ns::List<T*>::clear()", true},
    {"void ns::fill<int>(std::vector<int>::iterator)", false},
    {"ns::File::read(std::vector<int>&)", false},
    {"Thing::operator<(int)", false},
    {"<alloc::vec::Vec<T> as core::clone::Clone>::clone", false},
    {"main", false},
    {"", false},
    {"<<<<<<", false},
};

START_TEST(members_of_class_templates_are_known)
{
    ck_assert_msg(demangle_is_template_member(members[_i].name) == members[_i].member, "%s",
                  members[_i].name);
}
END_TEST

static const struct {
    const char *module, *function;
    enum frame_role role;
    const char *file;
} roles[] = {
    {"/app", "main", FRAME_USER, NULL},
    {"/app", NULL, FRAME_USER, NULL},
    {"/app", "malloc", FRAME_ALLOCATOR, NULL},
    {"/app", "operator new[](unsigned long)", FRAME_ALLOCATOR, NULL},
    {"/app", "std::vector<int>::push_back(int)", FRAME_RUNTIME, NULL},
    {"/app", "int* std::__copy<int>(int*)", FRAME_RUNTIME, NULL},
    {"/app", "void app::fill<std::vector<int> >(int)", FRAME_USER, NULL},
    {"/app", "alloc::vec::Vec<T>::push", FRAME_RUNTIME, NULL},
    {"/app", "<alloc::vec::Vec<T> as core::clone::Clone>::clone", FRAME_RUNTIME, NULL},
    {"/app", "<app::Thing as core::clone::Clone>::clone", FRAME_USER, NULL},
    {"/app", "stdx::f()", FRAME_USER, NULL},
    {"/app", "_start", FRAME_RUNTIME, NULL},
    {"/app", "xmalloc", FRAME_WRAPPER, NULL},
    {"/app", "eMalloc", FRAME_WRAPPER, NULL},
    {"/app", "jv_mem_alloc", FRAME_WRAPPER, NULL},
    {"/lib/libsqlite3.so.0", "sqlite3Malloc64", FRAME_WRAPPER, NULL},
    {"/app", "app::Pool::strdup_(char const*)", FRAME_WRAPPER, NULL},
    {"/app", "_x_malloc_", FRAME_WRAPPER, NULL},
    {"/app", "test_malloc", FRAME_USER, NULL},
    {"/app", "Suite::leakByStrdup", FRAME_WRAPPER, NULL},
    {"/app", "leak_by_strdup", FRAME_USER, NULL},
    {"/app", "loc", FRAME_USER, NULL},
    {"/app", "node_alloc", FRAME_USER, NULL},
    {"/app", "mallocate", FRAME_USER, NULL},
    {"/app", "malloc::parse(int)", FRAME_USER, NULL},
    {"/app", "alloc", FRAME_USER, NULL},
    {"/lib/libc.so.6", "strdup", FRAME_RUNTIME, NULL},
    {"/lib/libc-2.31.so", NULL, FRAME_RUNTIME, NULL},
    {"/lib/libcurl.so.4", "curl_easy_init", FRAME_USER, NULL},
    {"/lib/ld-linux-x86-64.so.2", "_dl_open", FRAME_RUNTIME, NULL},
    {"/x/libleak.so", "anything", FRAME_ALLOCATOR, NULL},
    {"/app", "<str>::repeat", FRAME_RUNTIME, "/rustc/0123abc/library/alloc/src/str.rs"},
    {"/app", "<app::A as core::alloc::global::GlobalAlloc>::alloc_zeroed", FRAME_WRAPPER, NULL},
    {"/app", "<app::A as app::GlobalAlloc>::alloc_zeroed", FRAME_USER, NULL},
    {"/app", "__rust_try", FRAME_RUNTIME, NULL},
    {"/app", "runtime.goexit", FRAME_RUNTIME, NULL},
    {"/app", "runtime.asmcgocall", FRAME_WRAPPER, NULL},
    {"/app", "_cgo_0a70a2a1447f_Cfunc_make", FRAME_WRAPPER, NULL},
    {"/app", "main._Cfunc_CString", FRAME_WRAPPER, NULL},
    {"/app", "example.org/x.y._cgo_cmalloc", FRAME_WRAPPER, NULL},
    {"/app", "main.runtime", FRAME_USER, NULL},
    {"/app", "main.(*Tree)._Cgo", FRAME_USER, NULL},
    {"/app", "bump", FRAME_RUNTIME, "/usr/include/c++/12/bits/stl_vector.h"},
    {"/app", "app::f", FRAME_USER, "/home/me/rustc/library/f.rs"},
};

START_TEST(a_frame_has_a_role)
{
    ck_assert_msg(classify_frame(roles[_i].module, roles[_i].function, roles[_i].file) ==
                      roles[_i].role,
                  "%s %s", roles[_i].module, roles[_i].function ? roles[_i].function : "?");
}
END_TEST

/* ---- Blocks of the runtime ------------------------------------------------------------------ */

static struct frame frame_of(const char *module, const char *function)
{
    return (struct frame){
        .module = module, .function = function, .role = classify_frame(module, function, NULL)};
}

static bool runtime_block(const char *const pairs[][2], size_t count, uint64_t size)
{
    struct frame frames[8];
    const struct frame *list[8];
    size_t user = count;

    for (size_t i = count; i-- > 0;) {
        frames[i] = frame_of(pairs[i][0], pairs[i][1]);
        list[i] = &frames[i];
        if (frames[i].role == FRAME_USER)
            user = i;
    }
    return classify_is_runtime_block(list, count, user, size);
}

START_TEST(blocks_of_the_runtime_are_distinguished_from_the_users)
{
    static const char libc[] = "/lib/libc.so.6", app[] = "/app", ld[] = "/lib/ld-linux-x86-64.so.2";
    static const char cxx[] = "/lib/libstdc++.so.6";

    ck_assert(runtime_block(
        (const char *const[][2]){{libc, "_IO_file_doallocate"}, {libc, "puts"}, {app, "main"}}, 3,
        4096));
    ck_assert(runtime_block((const char *const[][2]){{cxx, NULL}, {ld, "_dl_init"}}, 2, 72704));
    ck_assert(runtime_block(
        (const char *const[][2]){{ld, "allocate_dtv"}, {libc, "pthread_create"}, {app, "main"}}, 3,
        288));
    ck_assert(runtime_block((const char *const[][2]){{app, "std::rt::init"},
                                                     {app, "std::rt::lang_start"},
                                                     {app, "main"}},
                            3, 544));
    ck_assert(!runtime_block((const char *const[][2]){{app, "std::rt::lang_start"}, {app, "main"}},
                             2, 544));
    ck_assert(!runtime_block((const char *const[][2]){{libc, "strdup"}, {app, "main"}}, 2, 6));
    ck_assert(!runtime_block((const char *const[][2]){{app, "main"}, {libc, "__libc_start_main"}},
                             2, 72704));
    ck_assert(!runtime_block((const char *const[][2]){{app, "malloc"}}, 1, 5));
}
END_TEST

static const struct {
    const char *name;
    bool release, growth;
} says[] = {
    {"node_free", true, false},
    {"freeNode", true, false},
    {"xfree", true, false},
    {"XMLFreeDoc", true, false},
    {"tree::~tree()", true, false},
    {"Tree::close(int)", true, false},
    {"fb_clear_parser", true, false},
    {"freelist_add", false, false},
    {"closest", false, false},
    {"main", false, false},
    {"", false, false},
    {"free::make()", false, false},
    {"CollGrow", false, true},
    {"buffer_grow", false, true},
    {"buf_realloc", false, true},
    {"vec::resize<int>(int)", false, true},
    {"grown_ups", false, false},
    {"ht_resize", false, true},
};

START_TEST(a_functions_name_says_what_it_does)
{
    ck_assert_int_eq(name_says_release(says[_i].name), says[_i].release);
    ck_assert_int_eq(name_says_growth(says[_i].name), says[_i].growth);
}
END_TEST

static const struct {
    const char *function, *maker;
    unsigned fit;
} undoing[] = {
    {"node_free", "node_new", 2},
    {"node_destroy", "node_new", 1},
    {"FreeIf", "AllocIf", 2},
    {"ReleaseInfo", "GetInfo", 2},
    {"file_close", "file_open", 2},
    {"parser_free", "parser_parse", 1},
    {"a::Node::~Node()", "a::Node::Node(int)", 2},
    {"a::Pool::free(void*)", "a::Pool::alloc(int)", 2},
    {"b::Pool::free(void*)", "a::Pool::alloc(int)", 0},
    {"node_free", "list_new", 0},
    {"node_free", "node_new_from", 0},
    {"node_print", "node_new", 0},
    {"node_free", "node_walk", 0},
    {"node_new", "node_new", 0},
    {"free", "", 0},
    {"A::operator delete(void*)", "A::operator new(unsigned long)", 0},
};

START_TEST(a_functions_name_says_which_one_it_undoes)
{
    ck_assert_uint_eq(name_undoes(undoing[_i].function, undoing[_i].maker), undoing[_i].fit);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *all = tcase_create("names");

    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, names_are_made_readable, 0, ROWS(names));
    tcase_add_test(all, names_of_ten_thousand_characters_are_read);
    tcase_add_test(all, a_name_that_would_never_end_is_left_as_it_is);
    tcase_add_loop_test(all, names_lose_what_the_standard_says_anyway, 0, ROWS(shortened));
    tcase_add_loop_test(all, template_arguments_are_left_out_before_a_name_is_cut, 0,
                        ROWS(omitted));
    tcase_add_test(all, the_first_words_of_a_name_are_known);
    tcase_add_loop_test(all, members_of_local_classes_keep_their_names, 0, ROWS(plain_names));
    tcase_add_loop_test(all, the_function_that_contains_a_lambda_is_found, 0, ROWS(lambdas));
    tcase_add_loop_test(all, a_lambda_as_argument_is_named_by_its_function, 0, ROWS(arguments));
    tcase_add_loop_test(all, the_qualified_name_is_found, 0, ROWS(scopes));
    tcase_add_loop_test(all, members_of_class_templates_are_known, 0, ROWS(members));
    tcase_add_loop_test(all, a_functions_name_says_what_it_does, 0, ROWS(says));
    tcase_add_loop_test(all, a_functions_name_says_which_one_it_undoes, 0, ROWS(undoing));
    tcase_add_loop_test(all, a_frame_has_a_role, 0, ROWS(roles));
    tcase_add_test(all, blocks_of_the_runtime_are_distinguished_from_the_users);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
