/* gate.c - decides which requests are answered; described in gate.h. */
#include "serve/gate.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/term_text.h"

/* ---- The header Host ------------------------------------------------------------------------- */

/* Finds the host in "HOST", "HOST:PORT", "[V6]" or "[V6]:PORT", without brackets. False: the text
 * has another form. */
static bool split_host(const char *text, const char **host, size_t *length)
{
    const char *end;

    if (*text == '[') {
        *host = text + 1;
        *length = strcspn(text + 1, "]");
        end = text + 1 + *length;
        if (*end++ != ']')
            return false;
    } else {
        *host = text;
        *length = strcspn(text, ":");
        end = text + *length;
    }
    if (*end == ':')
        end += 1 + strspn(end + 1, "0123456789");
    return *length && !*end;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* Says whether the header Host is allowed (gate.h). The port is ignored, because a tunnel may use
 * another one, and the host of a foreign page has another name anyway. */
static bool host_is_allowed(const char *text, const struct gate *gate,
                            const union socket_address *local)
{
    char address[INET6_ADDRSTRLEN];
    const char *host;
    size_t length;

    if (!text || !split_host(text, &host, &length))
        return false;
    address_host(local, address);
    if (*address && is_word(host, length, address))
        return true;
    if (address_is_loopback(local) && is_word(host, length, "localhost"))
        return true;
    for (size_t i = 0; gate->hosts && i < gate->hosts->count; i++)
        if (is_word(host, length, gate->hosts->text[i]))
            return true;
    return false;
}

/* ---- The header Origin ----------------------------------------------------------------------- */

static bool origin_is_allowed(const struct gate_headers *headers)
{
    const char *origin = headers->origin, *site = headers->fetch_site;

    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    if (!origin)
        return true;
    if (strncmp(origin, "http://", 7) == 0)
        origin += 7;
    /* the page may be behind a proxy that uses https */
    else if (strncmp(origin, "https://", 8) == 0)
        origin += 8;
    else
        return false;
    return strcasecmp(origin, headers->host) == 0;
}

/* ---- The token ------------------------------------------------------------------------------- */

/* Decodes base64, and adds a NUL. False: the text is no base64, or too long. */
static bool decode_base64(const char *text, char *to, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t word = 0;
    unsigned bits = 0;
    size_t length = 0;

    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);

        if (!digit)
            return false;
        word = word << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        if (length + 1 >= size)
            return false;
        to[length++] = (char)(word >> bits);
    }
    to[length] = '\0';
    return text[strspn(text, "=")] == '\0';
}

/* Says whether a text equals the token; takes equally long for all texts of one length. */
static bool equals_token(const char *text, const char *token)
{
    size_t given = strlen(text), wanted = strlen(token);
    volatile unsigned difference = given != wanted;

    for (size_t i = 0; i < wanted; i++)
        difference |= (unsigned char)token[i] ^ (unsigned char)(i < given ? text[i] : 0);
    return !difference;
}

bool gate_token_is_right(const char *authorization, const char *token)
{
    char both[TOKEN_MOST + 64];
    const char *colon;

    if (!authorization)
        return false;
    if (strncasecmp(authorization, "Bearer ", 7) == 0)
        return equals_token(authorization + 7, token);
    if (strncasecmp(authorization, "Basic ", 6) != 0 ||
        !decode_base64(authorization + 6, both, sizeof(both)))
        return false;
    colon = strchr(both, ':');
    return colon && equals_token(colon + 1, token);
}

enum gate_answer gate_check(const struct gate *gate, const struct gate_headers *headers,
                            const union socket_address *local)
{
    if (!host_is_allowed(headers->host, gate, local))
        return GATE_WRONG_HOST;
    if (!origin_is_allowed(headers))
        return GATE_WRONG_ORIGIN;
    if (*gate->token && !gate_token_is_right(headers->authorization, gate->token))
        return GATE_NO_TOKEN;
    return GATE_OPEN;
}

