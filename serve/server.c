/* server.c - serves HTTP; described in server.h. */
#include "serve/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/base/term_text.h"

struct connection {
    int fd; /* -1: this entry is free */
    bool is_refused;
    uint64_t limit_ns; /* time of the steady clock at which the connection is closed */
};

struct server {
    struct MHD_Daemon *daemon;
    const struct gate *gate;
    struct answers *answers;
    pthread_mutex_t lock; /* protects `connections` */
    struct connection connections[CONNECTIONS_MOST];
    uint64_t said_ns; /* time of the last message about a refused request */
};

/* One request and its answer. */
struct exchange {
    struct server *server;
    struct MHD_Connection *connection;
    struct answer answer;
    struct job job;
    size_t body;
    bool waits; /* the connection waits until the job has ended */
};

/* ---- Connections and their limits ------------------------------------------------------------ */

static uint64_t seconds_from_now(unsigned seconds)
{
    return time_steady_ns() + seconds * UINT64_C(1000000000);
}

static struct connection *take_place(struct server *server, int fd)
{
    for (size_t i = 0; i < CONNECTIONS_MOST; i++)
        if (server->connections[i].fd < 0) {
            server->connections[i] = (struct connection){.fd = fd};
            return &server->connections[i];
        }
    return NULL;
}

/* Prints that a request was refused, but at most once a second, however many requests there are. */
static void say_refused(struct server *server, const char *what, const char *value)
{
    uint64_t now = time_steady_ns();

    if (now - server->said_ns < UINT64_C(1000000000))
        return;
    server->said_ns = now;
    fprintf(stderr, "leaktop: refused a request: %s%s\n", what,
            value ? term_text(value, strlen(value), 60).text : "");
}

/* Is called by libmicrohttpd when a connection begins or ends. When a connection ends, its socket
 * is not closed yet, so the descriptor identifies the connection. */
static void note_connection(void *given, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode code)
{
    struct server *server = given;
    struct connection *place;

    pthread_mutex_lock(&server->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;

        place = take_place(server, fd);
        if (place) {
            place->limit_ns = seconds_from_now(REQUEST_SECONDS);
            place->is_refused = !*server->gate->token && !gate_peer_is_allowed(fd);
        }
        if (!place || place->is_refused) {
            shutdown(fd, SHUT_RDWR);
            say_refused(server, "it came from another user", NULL);
        }
        *context = place;
    } else if ((place = *context)) {
        place->fd = -1;
    }
    pthread_mutex_unlock(&server->lock);
}

static struct connection *connection_place(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void set_time_limit(struct server *server, struct MHD_Connection *connection,
                           unsigned seconds)
{
    struct connection *place = connection_place(connection);

    pthread_mutex_lock(&server->lock);
    if (place)
        place->limit_ns = seconds_from_now(seconds);
    pthread_mutex_unlock(&server->lock);
}

void server_sweep(struct server *server)
{
    uint64_t now = time_steady_ns();

    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < CONNECTIONS_MOST; i++)
        if (server->connections[i].fd >= 0 && now > server->connections[i].limit_ns)
            shutdown(server->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
}

/* ---- Passing requests to the gate ------------------------------------------------------------ */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result count_host(void *given, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind, (void)value;
    *(unsigned *)given += strcasecmp(name, "Host") == 0;
    return MHD_YES;
}

/* Returns the header Host if there is exactly one. With two, a proxy may have checked the other
 * one. */
static const char *only_host(struct MHD_Connection *connection)
{
    unsigned count = 0;

    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_host, &count);
    return count == 1 ? header_of(connection, "Host") : NULL;
}

static enum gate_answer ask_gate(struct server *server, struct MHD_Connection *connection)
{
    struct gate_headers headers = {.host = only_host(connection),
                                   .origin = header_of(connection, "Origin"),
                                   .fetch_site = header_of(connection, "Sec-Fetch-Site"),
                                   .authorization = header_of(connection, "Authorization")};
    union socket_address here = {0};
    socklen_t length = sizeof(here);
    enum gate_answer answer = GATE_WRONG_HOST;

    if (getsockname(
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            &here.any, &length) == 0)
        answer = gate_check(server->gate, &headers, &here);
    if (answer == GATE_WRONG_HOST)
        say_refused(server, "its Host is ", headers.host ? headers.host : "missing or repeated");
    else if (answer == GATE_WRONG_ORIGIN)
        say_refused(server, "another page caused it: ",
                    headers.origin ? headers.origin : headers.fetch_site);
    else if (answer == GATE_NO_TOKEN)
        say_refused(server, headers.authorization ? "its token is wrong" : "it has no token", NULL);
    return answer;
}

/* ---- Sending answers ------------------------------------------------------------------------- */

static const struct {
    const char *name, *value;
} all_answers_have[] = {
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    if (value)
        MHD_add_response_header(response, name, value);
}

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     struct MHD_Response *response)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof(all_answers_have) / sizeof(*all_answers_have); i++)
        add_header(response, all_answers_have[i].name, all_answers_have[i].value);
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Sends an answer without content, only with a status. */
static enum MHD_Result send_refusal(struct MHD_Connection *connection, enum gate_answer why)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);

    if (!response)
        return MHD_NO;
    if (why == GATE_NO_TOKEN)
        add_header(response, "WWW-Authenticate", "Basic realm=\"leaktop\"");
    return send_response(
        connection, why == GATE_NO_TOKEN ? MHD_HTTP_UNAUTHORIZED : MHD_HTTP_FORBIDDEN, response);
}

static struct MHD_Response *make_response(struct answer *answer)
{
    struct MHD_Response *response;

