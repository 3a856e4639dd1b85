// The schema: names, layer records, shapes that fit, numbers that are finite.
#include "sim/trace/trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "sim/trace/finite.hpp"
#include "sim/trace/layer_records.hpp"
#include "sim/trace/layer_shapes.hpp"
#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

using trace::LayerKind;
using trace::Role;
using trace::Trace;
using Tensors = std::vector<HandTensor>;

TEST(Trace, ReadsLayersStepsAndTensors) {
  const std::string bytes = trace_bytes(
      R"([{"name":"block.0.conv","kind":"conv2d","stride":[2,1],"padding":1,"dilation":[1,2],"groups":2,"input_gradient":false},)"
      R"({"name":"bn","kind":"batchnorm"},{"name":"fc","kind":"linear","stride":1,"padding":0,"dilation":1,"groups":1}])",
      {{"s100.block.0.conv.input", {2, 4, 6, 7}},
       {"s100.block.0.conv.weight", {6, 2, 3, 3}},
       {"s100.block.0.conv.bias", {6}},
       {"s100.block.0.conv.grad_output", {2, 6, 3, 5}},
       {"s100.block.0.conv.grad_weight", {6, 2, 3, 3}},
       {"s7.bn.input", {2, 5, 3}},
       {"s7.bn.gamma", {5}},
       {"s7.bn.beta", {5}, {1, 2, 3, 4, 5}},
       {"s7.bn.grad_input", {2, 5, 3}},
       {"s100.fc.input", {2, 3, 4}},
       {"s100.fc.weight", {5, 4}},
       {"s100.fc.output", {2, 3, 5}}},
      R"(,"mantissa.run":)" +
          quoted(R"({"run_seed":18446744073709551615,"rows":16,"cols":8,"recipe":"fp8","loss_scale":1024,)"
                 R"("tau":{"fc":0.5,"bn":0},"steps":[100,7]})") +
          R"(,"mantissa.origin":"a test","format":"pt")");
  const Trace trace(open_bytes(bytes));
  ASSERT_EQ(trace.layers().size(), 3U);
  const trace::Layer& conv = trace.layers()[0];
  EXPECT_EQ(conv.name, "block.0.conv");
  EXPECT_EQ(conv.kind, LayerKind::conv2d);
  EXPECT_EQ(conv.stride, (std::array<std::int64_t, 2>{2, 1}));
  EXPECT_EQ(conv.padding, (std::array<std::int64_t, 2>{1, 1}));
  EXPECT_EQ(conv.dilation, (std::array<std::int64_t, 2>{1, 2}));
  EXPECT_EQ(conv.groups, 2);
  EXPECT_FALSE(conv.input_gradient);
  EXPECT_TRUE(trace.layers()[1].input_gradient);
  EXPECT_EQ(trace.steps(), (std::vector<std::uint32_t>{7, 100}));
  EXPECT_EQ(trace.find(7, conv, Role::input), nullptr);
  EXPECT_EQ(trace.shape(100, conv, Role::weight), (std::vector<std::int64_t>{6, 2, 3, 3}));
  EXPECT_EQ(trace.values(7, trace.layers()[1], Role::beta), (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(trace.origin(), "a test");
  ASSERT_TRUE(trace.run());
  EXPECT_EQ(trace.run()->run_seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(trace.run()->rows, 16);
  EXPECT_EQ(trace.run()->cols, 8);
  EXPECT_EQ(trace.run()->recipe, "fp8");
  EXPECT_EQ(trace.run()->loss_scale, 1024);
  EXPECT_EQ(trace.run()->tau, (std::vector<std::pair<std::string, double>>{{"bn", 0}, {"fc", 0.5}}));
  try {
    trace.values(7, conv, Role::input);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'s7.block.0.conv.input'"), std::string::npos) << error.what();
  }
}

TEST(Trace, RecordsComeBackAsWritten) {
  std::vector<trace::Layer> layers(2);
  layers[0] = {"c", LayerKind::conv2d, {2, 3}, {1, 0}, {1, 4}, 8, false};
  layers[1].name = "f \"x\"";
  const std::vector<trace::Layer> read = trace::parse_layers(trace::layers_json(layers), "f");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].stride, layers[0].stride);
  EXPECT_EQ(read[0].padding, layers[0].padding);
  EXPECT_EQ(read[0].dilation, layers[0].dilation);
  EXPECT_EQ(read[0].groups, 8);
  EXPECT_FALSE(read[0].input_gradient);
  EXPECT_EQ(read[1].name, layers[1].name);
  EXPECT_EQ(read[1].kind, LayerKind::linear);
}

TEST(Trace, ConvolvedSizeCountsThePlacesOfTheKernel) {
  for (std::int64_t size = 1; size <= 9; ++size) {
    for (std::int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (std::int64_t stride = 1; stride <= 3; ++stride) {
        for (std::int64_t padding = 0; padding <= 2; ++padding) {
          for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
            std::int64_t places = 0;
            for (std::int64_t at = -padding; at + dilation * (kernel - 1) < size + padding; at += stride)
              ++places;
            EXPECT_EQ(trace::convolved_size(size, kernel, stride, padding, dilation), places)
                << size << " " << kernel << " " << stride << " " << padding << " " << dilation;
          }
        }
      }
    }
  }
}

