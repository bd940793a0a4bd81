/* test_gate.c - which requests are answered. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/gate.h"
#include "tests/unit/suite.h"

#define TOKEN "0123456789abcdef"

static const char *names[] = {"box.example"};
static const struct option_list hosts = {names, 1, 1};

static union socket_address address_of(const char *text)
{
    union socket_address address = {.any.sa_family = AF_UNIX};
    socklen_t length;

    if (*text)
        ck_assert(address_parse(text, &address, &length));
    return address;
}

static enum gate_answer check_request(const char *local, const char *host, const char *origin,
                                      const char *site)
{
    struct gate gate = {.hosts = &hosts};
    union socket_address here = address_of(local);

    return gate_check(&gate, &(struct gate_headers){host, origin, site, NULL}, &here);
}

/* local: where the connection arrived; "": a Unix socket. */
static const struct {
    const char *local, *host;
    bool allowed;
} host_rows[] = {
    {"127.0.0.1:80", "127.0.0.1:80", true},
    {"127.0.0.1:80", "127.0.0.1", true},
    {"127.0.0.1:80", "localhost:80", true},
    {"127.0.0.1:80", "LOCALHOST:9000", true}, /* a tunnel has a port of its own */
    {"127.0.0.1:80", "box.example:80", true},
    {"127.0.0.1:80", "evil.example:80", false},
    {"127.0.0.1:80", "localhost.evil.example:80", false},
    {"127.0.0.1:80", "localhostx", false},
    {"127.0.0.1:80", "10.0.0.1:80", false},
    {"127.0.0.1:80", "127.0.0.2:80", false},
    {"127.0.0.1:80", "box.example.evil.example", false},
    {"127.0.0.1:80", "", false},
    {"127.0.0.1:80", ":80", false},
    {"127.0.0.1:80", NULL, false},
    {"127.0.0.1:80", "127.0.0.1:80x", false},
    {"127.0.0.1:80", "127.0.0.1 evil", false},
    {"127.0.0.1:80", "user@127.0.0.1", false},
    {"[::1]:80", "[::1]:80", true},
    {"[::1]:80", "[::1]", true},
    {"[::1]:80", "::1", false},
    {"[::1]:80", "[::1", false},
    {"[::1]:80", "[::2]:80", false},
    {"[::1]:80", "localhost", true},
    {"10.0.0.5:80", "10.0.0.5:80", true},
    {"10.0.0.5:80", "localhost:80", false}, /* that is another machine's name */
    {"10.0.0.5:80", "box.example", true},
    {"", "localhost", true},
    {"", "box.example", true},
    {"", "evil.example", false},
};

START_TEST(a_host_is_allowed_that_names_this_end_of_the_connection)
{
    bool allowed = check_request(host_rows[_i].local, host_rows[_i].host, NULL, NULL) == GATE_OPEN;

    ck_assert_msg(allowed == host_rows[_i].allowed, "%s at %s",
                  host_rows[_i].host ? host_rows[_i].host : "(none)", host_rows[_i].local);
}
END_TEST

static const struct {
    const char *host, *origin, *site;
    bool allowed;
} origin_rows[] = {
    {"127.0.0.1:80", NULL, NULL, true},
    {"127.0.0.1:80", "http://127.0.0.1:80", "same-origin", true},
    {"127.0.0.1:80", NULL, "none", true}, /* typed by the user */
    {"box.example", "https://box.example", "same-origin", true},
    {"127.0.0.1:80", "http://127.0.0.1:81", NULL, false}, /* another port is another origin */
    {"127.0.0.1:80", "http://127.0.0.1", NULL, false},
    {"127.0.0.1:80", "http://localhost:80", NULL, false},
    {"127.0.0.1:80", "http://evil.example", NULL, false},
    {"127.0.0.1:80", "null", NULL, false},
    {"127.0.0.1:80", "", NULL, false},
    {"127.0.0.1:80", "ftp://127.0.0.1:80", NULL, false},
    {"127.0.0.1:80", NULL, "cross-site", false},
    {"127.0.0.1:80", NULL, "same-site", false},
    {"127.0.0.1:80", "http://127.0.0.1:80", "cross-site", false},
};

