/* server.h - serves HTTP: accepts connections, limits them, and passes each request to the gate and
 * to the answers.
 *
 * One thread of libmicrohttpd answers requests. While a report is written in the thread of the
 * reports, the connection that waits for it is suspended. Limits for clients:
 *
 *     connections    CONNECTIONS_MOST; further ones wait in the kernel's queue or are closed
 *     a request      REQUEST_MEMORY bytes of line and headers, BODY_MOST bytes of body
 *                    (BODY_SYMBOLS_MOST to /debug/pprof/symbol)
 *     time           REQUEST_SECONDS for the headers, ANSWER_SECONDS for the whole answer, and
 *                    IDLE_SECONDS without any byte
 *     reports        REPORTS_KEPT files, one leakreport at a time, JOBS_MOST that wait */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "serve/answers.h"
#include "serve/gate.h"

#define CONNECTIONS_MOST 64
#define REQUEST_MEMORY (32 << 10)
#define BODY_MOST 4096
#define BODY_SYMBOLS_MOST (4 << 20)
#define REQUEST_SECONDS 10
#define ANSWER_SECONDS 600
#define IDLE_SECONDS 10

struct server;

/* Starts the server, and takes over the listening socket. NULL: a message says why it did not
 * start. */
struct server *server_begin(struct listener *listener, const struct gate *gate,
                            struct answers *answers);
/* Closes connections that have exceeded their time. Call it about once a second. */
void server_sweep(struct server *server);
/* Ends the server. Call it after reports_stop(), so that no request waits. */
void server_end(struct server *server);

#endif
