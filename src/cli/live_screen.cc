#include "cli/live_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "cli/failure.h"
#include "cli/output.h"

namespace teson::cli {
namespace {

constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l";
constexpr char kLeave[] = "\x1b[?25h\x1b[?1049l";
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// For the handlers, which may do no more than write and tcsetattr [signal-safety(7)].
termios before;
std::atomic<bool> done = false;
std::atomic<bool> resized = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void restore() {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kLeave, sizeof kLeave - 1);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

void on_end(int) {
  if (!done.exchange(true)) return;
  // Again, while a request is waited for.
  restore();
  _exit(kExitInterrupted);
}

void on_resize(int) { resized = true; }

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

bool LiveScreen::possible() { return ::isatty(STDIN_FILENO) == 1 && stdout_is_terminal(); }

LiveScreen::LiveScreen() {
  ::tcgetattr(STDIN_FILENO, &before);
  for (const int number : kSignals) handle(number, on_end);
  handle(SIGWINCH, on_resize);
  termios quiet = before;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  quiet.c_cc[VSUSP] = _POSIX_VDISABLE;  // stopped, it would leave the shell with this screen
  quiet.c_cc[VMIN] = 0;
  quiet.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  print(kEnter);
  flush_output();
}

LiveScreen::~LiveScreen() {
  flush_output();
  restore();
  for (const int number : kSignals) handle(number, SIG_DFL);
  handle(SIGWINCH, SIG_DFL);
}

ScreenSize LiveScreen::size() const {
  constexpr ScreenSize kUsual{80, 24};
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return kUsual;
  return {size.ws_col, size.ws_row};
}

void LiveScreen::draw(const std::vector<std::string>& lines) {
  // Over what is there, each line's rest cleared: no flicker.
  std::string out = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i) out += (i > 0 ? "\r\n" : "") + lines[i] + "\x1b[K";
  print(out + "\x1b[J");
  if (!flush_output()) done = true;
}

bool LiveScreen::wait(Duration pause) {
  // In slices, so that a signal just before poll costs a slice.
  constexpr int kSliceMillis = 50;
  for (int64_t left = pause.whole_millis(); left > 0 && !done && !resized.exchange(false); left -= kSliceMillis) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, static_cast<int>(std::min<int64_t>(left, kSliceMillis)));
    if (ready <= 0) continue;
    char key = 0;
    const ssize_t got = ::read(STDIN_FILENO, &key, 1);
    if (got == 0 || (got < 0 && errno != EINTR) || key == 'q' || key == 'Q') done = true;
  }
  return !done;
}

}  // namespace teson::cli