static bool token_is_usable(const char *token)
{
    size_t length = strlen(token);

    for (size_t i = 0; i < length; i++)
        if (!isgraph((unsigned char)token[i]))
            return false;
    return length >= TOKEN_LEAST && length <= TOKEN_MOST;
}

bool gate_read_token(struct gate *gate, const char *file)
{
    FILE *stream = fopen(file, "re");
    const char *why = NULL;
    struct stat info;

    if (!stream || fstat(fileno(stream), &info) != 0)
        why = strerror(errno);
    else if (S_ISREG(info.st_mode) && info.st_mode & S_IRWXO)
        why = "all users may read it: chmod 600";
    else if (!fgets(gate->token, sizeof(gate->token), stream))
        why = "it is empty";
    else
        gate->token[strcspn(gate->token, "\r\n")] = '\0';
    if (stream)
        fclose(stream);
    if (!why && !token_is_usable(gate->token))
        why = "its first line is no token of 16 to 255 printable characters without blanks";
    if (why)
        fprintf(stderr, "leaktop: --token-file=%s: %s\n", term_shell_word(file).text, why);
    return !why;
}

/* ---- The user at the other end of the connection --------------------------------------------- */

static bool is_our_user(unsigned user)
{
    return user == 0 || user == geteuid();
}

/* Writes an address as /proc/net/tcp does: as hex digits of 32-bit words in the byte order of the
 * machine. */
static void write_kernel_address(const union socket_address *address, bool v6, char text[33])
{
    uint32_t words[4] = {0, 0, htonl(0xffff), 0};

    if (address->any.sa_family == AF_INET6)
        memcpy(words, &address->v6.sin6_addr, sizeof(words));
    else
        words[3] = address->v4.sin_addr.s_addr;
    if (v6)
        snprintf(text, 33, "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%08" PRIX32, words[0], words[1],
                 words[2], words[3]);
    else
        snprintf(text, 33, "%08" PRIX32, words[3]);
}

/* Parses a line "sl: ADDRESS:PORT ADDRESS:PORT state queues timer retries uid timeout inode". If
 * the process has closed the socket, the line has inode 0 and the user root; such a line must not
 * count as root's socket. False: the line has another form, or is about another connection. */
bool gate_line_is_socket(const char *line, const union socket_address *from, unsigned to_port,
                         unsigned *user)
{
    char address[40], wanted[33];
    unsigned port, other;
    unsigned long inode;

    if (sscanf(line, "%*d: %39[0-9A-F]:%X %*39[0-9A-F]:%X %*X %*X:%*X %*X:%*X %*X %u %*d %lu",
               address, &port, &other, user, &inode) != 5)
        return false;
    write_kernel_address(from, strlen(address) == 32, wanted);
    return port == address_port(from) && other == to_port && inode && strcmp(address, wanted) == 0;
}

static bool find_user(const char *file, const union socket_address *from, unsigned to_port,
                      unsigned *user)
{
    FILE *stream = fopen(file, "re");
    char line[512];
    bool found = false;

    while (stream && !found && fgets(line, sizeof(line), stream))
        found = gate_line_is_socket(line, from, to_port, user);
    if (stream)
        fclose(stream);
    return found;
}

bool gate_peer_is_allowed(int fd)
{
    union socket_address here, peer;
    socklen_t length = sizeof(here);
    struct ucred credentials;
    unsigned user;

    if (getsockname(fd, &here.any, &length) != 0)
        return false;
    if (here.any.sa_family == AF_UNIX) {
        length = sizeof(credentials);
        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 &&
               is_our_user(credentials.uid);
    }
    length = sizeof(peer);
    if (getpeername(fd, &peer.any, &length) != 0)
        return false;
    return (find_user("/proc/self/net/tcp", &peer, address_port(&here), &user) ||
            find_user("/proc/self/net/tcp6", &peer, address_port(&here), &user)) &&
           is_our_user(user);
}
