/* test_cxx_match.c - which symbols the name of a function matches, and which it does not. */
#include "tests/unit/preload/unit.h"
#include "preload/elf/symtab.h"

static const struct {
    const char *symbol, *wanted;
    bool same;
} names[] = {
    {"main", "main", true},
    {"main", "mai", false},
    {"main", "main2", false},
    {"main", "", false},
    {"main.main", "main.main", true}, /* Go */
    {"main.init", "main", false},
    {"work.constprop.0", "work", true},
    {"work.isra.0.constprop.1", "work", true},
    {"work.part.0", "work", false},
    {"work.cold", "work", false},
    {"work@@LIB_2", "work", true},
    {"_Z4workv", "work", true},
    {"_Z4workv", "work()", true},
    {"_Z4workv", "_Z4workv", true},
    {"_Z4workv", "_Z4worki", false},
    {"_ZL4workPFvvE", "work", true},
    {"_ZN4Pool4fillEi", "Pool::fill", true},
    {"_ZN4Pool4fillEi", "Pool::fill(int)", true},
    {"_ZN4Pool4fillEi", "fill", false},
    {"_ZN4Pool4fillEi", "Pool", false},
    {"_ZN4Pool4fillEi", "Pool::fil", false},
    {"_ZN4Pool4fillEi", "Pool::filler", false},
    {"_ZN4Pool4fillEi.cold", "Pool::fill", false},
    {"_ZNK3a_b4Pool4sizeEv", "a_b::Pool::size", true},
    {"_ZNVKR4Pool4sizeEv", "Pool::size", true},
    {"_ZN4PoolC2Ei", "Pool::Pool", true},
    {"_ZN4PoolD0Ev", "Pool::~Pool", true},
    {"_ZN4PoolD0Ev", "Pool::Pool", false},
    {"_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work", true},
    {"_ZNSt6thread4joinEv", "std::thread::join", true},
    {"_ZSt4sortv", "std::sort", true},
    {"_ZN4name4workB5cxx11Ev", "name::work", true},
    {"_ZN4main4work17h0123456789abcdefE", "main::work", true}, /* Rust */
    {"_ZN4listIiE4pushEi", "list::push", false},                /* templates are not read */
    {"_ZTV4Pool", "Pool", false},
    {"_ZZN4Pool4fillEiE4once", "Pool::fill", false},
    {"_ZN4Poo", "Poo", false},
    {"_ZN99999999999999999999Pool", "Pool", false},
    {"_ZN", "", false},
    {"_Z", "a", false},
    {"", "a", false},
};

START_TEST(a_function_is_meant_by_what_people_call_it)
{
    ck_assert_msg(symtab_name_matches(names[_i].symbol, names[_i].wanted) == names[_i].same, "%s by '%s'",
                  names[_i].symbol, names[_i].wanted);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("cxxname");
    TCase *tcase = tcase_create("cxxname");
    tcase_add_loop_test(tcase, a_function_is_meant_by_what_people_call_it, 0, ARRAY_LENGTH(names));
    suite_add_tcase(suite, tcase);
    return unit_main(argc, argv, suite);
}
