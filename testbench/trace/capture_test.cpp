// What a trace says of its capture, and the multiply-accumulates that it has itself.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/trace/capture_record.hpp"
#include "sim/trace/layer_geometry.hpp"
#include "testbench/support/contains.hpp"
#include "testbench/support/refusal.hpp"
#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

using trace::Capture;

const std::string fc = R"([{"name":"fc","kind":"linear"}])";

std::string with_capture(const std::string& json) {
  // 2 x 3 by 4 x 3 in two steps: 48 multiply-accumulates forward.
  return trace_bytes(fc,
                     {{"s0.fc.input", {2, 3}},
                      {"s0.fc.weight", {4, 3}},
                      {"s1.fc.input", {2, 3}},
                      {"s1.fc.weight", {4, 3}},
                      {"s1.fc.grad_output", {2, 4}}},
                     R"(,"mantissa.capture":)" + quoted(json));
}

TEST(Capture, SaysWhatIsMissing) {
  const trace::Trace trace(open_bytes(with_capture(R"({"executed_macs":192,"notes":["bmm","a \"b\""]})")));
  EXPECT_EQ(trace.coverage(), 0.25);
  EXPECT_EQ(trace.capture()->notes, (std::vector<std::string>{"bmm", "a \"b\""}));
  EXPECT_EQ(macs_of(trace, Pass::forward), 48);
  EXPECT_EQ(macs_of(trace, Pass::input_gradient), 24);  // one step has gradients
  EXPECT_EQ(macs_of(trace, Pass::weight_gradient), 24);
  const trace::Trace whole(open_bytes(with_capture(R"({"executed_macs":48})")));
  EXPECT_EQ(whole.coverage(), 1);
  const trace::Trace silent(open_bytes(with_capture("{}")));
  EXPECT_FALSE(silent.coverage());
  EXPECT_TRUE(silent.capture());
}

TEST(Capture, ComesBackAsWritten) {
  for (const Capture& capture : {Capture{}, Capture{.executed_macs = 0x1p53, .notes = {"ü \\ \"", "b"}},
                                 Capture{.executed_macs = 1, .notes = {}}}) {
    const Capture read = trace::parse_capture(trace::capture_json(capture), "f");
    EXPECT_EQ(read.executed_macs, capture.executed_macs);
    EXPECT_EQ(read.notes, capture.notes);
  }
}

TEST(Capture, RefusesWhatCannotBe) {
  std::string many = R"(["n")";
  for (int i = 0; i < 1000; ++i) many += R"(,"n")";
  const std::string longest(500, 'x');
  const struct {
    std::string json;
    std::string words;
  } cases[] = {
      {"[", "not valid JSON"},
      {"[]", "is not an object"},
      {R"({"macs":1})", "unknown key 'macs'; allowed: executed_macs, notes"},
      {R"({"executed_macs":0})", "executed_macs is 0; it must be a whole number in 1..9007199254740992"},
      {R"({"executed_macs":9007199254740993})", "executed_macs is 9007199254740993"},
      {R"({"executed_macs":1e3})", "executed_macs is 1000"},
      {R"({"executed_macs":"9"})", "executed_macs is"},
      {R"({"executed_macs":47})", "executed_macs is 47, less than the 48 forward"},
      {R"({"notes":"n"})", "it must be a list"},
      {R"({"notes":[1]})", "a note is 1; it must be a string"},
      {R"({"notes":[["n"]]})", "nested deeper"},
      {R"({"notes":[""]})", "a note is empty"},
      {R"({"notes":["a\nb"]})", "control characters"},
      {R"({"notes":["a\u001b[31m"]})", "control characters"},
      {R"({"notes":[")" + longest + R"(x"]})", "a note has more than 500 bytes"},
      {R"({"notes":)" + many + "]}", "more than 1000 notes"}};
  for (const auto& [json, words] : cases) {
    const std::string complaint = complaint_of_trace(with_capture(json));
    EXPECT_TRUE(contains(complaint, words)) << json.substr(0, 100) << ": " << complaint;
    EXPECT_TRUE(contains(complaint, "hand.safetensors: mantissa.capture")) << complaint;
  }
  EXPECT_EQ(complaint_of_trace(with_capture(R"({"notes":[")" + longest + R"("]})")), "");
}

// Every pair of an input and an output element that a tap connects, on the grid of outputs without its end.
double counted(const ConvShape& g, bool forward) {
  double pairs = 1;
  for (int axis = 0; axis < 2; ++axis) {
    double of_axis = 0;
    for (std::int64_t tap = 0; tap < g.kernel[axis]; ++tap) {
      if (forward) of_axis += static_cast<double>(g.out[axis]);
      for (std::int64_t h = 0; !forward && h < g.in[axis]; ++h)
        of_axis += (h + g.padding[axis] - tap * g.dilation[axis]) % g.stride[axis] == 0 ? 1 : 0;
    }
    pairs *= of_axis;
  }
  return pairs * static_cast<double>(g.batch * g.out_channels * g.in_group());
}

TEST(LayerMacs, CountPaddingAndNoHoles) {
  for (std::int64_t stride = 1; stride <= 4; ++stride) {
    for (std::int64_t kernel = 1; kernel <= 5; ++kernel) {
      for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
        ConvShape g{.batch = 2, .in_channels = 6, .out_channels = 9, .groups = 3, .in = {17, 13}};
        g.kernel = {kernel, 1};
        g.stride = {stride, 3};
        g.padding = {(kernel - 1) / 2, 0};
        g.dilation = {dilation, 1};
        g.out = g.fitting_out();
        EXPECT_EQ(trace::macs_of(g, Pass::forward), counted(g, true));
        EXPECT_EQ(trace::macs_of(g, Pass::weight_gradient), counted(g, true));
        EXPECT_EQ(trace::macs_of(g, Pass::input_gradient), counted(g, false)) << stride << " " << kernel;
      }
    }
  }
  EXPECT_NE(refusal([] { trace::macs_of(ConvShape{}, Pass::update); }), "(accepted)");
}

}  // namespace
}  // namespace mantissa::test
