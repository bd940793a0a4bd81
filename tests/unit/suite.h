/* suite.h - what the tests of all that is not the runtime end with. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>

/* For tcase_add_loop_test(): one run a row. */
#define ROWS(table) (int)(sizeof(table) / sizeof(*(table)))

/* What main returns. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