START_TEST(another_origin_is_refused)
{
    enum gate_answer answer = check_request("127.0.0.1:80", origin_rows[_i].host,
                                            origin_rows[_i].origin, origin_rows[_i].site);

    ck_assert_int_eq(answer, origin_rows[_i].allowed ? GATE_OPEN : GATE_WRONG_ORIGIN);
}
END_TEST

/* "x:0123456789abcdef", ":0123456789abcdef", "0123456789abcdef" in base64. */
static const struct {
    const char *authorization;
    bool right;
} token_rows[] = {
    {"Bearer " TOKEN, true},
    {"bearer " TOKEN, true},
    {"Basic eDowMTIzNDU2Nzg5YWJjZGVm", true},
    {"Basic OjAxMjM0NTY3ODlhYmNkZWY=", true},
    {"Basic MDEyMzQ1Njc4OWFiY2RlZg==", false}, /* a name without a password */
    {"Bearer " TOKEN "x", false},
    {"Bearer 0123456789abcde", false},
    {"Bearer 0123456789abcdeF", false},
    {"Bearer x123456789abcdef", false},
    {"Bearer ", false},
    {"Bearer", false},
    {"Basic ", false},
    {"Basic !!!!", false},
    {"Basic eDowMTIzNDU2Nzg5YWJjZGVm=x", false},
    {"Digest " TOKEN, false},
    {TOKEN, false},
    {"", false},
    {NULL, false},
};

START_TEST(only_the_token_opens)
{
    struct gate gate = {.token = TOKEN};
    union socket_address here = address_of("127.0.0.1:80");
    struct gate_headers headers = {"localhost", NULL, NULL, token_rows[_i].authorization};

    ck_assert(gate_token_is_right(token_rows[_i].authorization, TOKEN) == token_rows[_i].right);
    ck_assert_int_eq(gate_check(&gate, &headers, &here),
                     token_rows[_i].right ? GATE_OPEN : GATE_NO_TOKEN);
}
END_TEST

START_TEST(a_long_password_is_no_overflow)
{
    char text[8192] = "Basic ";

    memset(text + 6, 'A', sizeof(text) - 7);
    ck_assert(!gate_token_is_right(text, TOKEN));
}
END_TEST

/* Lines of /proc/net/tcp and tcp6, of a machine with the low byte first. */
#define REST " 01 00000000:00000000 00:00000000 00000000 "
static const struct {
    const char *line, *from;
    unsigned to_port;
    bool found;
    unsigned user;
} line_rows[] = {
    {"   0: 0100007F:9C40 0100007F:1F90" REST " 1000        0 77 1", "127.0.0.1:40000", 8080, true,
     1000},
    {"   0: 0100007F:9C40 0100007F:1F90" REST " 1000        0 77 1", "127.0.0.1:40001", 8080, false,
     0},
    {"   0: 0100007F:9C40 0100007F:1F90" REST " 1000        0 77 1", "127.0.0.1:40000", 8081, false,
     0},
    {"   0: 0200007F:9C40 0100007F:1F90" REST " 1000        0 77 1", "127.0.0.1:40000", 8080, false,
     0},
    /* closed by its process: it looks like root's */
    {"   0: 0100007F:9C40 0100007F:1F90" REST " 0        0 0 1", "127.0.0.1:40000", 8080, false, 0},
    {"   0: 00000000000000000000000001000000:9C40 00000000000000000000000001000000:1F90" REST
     " 7        0 77 1",
     "[::1]:40000", 8080, true, 7},
    /* an IPv4 client whose socket is one of IPv6 */
    {"   0: 0000000000000000FFFF00000100007F:9C40 0000000000000000FFFF00000100007F:1F90" REST
     " 9        0 77 1",
     "127.0.0.1:40000", 8080, true, 9},
    {"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid",
     "127.0.0.1:40000", 8080, false, 0},
    {"", "127.0.0.1:40000", 8080, false, 0},
};