struct Refused {
  std::string layers;
  Tensors tensors;
  std::vector<std::string> words;
  std::string more{};
};

const std::string fc = R"([{"name":"fc","kind":"linear"}])";
const std::string conv = R"([{"name":"c","kind":"conv2d"}])";
const std::string norm = R"([{"name":"n","kind":"batchnorm"}])";

std::string conv_with(const std::string& keys) { return R"([{"name":"c","kind":"conv2d",)" + keys + "}]"; }

void expect_refused(const std::vector<Refused>& all) {
  for (const Refused& refused : all) {
    const std::string complaint =
        complaint_of_trace(trace_bytes(refused.layers, refused.tensors, refused.more));
    EXPECT_EQ(complaint.rfind("hand.safetensors: ", 0), 0U) << refused.layers << ": " << complaint;
    for (const std::string& word : refused.words)
      EXPECT_NE(complaint.find(word), std::string::npos) << "no " << word << " in: " << complaint;
  }
}

TEST(Trace, RefusesWrongRecords) {
  const Tensors tensors{{"s0.fc.weight", {2, 3}}};
  const Tensors convs{{"s0.c.weight", {2, 3, 3, 3}}};
  expect_refused({
      {"{", tensors, {"mantissa.layers", "not valid JSON"}},
      {"{}", tensors, {"mantissa.layers", "list"}},
      {"[]", tensors, {"mantissa.layers", "list"}},
      {"[[[[[[]]]]]]", tensors, {"deeper"}},
      {"[3]", tensors, {"layer 0", "object"}},
      {R"([{"kind":"linear"}])", tensors, {"layer 0", "no name"}},
      {R"([{"name":"fc"}])", tensors, {"layer 0", "no kind"}},
      {R"([{"name":"","kind":"linear"}])", tensors, {"layer 0", "empty"}},
      {R"([{"name":"a\u0007","kind":"linear"}])", tensors, {"layer 0", "control"}},
      {R"([{"name":")" + std::string(201, 'x') + R"(","kind":"linear"}])", tensors, {"layer 0", "200"}},
      {R"([{"name":3,"kind":"linear"}])", tensors, {"name is 3"}},
      {R"([{"name":"fc","kind":"lstm"}])", tensors, {"'lstm'", "conv2d, linear, batchnorm"}},
      {R"([{"name":"fc","kind":"linear","colour":1}])", tensors, {"'colour'", "input_gradient"}},
      {R"([{"name":"fc","name":"fc","kind":"linear"}])", tensors, {"'name'", "twice"}},
      {R"([{"name":"fc","kind":"linear"},{"name":"fc","kind":"linear"}])",
       tensors,
       {"layer 1", "'fc'", "twice"}},
      {R"([{"name":"fc","kind":"linear","stride":2}])", tensors, {"linear", "stride"}},
      {R"([{"name":"fc","kind":"linear","input_gradient":1}])", tensors, {"input_gradient", "true or false"}},
      {conv_with(R"("stride":0)"), convs, {"stride is 0"}},
      {conv_with(R"("stride":[1,0])"), convs, {"stride is 0"}},
      {conv_with(R"("stride":[1,1,1])"), convs, {"stride", "pair"}},
      {conv_with(R"("stride":1.5)"), convs, {"stride is 1.5"}},
      {conv_with(R"("stride":9223372036854775807)"), convs, {"stride", "65536"}},
      {conv_with(R"("stride":18446744073709551615)"), convs, {"stride", "65536"}},
      {conv_with(R"("dilation":0)"), convs, {"dilation is 0"}},
      {conv_with(R"("padding":-1)"), convs, {"padding is -1"}},
      {conv_with(R"("padding":"same")"), convs, {"padding is \"same\""}},
      {conv_with(R"("groups":0)"), convs, {"groups is 0"}},
      {conv_with(R"("groups":[1,1])"), convs, {"groups"}},
      {fc, tensors, {"'mantissa.colour'", "mantissa.run"}, R"(,"mantissa.colour":"red")"},
  });
  EXPECT_NE(complaint_of_trace(file_bytes("{}", "")).find("no mantissa.layers"), std::string::npos);
}

