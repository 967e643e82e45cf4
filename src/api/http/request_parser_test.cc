#include "api/http/request_parser.h"

#include <gtest/gtest.h>

namespace teson::http {
namespace {

struct Outcome {
  std::vector<Request> requests;
  std::optional<ParseError> error;
  bool mid_request = false;
};

// Feeds the bytes as a connection does: `slice` new ones at a time, what was not taken stays in front.
Outcome parse(std::string_view bytes, size_t slice = SIZE_MAX, ParserLimits limits = {}) {
  Outcome out;
  RequestParser parser(limits);
  std::string buffer;
  for (size_t at = 0; at < bytes.size(); at += std::min(slice, bytes.size() - at)) {
    buffer += bytes.substr(at, slice);
    for (;;) {
      const auto used = parser.put(buffer);
      if (!used) {
        out.error = used.error();
        return out;
      }
      buffer.erase(0, *used);
      if (parser.done()) {
        out.requests.push_back(parser.take());
      } else if (*used == 0 || buffer.empty()) {
        break;
      }
      if (buffer.empty()) break;
    }
  }
  out.mid_request = parser.started() || !buffer.empty();
  return out;
}

TEST(RequestParser, ReadsARequestHoweverItIsSliced) {
  const std::string_view bytes =
      "POST /v1/a%20b?x=1&y=a+b HTTP/1.1\r\nHost: h:1\r\nX-Two:  a b \r\nX-Two: c\r\nContent-Length: 5\r\n\r\nhello";
  for (const size_t slice : {size_t{1}, size_t{3}, bytes.size()}) {
    const Outcome out = parse(bytes, slice);
    ASSERT_EQ(out.requests.size(), 1U) << slice;
    const Request& request = out.requests[0];
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/v1/a%20b");
    EXPECT_EQ(request.raw_query, "x=1&y=a+b");
    EXPECT_EQ(request.query_parameter("y"), "a b");
    EXPECT_EQ(request.headers.get("x-two"), "a b");
    EXPECT_EQ(request.headers.count("X-TWO"), 2U);
    EXPECT_EQ(request.body, "hello");
    EXPECT_FALSE(out.mid_request);
  }
}

TEST(RequestParser, TakesPipelinedRequestsApart) {
  const std::string one = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nxy";
  const std::string two = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string three =
      "PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;e=1\r\nde\r\n0\r\nX-Amz-T: "
      "1\r\n\r\n";
  for (const size_t slice : {size_t{1}, size_t{10}, size_t{1000}}) {
    const Outcome out = parse(one + two + three + two, slice);
    ASSERT_FALSE(out.error) << out.error->message;
    ASSERT_EQ(out.requests.size(), 4U) << slice;
    EXPECT_EQ(out.requests[0].body, "xy");
    EXPECT_EQ(out.requests[1].path, "/b");
    EXPECT_EQ(out.requests[2].body, "abcde");
    EXPECT_EQ(out.requests[2].headers.count("x-amz-t"), 0U) << "trailers are not headers";
    EXPECT_EQ(out.requests[3].path, "/b");
  }
}

TEST(RequestParser, AnEmptyChunkedBodyMayComeByteByByte) {
  const std::string head = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"0\r\n\r\n", "0;a=b\r\n\r\n", "000\r\nX: y\r\n\r\n"}) {
    for (const size_t slice : {size_t{1}, size_t{2}, size_t{3}, size_t{4}, size_t{1000}}) {
      const Outcome out = parse(head + body, slice);
      ASSERT_EQ(out.requests.size(), 1U) << body << slice;
      EXPECT_EQ(out.requests[0].body, "");
      EXPECT_FALSE(out.mid_request);
    }
  }
}

TEST(RequestParser, AbsoluteTargetsLoseTheirAuthority) {
  EXPECT_EQ(parse("GET http://h:80/v1/x?a=b HTTP/1.1\r\nHost: h\r\n\r\n").requests.at(0).path, "/v1/x");
  EXPECT_EQ(parse("GET HTTP://h HTTP/1.1\r\nHost: h\r\n\r\n").requests.at(0).path, "/");
  const Request request = parse("GET http://h?a=b HTTP/1.1\r\nHost: h\r\n\r\n").requests.at(0);
  EXPECT_EQ(request.path, "/");
  EXPECT_EQ(request.raw_query, "a=b");
}

