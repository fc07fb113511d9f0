/*
 * The terminal as a screen that is drawn anew, and its keys
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "live/live-screen.h"

/* ECMA-48 and xterm's: another screen without a cursor, and back */
#define ENTER   "\033[?1049h\033[?25l"
#define LEAVE   "\033[?25h\033[?1049l"
#define HOME    "\033[H"
#define BOLD    "\033[1m"
#define REVERSE "\033[7m"
#define PLAIN   "\033[0m"
#define TO_EOL  "\033[K"
#define TO_END  "\033[J"

#define DEFAULT_ROWS    24
#define DEFAULT_COLUMNS 80

static struct termios before, raw;
static volatile sig_atomic_t is_open;

/* Those that end a program without asking it, and the one that stops it */
static const int fatal[] = {
    SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTSTP,
};

bool screen_possible(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
           strcmp(term, "dumb");
}

/* For signal handlers, too */
static void put(const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(STDOUT_FILENO, text, len);

        if (n < 0 && errno != EINTR) {
            return;
        }
        text += MAX(n, 0);
        len -= MAX(n, 0);
    }
}

static void enter(void)
{
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put(ENTER, strlen(ENTER));
    is_open = true;
}

static void leave(void)
{
    if (is_open) {
        is_open = false;
        put(LEAVE, strlen(LEAVE));
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    }
}

static void on_stop(void)
{
    int code = errno;

    leave();
    raise(SIGSTOP);
    /* In the foreground again */
    enter();
    errno = code;
}

static void on_fatal(int sig)
{
    if (sig == SIGTSTP) {
        on_stop();
        return;
    }
    leave();
    signal(sig, SIG_DFL);
    raise(sig);
}

bool screen_open(void)
{
    struct sigaction action = {
        .sa_handler = on_fatal,
        .sa_flags = SA_RESTART,
    };

    if (tcgetattr(STDIN_FILENO, &before) != 0) {
        return false;
    }
    raw = before;
    raw.c_lflag &= ~(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    atexit(leave);
    for (size_t i = 0; i < ARRAY_SIZE(fatal); i++) {
        sigaction(fatal[i], &action, NULL);
    }
    enter();
    return true;
}

void screen_close(void)
{
    leave();
}

void screen_size(unsigned *rows, unsigned *columns)
{
    struct winsize size;

    *rows = DEFAULT_ROWS;
    *columns = DEFAULT_COLUMNS;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row &&
        size.ws_col) {
        *rows = size.ws_row;
        *columns = size.ws_col;
    }
}

/* One line without its end, at most @columns characters of it */
static void append_line(GString *s, const char *line, size_t len,
                        unsigned columns)
{
    const char *end = line + len;
    const char *p = line;

    for (unsigned i = 0; i < columns && p < end; i++) {
        p = g_utf8_next_char(p);
    }
    g_string_append_len(s, line, MIN(p, end) - line);
}

void screen_draw(const char *text, unsigned header, const char *status)
{
    g_autoptr(GString) s = g_string_new(HOME);
    unsigned rows, columns;

    screen_size(&rows, &columns);
    for (unsigned row = 0; row + 1 < rows && *text; row++) {
        size_t len = strcspn(text, "\n");

        g_string_append(s, row < header ? BOLD : "");
        append_line(s, text, len, columns);
        g_string_append(s, PLAIN TO_EOL "\n");
        text += len + (text[len] == '\n');
    }
    g_string_append_printf(s, TO_END "\033[%uH" REVERSE, rows);
    append_line(s, status, strlen(status), columns);
    g_string_append(s, PLAIN TO_EOL);
    if (is_open) {
        put(s->str, s->len);
    }
}
