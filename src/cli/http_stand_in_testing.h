// A server for tests: answers HTTP requests on a port of the loopback interface, one connection after another.
//
// Thread: one of its own, which calls the handler. It begins with the first endpoint(), so what the handler looks at is
// set up before that; the destructor ends it. What the handler has written may be read after requests().
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "wire/headers.h"

namespace teson::cli {

struct StandInRequest {
  std::string method;
  std::string path;
  wire::Headers headers;
  std::string body;
};

struct StandInAnswer {
  int status = 200;
  std::string body = "{}";
  wire::Headers headers;
  bool hang_up = false;  // close the connection instead of answering
};

class HttpStandIn {
 public:
  using Handler = std::function<StandInAnswer(const StandInRequest&)>;
  explicit HttpStandIn(Handler handler);
  ~HttpStandIn();

  std::string endpoint();
  std::vector<StandInRequest> requests() const;
  int connections() const { return connections_; }

 private:
  void serve();
  void serve_connection(int fd);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> ending_{false};
  mutable std::mutex mutex_;
  std::vector<StandInRequest> requests_;
  std::thread thread_;
};

}  // namespace teson::cli