TEST(Trace, RefusesWrongRuns) {
  const Tensors tensors{{"s0.fc.weight", {2, 3}}, {"s5.fc.weight", {2, 3}}};
  const auto run = [&](const std::string& json, std::vector<std::string> words) {
    words.emplace_back("mantissa.run");
    return Refused{fc, tensors, words, R"(,"mantissa.run":)" + quoted(json)};
  };
  expect_refused({
      run("[", {"not valid JSON"}),
      run("[]", {"object"}),
      run(R"({"seed":1})", {"'seed'", "run_seed"}),
      run(R"({"run_seed":-1})", {"run_seed is -1"}),
      run(R"({"rows":0})", {"rows is 0"}),
      run(R"({"cols":1e3})", {"cols"}),
      run(R"({"recipe":8})", {"recipe is 8"}),
      run(R"({"loss_scale":0})", {"loss_scale is 0"}),
      run(R"({"loss_scale":"big"})", {"loss_scale"}),
      run(R"({"tau":[1]})", {"tau"}),
      run(R"({"tau":{"fd":1}})", {"'fd'"}),
      run(R"({"tau":{"fc":-1}})", {"'fc'", "-1"}),
      run(R"({"steps":5})", {"steps"}),
      run(R"({"steps":[0,5,9]})", {"step 9", "no tensor"}),
      run(R"({"steps":[0]})", {"step 5"}),
      run(R"({"steps":[0,0,5]})", {"twice"}),
      run(R"({"steps":[0,4294967296]})", {"4294967296"}),
  });
}

TEST(Trace, RefusesWrongNames) {
  const auto named = [](const std::string& name, std::vector<std::string> words) {
    words.push_back("'" + name + "'");
    return Refused{fc, {{"s0.fc.weight", {2, 3}}, {name, {2, 3}}}, words};
  };
  expect_refused({
      named("weight", {"s<step>.<layer>.<role>"}),
      named("s0.weight", {"s<step>.<layer>.<role>"}),
      named("t0.fc.weight", {"step"}),
      named("s.fc.weight", {"step"}),
      named("s-1.fc.weight", {"step"}),
      named("s01.fc.weight", {"leading zeros"}),
      named("s4294967296.fc.weight", {"4294967295"}),
      named("s1x.fc.weight", {"step"}),
      named("s1.fc.kernel", {"'kernel'", "grad_weight"}),
      named("s1.fc.", {"role"}),
      named("s1.fd.weight", {"'fd'", "not in mantissa.layers"}),
      named("s1..weight", {"''"}),
      {R"([{"name":"fc","kind":"linear"},{"name":"idle","kind":"linear"}])",
       {{"s0.fc.weight", {2, 3}}},
       {"'idle'", "no tensor"}},
      {fc, {}, {"no tensors"}},
  });
}