TEST(RequestParser, RefusesWhatIsNotARequest) {
  for (const char* bytes : {
           "\x16\x03\x01\x02\x01\r\n\r\n",                              // TLS on a plain port
           "GET\r\n\r\n",                                               // no target
           "GET /a HTTP/2.0\r\nHost: h\r\n\r\n",                        //
           "GET  /a HTTP/1.1\r\nHost: h\r\n\r\n",                       // two blanks
           "GET a HTTP/1.1\r\nHost: h\r\n\r\n",                         // not a path
           "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",                     //
           "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",                      //
           "GET /?a=% HTTP/1.1\r\nHost: h\r\n\r\n",                     //
           "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n",                      //
           "GET /a HTTP/1.1\r\n\r\n",                                   // no Host
           "GET /a HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",             //
           "GET /a HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n",         //
           "GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",   //
           "GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",  //
           "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
           "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
       }) {
    const Outcome out = parse(bytes);
    ASSERT_TRUE(out.error) << bytes;
    EXPECT_EQ(out.error->status, 400) << bytes;
    EXPECT_FALSE(out.error->message.empty());
  }
  EXPECT_EQ(parse("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n").error->status, 501);
}

TEST(RequestParser, LimitsAreAtTheirEdges) {
  ParserLimits limits;
  limits.body_bytes = 10;
  limits.header_bytes = 200;
  const auto with_body = [&](size_t n) {
    return parse(
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(n) + "\r\n\r\n" + std::string(n, 'x'), 7,
        limits);
  };
  EXPECT_EQ(with_body(10).requests.size(), 1U);
  EXPECT_EQ(with_body(11).error->status, 413);
  EXPECT_EQ(
      parse("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n",
            7, limits)
          .error->status,
      413);
  EXPECT_EQ(parse("GET /" + std::string(300, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n", 7, limits).error->status, 431);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(300, 'a') + "\r\n\r\n", 7, limits).error->status,
            431);
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 30; ++i) many += "X-Small: value\r\n";
  EXPECT_EQ(parse(many + "\r\n", 7, limits).error->status, 431);
  EXPECT_EQ(parse("GET /" + std::string(150, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n", 7, limits).requests.size(), 1U);
}

TEST(RequestParser, FoldedHeaderLinesAreRefusedAndFoldedBodiesAreFine) {
  for (const char* fold : {" ", "\t"}) {
    const std::string folded = std::string("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n") + fold + "b\r\n\r\n";
    for (const size_t slice : {size_t{1}, size_t{5}, folded.size()}) {
      const Outcome out = parse(folded, slice);
      ASSERT_TRUE(out.error) << slice;
      EXPECT_EQ(out.error->status, 400);
    }
  }
  EXPECT_EQ(parse("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\n \n\t").requests.at(0).body, "\n \n\t");
}

// Found by fuzzing: an unfinished chunk header that is looked at again and again must not use up the body's limit.
TEST(RequestParser, AChunkHeaderInPiecesIsRefusedForWhatItIs) {
  ParserLimits limits;
  limits.body_bytes = 20;
  const std::string bytes =
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n6;e=\"a\r\nlong quoted "
      "text\"\r\nabcdef\r\n0\r\n\r\n";
  for (const size_t slice : {size_t{1}, size_t{4}, bytes.size()}) {
    const Outcome out = parse(bytes, slice, limits);
    ASSERT_TRUE(out.error) << slice;
    EXPECT_EQ(out.error->status, 400) << slice << ": " << out.error->message;
  }
}

TEST(RequestParser, StopsAtTheHeadForContinue) {
  RequestParser parser({});
  const std::string bytes = "PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx";
  const auto used = parser.put(bytes);
  ASSERT_TRUE(used);
  EXPECT_EQ(*used, bytes.size() - 1);
  EXPECT_TRUE(parser.head_done());
  EXPECT_TRUE(parser.wants_continue());
  EXPECT_EQ(parser.put("x"), 1U);
  EXPECT_TRUE(parser.done());
  EXPECT_FALSE(parser.wants_continue());
}

TEST(RequestParser, KnowsWhetherTheConnectionStaysOpen) {
  const auto keep = [](const char* bytes) {
    RequestParser parser({});
    EXPECT_TRUE(parser.put(bytes));
    return parser.keep_alive();
  };
  EXPECT_TRUE(keep("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_FALSE(keep("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keep("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keep("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

}  // namespace
}  // namespace teson::http