START_TEST(the_other_end_is_found_among_the_sockets)
{
    union socket_address from = address_of(line_rows[_i].from);
    unsigned user = 12345;
    bool found = gate_line_is_socket(line_rows[_i].line, &from, line_rows[_i].to_port, &user);

    ck_assert(found == line_rows[_i].found);
    if (found)
        ck_assert_uint_eq(user, line_rows[_i].user);
}
END_TEST

static const struct {
    const char *content;
    mode_t mode;
    bool good;
} file_rows[] = {
    {TOKEN "\n", 0600, true},
    {TOKEN, 0400, true},
    {TOKEN "\r\nmore", 0640, true},
    {TOKEN "\n", 0604, false}, /* all users may read it */
    {"short\n", 0600, false},
    {"0123456789 abcdef\n", 0600, false},
    {"", 0600, false},
};

START_TEST(a_token_file_is_private_and_long_enough)
{
    char path[] = "/tmp/libleak-unit-XXXXXX";
    int fd = mkstemp(path);
    struct gate gate = {0};
    size_t length = strlen(file_rows[_i].content);
    bool good;

    ck_assert_int_eq(write(fd, file_rows[_i].content, length), (ssize_t)length);
    ck_assert_int_eq(fchmod(fd, file_rows[_i].mode), 0);
    close(fd);
    good = gate_read_token(&gate, path);
    unlink(path);
    ck_assert(good == file_rows[_i].good);
    if (good)
        ck_assert_str_eq(gate.token, TOKEN);
    ck_assert(!gate_read_token(&gate, path)); /* it is gone */
}
END_TEST

static const struct {
    const char *text;
    bool good, loopback;
    unsigned port;
    const char *host;
} address_rows[] = {
    {"127.0.0.1:0", true, true, 0, "127.0.0.1"},
    {"127.9.9.9:65535", true, true, 65535, "127.9.9.9"},
    {"localhost:80", true, true, 80, "127.0.0.1"},
    {"[::1]:80", true, true, 80, "::1"},
    {"0.0.0.0:80", true, false, 80, "0.0.0.0"},
    {"[::]:80", true, false, 80, "::"},
    {"[::ffff:127.0.0.1]:80", true, true, 80, "127.0.0.1"},
    {"192.168.1.1:80", true, false, 80, "192.168.1.1"},
    {"127.0.0.1", false, false, 0, ""},
    {"127.0.0.1:", false, false, 0, ""},
    {"127.0.0.1:65536", false, false, 0, ""},
    {"127.0.0.1:-1", false, false, 0, ""},
    {"127.0.0.1:80x", false, false, 0, ""},
    {"::1:80", false, false, 0, ""},
    {"[::1:80", false, false, 0, ""},
    {"box.example:80", false, false, 0, ""}, /* no name server is asked */
    {":80", false, false, 0, ""},
    {"", false, false, 0, ""},
};

START_TEST(an_address_is_numeric_with_a_port)
{
    union socket_address address;
    char host[INET6_ADDRSTRLEN];
    socklen_t length;

    ck_assert(address_parse(address_rows[_i].text, &address, &length) == address_rows[_i].good);
    if (!address_rows[_i].good)
        return;
    address_host(&address, host);
    ck_assert_str_eq(host, address_rows[_i].host);
    ck_assert_uint_eq(address_port(&address), address_rows[_i].port);
    ck_assert(address_is_loopback(&address) == address_rows[_i].loopback);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gate");
    TCase *tests = tcase_create("requests");

    tcase_add_loop_test(tests, a_host_is_allowed_that_names_this_end_of_the_connection, 0,
                        ROWS(host_rows));
    tcase_add_loop_test(tests, another_origin_is_refused, 0, ROWS(origin_rows));
    tcase_add_loop_test(tests, only_the_token_opens, 0, ROWS(token_rows));
    tcase_add_test(tests, a_long_password_is_no_overflow);
    tcase_add_loop_test(tests, the_other_end_is_found_among_the_sockets, 0, ROWS(line_rows));
    tcase_add_loop_test(tests, a_token_file_is_private_and_long_enough, 0, ROWS(file_rows));
    tcase_add_loop_test(tests, an_address_is_numeric_with_a_port, 0, ROWS(address_rows));
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