TEST(Trace, RefusesShapesThatDoNotFit) {
  expect_refused({
      // linear
      {fc, {{"s0.fc.weight", {2, 3, 1}}}, {"'s0.fc.weight'", "[2, 3, 1]", "out features"}},
      {fc,
       {{"s0.fc.weight", {2, 3}}, {"s0.fc.input", {7, 4}}},
       {"'s0.fc.input'", "4", "input features", "3"}},
      {fc,
       {{"s0.fc.weight", {2, 3}}, {"s0.fc.grad_output", {7, 3}}},
       {"'s0.fc.grad_output'", "output features"}},
      {fc, {{"s0.fc.weight", {2, 3}}, {"s0.fc.grad_weight", {3, 2}}}, {"'s0.fc.grad_weight'"}},
      {fc, {{"s0.fc.weight", {2, 3}}, {"s0.fc.bias", {3}}}, {"'s0.fc.bias'", "output features"}},
      {fc, {{"s0.fc.weight", {2, 3}}, {"s0.fc.bias", {1, 2}}}, {"'s0.fc.bias'", "[out features]"}},
      {fc,
       {{"s0.fc.input", {7, 3}}, {"s0.fc.grad_output", {6, 2}}},
       {"'s0.fc.grad_output'", "last dimension"}},
      {fc, {{"s0.fc.input", {7, 3}}, {"s0.fc.grad_output", {7, 1, 2}}}, {"'s0.fc.grad_output'"}},
      {fc, {{"s0.fc.input", {7, 3}}, {"s0.fc.grad_input", {7, 4}}}, {"'s0.fc.grad_input'"}},
      {fc, {{"s0.fc.input", {}}}, {"'s0.fc.input'", "single number"}},
      {fc, {{"s0.fc.gamma", {3}}}, {"'s0.fc.gamma'", "linear layer has no gamma"}},
      {fc, {{"s0.fc.input", {0, 3}}}, {"'s0.fc.input'", "no elements"}},
      {fc, {{"s0.fc.weight", {2, 3}}, {"s1.fc.weight", {3, 3}}}, {"'s1.fc.weight'", "'s0.fc.weight'"}},
      // batch norm
      {norm, {{"s0.n.input", {4}}}, {"'s0.n.input'", "[images, channels, ...]"}},
      {norm, {{"s0.n.input", {2, 4}}, {"s0.n.gamma", {3}}}, {"'s0.n.gamma'", "channels"}},
      {norm, {{"s0.n.input", {2, 4}}, {"s0.n.beta", {4, 1}}}, {"'s0.n.beta'"}},
      {norm, {{"s0.n.input", {2, 4, 3}}, {"s0.n.grad_output", {2, 4, 5}}}, {"'s0.n.grad_output'"}},
      {norm, {{"s0.n.weight", {4}}}, {"'s0.n.weight'", "batchnorm layer has no weight"}},
      // conv2d
      {conv, {{"s0.c.weight", {2, 3}}}, {"'s0.c.weight'"}},
      {conv, {{"s0.c.input", {2, 3, 5}}}, {"'s0.c.input'"}},
      {conv,
       {{"s0.c.weight", {2, 3, 3, 3}}, {"s0.c.input", {1, 4, 5, 5}}},
       {"'s0.c.weight'", "3 input channels"}},
      {conv, {{"s0.c.weight", {2, 3, 3, 3}}, {"s0.c.input", {1, 3, 5, 2}}}, {"'s0.c.weight'", "columns"}},
      {conv,
       {{"s0.c.weight", {2, 3, 3, 3}}, {"s0.c.input", {1, 3, 5, 5}}, {"s0.c.grad_output", {1, 2, 3, 4}}},
       {"'s0.c.grad_output'", "columns", "make 3"}},
      {conv,
       {{"s0.c.weight", {2, 3, 3, 3}}, {"s0.c.input", {1, 3, 5, 5}}, {"s0.c.output", {1, 2, 4, 3}}},
       {"'s0.c.output'", "rows", "make 3"}},
      {conv,
       {{"s0.c.weight", {2, 3, 3, 3}}, {"s0.c.grad_input", {1, 3, 5, 5}}, {"s0.c.output", {1, 2, 4, 3}}},
       {"'s0.c.output'", "rows"}},
      {conv, {{"s0.c.weight", {2, 3, 3, 3}}, {"s0.c.grad_output", {1, 3, 3, 3}}}, {"output channels"}},
      {conv, {{"s0.c.input", {2, 3, 5, 5}}, {"s0.c.grad_output", {1, 2, 3, 3}}}, {"images"}},
      {conv_with(R"("groups":2)"), {{"s0.c.weight", {3, 1, 3, 3}}}, {"'s0.c.weight'", "2 groups"}},
      {conv_with(R"("groups":2)"), {{"s0.c.input", {1, 3, 5, 5}}}, {"'s0.c.input'", "2 groups"}},
      {conv_with(R"("padding":[1,3])"), {{"s0.c.weight", {2, 1, 3, 3}}}, {"'s0.c.weight'", "padding of 3"}},
      {conv_with(R"("dilation":3)"),
       {{"s0.c.weight", {2, 1, 3, 3}}, {"s0.c.input", {1, 1, 6, 7}}},
       {"'s0.c.weight'", "rows"}},
  });
}

