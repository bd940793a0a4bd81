// The report of a crash names its modules and blocks also when the memory of the recording, which ends before the
// report is written, holds other bytes by then: libc fills what is freed.
//
// RUN: %leak %t
// RUN: export MALLOC_PERTURB_=165
// RUN: for form in text full json ndjson xml; do echo "== $form"; %report -v --format=$form store/*; done
// EXPECT: Loaded: .*/t$
// EXPECT: ^ +/.*/libc\.so
// REFUSE: \\xa5
// REFUSE: \\u00a5

int main(void)
{
    *(volatile int *)8 = 1;
    return 0;
}