    if (answer->fd >= 0) {
        response = MHD_create_response_from_fd64((uint64_t)answer->size, answer->fd);
        answer->fd = response ? -1 : answer->fd; /* the response closes the descriptor */
        return response;
    }
    response = MHD_create_response_from_buffer(answer->length, answer->text ? answer->text : "",
                                               answer->text ? MHD_RESPMEM_MUST_FREE
                                                            : MHD_RESPMEM_PERSISTENT);
    answer->text = response ? NULL : answer->text;
    return response;
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
    struct answer *answer = &exchange->answer;
    struct MHD_Response *response = make_response(answer);

    if (!response)
        return MHD_NO;
    add_header(response, "Content-Type", answer->type);
    add_header(response, "Content-Security-Policy", answer->policy);
    add_header(response, "Allow", answer->allow);
    add_header(response, "Location", answer->location);
    add_header(response, "Content-Encoding", answer->is_gzip ? "gzip" : NULL);
    return send_response(exchange->connection, answer->status, response);
}

/* ---- Handling requests ----------------------------------------------------------------------- */

static const char *find_argument(void *given, const char *name)
{
    return MHD_lookup_connection_value(given, MHD_GET_ARGUMENT_KIND, name);
}

/* Completes an exchange after its job has ended, in the thread of the reports. */
static void continue_exchange(void *given)
{
    struct exchange *exchange = given;

    answer_finish(exchange->server->answers, &exchange->job, &exchange->answer);
    MHD_resume_connection(exchange->connection);
}

static enum MHD_Result answer_exchange(struct exchange *exchange, const char *method,
                                       const char *path)
{
    const char *encodings = header_of(exchange->connection, "Accept-Encoding");
    struct question question = {.method = method,
                                .path = path,
                                .takes_gzip = encodings && strstr(encodings, "gzip"),
                                .argument = find_argument,
                                .context = exchange->connection};
    struct server *server = exchange->server;

    if (answer_begin(server->answers, &question, &exchange->answer, &exchange->job))
        return send_answer(exchange);
    exchange->waits = true;
    exchange->job.done = continue_exchange;
    exchange->job.context = exchange;
    /* before reports_queue(), because from there on another thread may resume the connection */
    MHD_suspend_connection(exchange->connection);
    if (!reports_queue(server->answers->reports, &exchange->job)) {
        answer_message(&exchange->answer, MHD_HTTP_SERVICE_UNAVAILABLE, "Busy",
                       "Too many reports are being written: try again later.");
        MHD_resume_connection(exchange->connection);
    }
    return MHD_YES;
}

static struct exchange *begin_exchange(struct server *server, struct MHD_Connection *connection)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    if (exchange)
        *exchange = (struct exchange){
            .server = server, .connection = connection, .answer.fd = -1, .job.fd = -1};
    set_time_limit(server, connection, ANSWER_SECONDS);
    return exchange;
}

/* Returns the limit for the body of a request, which is read and ignored. go tool pprof posts a
 * body with about 15 bytes for each function without a name. */
static size_t body_most(const char *path)
{
    return address_of_path(path).route == ROUTE_SYMBOLS ? BODY_SYMBOLS_MOST : BODY_MOST;
}

/* Is called by libmicrohttpd when the headers of a request are complete, for each part of the body,
 * at the end of the body, and when the connection is resumed. */
static enum MHD_Result handle_request(void *given, struct MHD_Connection *connection,
                                      const char *path, const char *method, const char *version,
                                      const char *body, size_t *body_size, void **context)
{
    struct server *server = given;
    struct connection *place = connection_place(connection);
    struct exchange *exchange = *context;
    enum gate_answer why;

    (void)version, (void)body;
    if (!place || place->is_refused)
        return MHD_NO;
    if (!exchange) {
        why = ask_gate(server, connection);
        if (why != GATE_OPEN)
            return send_refusal(connection, why);
        *context = exchange = begin_exchange(server, connection);
        return exchange ? MHD_YES : MHD_NO;
    }
    if (*body_size) {
        exchange->body += *body_size;
        *body_size = 0;
        return exchange->body <= body_most(path) ? MHD_YES : MHD_NO;
    }
    return exchange->waits ? send_answer(exchange) : answer_exchange(exchange, method, path);
}

static void end_request(void *given, struct MHD_Connection *connection, void **context,
                        enum MHD_RequestTerminationCode code)
{
    struct exchange *exchange = *context;

    (void)code;
    set_time_limit(given, connection, REQUEST_SECONDS);
    if (!exchange)
        return;
    answer_free(&exchange->answer);
    job_free(&exchange->job);
    free(exchange);
    *context = NULL;
}

/* ---- Starting and ending the server ---------------------------------------------------------- */

static void say_nothing(void *given, const char *format, va_list arguments)
{
    (void)given, (void)format, (void)arguments;
}

static void free_server(struct server *server)
{
    pthread_mutex_destroy(&server->lock);
    free(server);
}

struct server *server_begin(struct listener *listener, const struct gate *gate,
                            struct answers *answers)
{
    struct server *server = array_grow(NULL, &(size_t){0}, 1, sizeof(*server));

    *server = (struct server){.gate = gate, .answers = answers};
    pthread_mutex_init(&server->lock, NULL);
    for (size_t i = 0; i < CONNECTIONS_MOST; i++)
        server->connections[i].fd = -1;
    server->daemon = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        handle_request, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_LISTEN_SOCKET, listener->fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
        end_request, server, MHD_OPTION_END);
    if (server->daemon) {
        listener->fd = -1; /* libmicrohttpd closes the socket */
        return server;
    }
    fprintf(stderr, "leaktop: libmicrohttpd cannot start: %s\n", strerror(errno));
    free_server(server);
    return NULL;
}

void server_end(struct server *server)
{
    MHD_stop_daemon(server->daemon);
    free_server(server);
}