TEST(Trace, NumbersThatAreNotFiniteAreFound) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  // Beyond the first chunk as well.
  std::vector<float> large(20000, 1.F);
  large[18000] = -inf;
  const std::string bytes =
      trace_bytes(fc, {{"s0.fc.weight", {2, 3}}, {"s0.fc.input", {10000, 2}}, {"s0.fc.bias", {2}, {0, 1}}});
  EXPECT_NE(complaint_of_trace(bytes), "");  // features differ
  const std::string bad =
      trace_bytes(fc, {{"s0.fc.bias", {4}, {0, 1, nan, inf}}, {"s0.fc.input", {10000, 2}, large}});
  const Trace trace(open_bytes(bad));
  const std::vector<trace::NonFinite> found = trace::find_nonfinite(trace.file());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].tensor, "s0.fc.bias");
  EXPECT_EQ(found[0].first, 2U);
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_EQ(found[1].first, 18000U);
  EXPECT_EQ(found[1].value, -inf);
  try {
    check_finite(trace);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("hand.safetensors"), std::string::npos) << text;
    EXPECT_NE(text.find("'s0.fc.bias'"), std::string::npos) << text;
    EXPECT_NE(text.find("element 2 is NaN"), std::string::npos) << text;
  }
  const std::string good = trace_bytes(fc, {{"s0.fc.weight", {2, 3}}});
  EXPECT_NO_THROW(check_finite(Trace(open_bytes(good))));
}

// A second or so; minutes where anything looks through all of them for each.
TEST(ManyTensors, AHundredThousandAreOpenedAtOnce) {
  ::alarm(60);
  constexpr int count = 12500;
  std::string layers;
  std::string tau;
  std::string registers;
  std::vector<HandTensor> tensors;
  for (int i = 0; i < count; ++i) {
    const std::string name = "l" + std::to_string(i);
    layers += (i == 0 ? "[" : ",") + (R"({"kind":"linear","name":")" + name) + "\"}";
    tau += (i == 0 ? "\"" : ",\"") + name + "\":1";
    registers += (i == 0 ? "\"" : ",\"") + name + R"(":{"tau":1})";
    for (const char* role : {"input", "output", "weight", "grad_weight"}) {
      tensors.push_back({"s0." + name + "." + role, {1, 1}});
      tensors.push_back({"s7." + name + "." + role, {1, 1}});
    }
  }
  const std::string run =
      R"({"tau":{)" + tau + R"(},"by_step":[{"step":0,"registers":{)" + registers + R"(}},{"step":7}]})";
  const std::string bytes = trace_bytes(layers + "]", tensors, R"(,"mantissa.run":)" + quoted(run));
  const trace::Trace trace(open_bytes(bytes));
  ::alarm(0);
  EXPECT_EQ(trace.file().tensors().size(), 100000U);
  EXPECT_EQ(trace.run()->tau.size(), 12500U);
  EXPECT_EQ(trace.run()->by_step[0].registers.size(), 12500U);
}

TEST(ManyTensors, MoreLayersOfAllStepsThanAnybodyReadsAreRefused) {
  std::string layers;
  std::vector<HandTensor> tensors;
  for (int i = 0; i < 2100; ++i) {
    const std::string name = std::to_string(i);
    layers += (i == 0 ? "[" : ",") + (R"({"kind":"linear","name":")" + name) + "\"}";
    tensors.push_back({std::string("s").append(name).append(".").append(name).append(".bias"), {1}});
  }
  EXPECT_NE(complaint_of_trace(trace_bytes(layers + "]", tensors)).find("2100 steps of 2100 layers"),
            std::string::npos);
}

}  // namespace
}  // namespace mantissa::test
