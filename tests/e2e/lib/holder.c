/* A library with globals of its own. */
static void *in_zeroed;
static void *in_data = &in_zeroed;

void hold(void *a, void *b) { in_zeroed = a, in_data = b; }
void *held(int i) { return i ? in_data : in_zeroed; }
