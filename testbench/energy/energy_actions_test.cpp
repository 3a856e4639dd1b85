// Counting: each thing that a pass did becomes the right number of actions, and both shipped tables price all
// of them.
#include "sim/energy/energy_actions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/mac/accumulator_preset.hpp"
#include "sim/energy/energy_yaml.hpp"

namespace mantissa::test {
namespace {

// Figures by hand: 4 x 8 outputs of K = 32 with a quarter skipped.
GemmWork small_gemm() {
  GemmWork work;
  work.k = 32;
  work.cost.macs = 768;
  work.cost.skipped = 256;
  work.cost.a_taken = 96;
  work.cost.b_staged = 256;
  work.cost.drained = 32;
  work.cost.dram_bytes = 128 + 256 + 32;
  work.cost.sram_bytes = work.cost.dram_bytes + 96 + 256 + 32;
  return work;
}

Architecture small_machine() {
  Architecture arch;
  arch.rows = 4;
  arch.cols = 8;
  arch.window = 16;
  arch.depth = 2;
  arch.a_buffer_bytes = 4096;
  arch.b_buffer_bytes = 8192;
  return arch;
}

TEST(EnergyActions, Fp8Gemm) {
  GemmWork work = small_gemm();
  work.bias = true;
  work.quantized = {{ElementType(formats::e5m2), 128}, {ElementType(formats::fp32), 99}};
  work.draws = 160;
  work.pruned = 128;
  const ActionCounts expected = {
      {"multiply e5m2 e5m2", 768},
      {"accumulate fp32", 768 + 32},  // and the bias
      {"register bit", 768 * 32},
      {"staging write byte", 256},
      {"staging read byte 32", 768},
      {"sram byte 2048", 96},         // A as taken
      {"sram byte 4096", 256 + 384},  // B as staged; what the DMA loads
      {"sram byte 32", 32 + 32},      // C as drained; written back
      {"dram byte", 416},
      {"quantize e5m2", 128 + 32},
      {"draw", 160},
      {"prune 16", 128},
  };
  EXPECT_EQ(gemm_actions(small_machine(), work), expected);
}

// Another simulator's dataflow knows cycles and products only: nothing is staged in it.
TEST(EnergyActions, OtherDataflowsHaveNoStaging) {
  for (const Dataflow dataflow :
       {Dataflow::scalesim_ws, Dataflow::scalesim_is, Dataflow::scalesim_os, Dataflow::stonne_os}) {
    Architecture arch = small_machine();
    arch.dataflow = dataflow;
    GemmWork work;
    work.k = 32;
    work.cost.macs = 1024;
    const ActionCounts expected = {
        {"multiply e5m2 e5m2", 1024}, {"register bit", 1024 * 32}, {"accumulate fp32", 1024}};
    EXPECT_EQ(gemm_actions(arch, work), expected) << name_of(dataflow);
  }
}

TEST(EnergyActions, SramBytesAreConserved) {
  for (const int bits : {4, 6, 8, 16}) {
    GemmWork work = small_gemm();
    work.a = work.b = work.c = ElementType::integer(bits);
    work.cost.sram_bytes = work.cost.dram_bytes + (96 * bits + 7) / 8 + (256 * bits + 7) / 8 + 32 * bits / 8;
    std::uint64_t bytes = 0;
    for (const auto& [action, count] : gemm_actions(small_machine(), work)) {
      if (action.rfind("sram byte ", 0) == 0) bytes += count;
    }
    EXPECT_EQ(bytes, work.cost.sram_bytes) << bits;
  }
}

TEST(EnergyActions, IntegerGemm) {
  GemmWork work = small_gemm();
  work.a = ElementType::integer(16);
  work.b = ElementType::integer(8);
  work.c = ElementType(formats::fp32);
  const ActionCounts counts = gemm_actions(small_machine(), work);
  EXPECT_EQ(counts.at("multiply uint16 uint8"), 768U);
  EXPECT_EQ(counts.at("accumulate int48"), 768U);
  EXPECT_EQ(counts.at("register bit"), 768U * 48);
  EXPECT_EQ(counts.at("accumulate int32"), 96U + 256U);
  EXPECT_EQ(counts.at("multiply fp32 fp32"), 96U);
  EXPECT_EQ(counts.at("accumulate fp32"), 96U);
  for (const auto& [action, count] : counts) EXPECT_NE(action.rfind("quantize", 0), 0U) << action;
}

TEST(EnergyActions, AccumulatorOptions) {
  const auto counts = [](const char* kind, const Format& format) {
    GemmWork work = small_gemm();
    work.accumulator = Accumulator::parse(kind, format, Rounding::rne());
    return gemm_actions(small_machine(), work);
  };
  const std::uint64_t groups = 256;  // 32 outputs times ceil(32 / 4)
  const ActionCounts chunk = counts("chunk:4", formats::fp16);
  EXPECT_EQ(chunk.at("accumulate fp16"), 768 + groups);
  EXPECT_EQ(chunk.at("register bit"), 16 * (768 + groups));
  // E5M2 products span 64 bits; two more for four of them, and a sign.
  const ActionCounts fused = counts("fused:4", formats::fp32);
  EXPECT_EQ(fused.at("align 67"), 768U);
  EXPECT_EQ(fused.at("accumulate int67"), 768U);
  EXPECT_EQ(fused.at("accumulate fp32"), groups);
  const ActionCounts aligned = counts("aligned:4,13", formats::fp32);
  EXPECT_EQ(aligned.at("align 19"), 768U);  // 13 + 2 + 3 + 1
  EXPECT_EQ(aligned.at("register bit"), 32 * groups);
  // Two sums of sixteen products in each of 32 outputs' chunks, in a frame of 13 + 2 + 5 + 1 bits.
  GemmWork promoted = small_gemm();
  promoted.accumulator = accumulator_preset("hopper-128").accumulator;
  promoted.accumulator.inner->group = 16;
  const ActionCounts inner = gemm_actions(small_machine(), promoted);
  EXPECT_EQ(inner.at("align 21"), 768U);
  EXPECT_EQ(inner.at("accumulate e8m13"), 64U);
  EXPECT_EQ(inner.at("accumulate fp32"), 32U);
  EXPECT_EQ(inner.at("register bit"), 64U * 22 + 32U * 32);
  // 64 + 5 + 1 for K = 32.
  const ActionCounts kulisch = counts("kulisch", formats::fp32);
  EXPECT_EQ(kulisch.at("align 70"), 768U);
  EXPECT_EQ(kulisch.at("register bit"), 768U * 70);
  EXPECT_EQ(kulisch.at("accumulate fp32"), 32U);
  // A Kulisch register of E5M2 and K = 2^24 has 89 bits (ARITHMETIC.md 4).
  GemmWork long_sum = small_gemm();
  long_sum.k = 1 << 24;
  long_sum.accumulator = Accumulator::parse("kulisch", formats::fp32, Rounding::rne());
  EXPECT_EQ(gemm_actions(small_machine(), long_sum).count("accumulate int89"), 1U);
}

TEST(EnergyActions, Norms) {
  NormWork work;
  work.elements = 100;
  work.dram_bytes = 800;
  work.sram_bytes = 900;
  EXPECT_EQ(norm_actions(small_machine(), work),
            (ActionCounts{{"norm standard forward", 100}, {"dram byte", 800}, {"sram byte 2048", 900}}));
  work.range = work.backward = true;
  work.quantized = {{ElementType::integer(8), 100}};
  work.draws = 100;
  EXPECT_EQ(norm_actions(small_machine(), work), (ActionCounts{{"norm range backward", 100},
                                                               {"dram byte", 800},
                                                               {"sram byte 2048", 900},
                                                               {"quantize uint8", 100},
                                                               {"draw", 100}}));
}

TEST(EnergyActions, BothTablesPriceWhateverCanBeCounted) {
  std::vector<ActionCounts> all;
  std::vector<ElementType> numbers = {ElementType::integer(8), ElementType::integer(16)};
  for (const NamedFormat& each : named_formats) numbers.emplace_back(each.format);
  for (const char* name : {"e4m3:fnuz", "e3m0", "e6m1", "e2m5", "e4m3:bias=11"})
    numbers.emplace_back(Format::parse(name));
  for (const ElementType& a : numbers) {
    for (const ElementType& b : numbers) {
      if (a.is_integer() != b.is_integer()) continue;
      for (const char* kind : {"plain", "chunk:8", "fused:8", "aligned:8,13", "kulisch"}) {
        for (const char* accumulator : {"fp32", "fp16", "bf16", "e6m5", "e8m1"}) {
          GemmWork work = small_gemm();
          work.a = a;
          work.b = b;
          work.c = a;
          work.draws = work.pruned = 1;
          work.accumulator = Accumulator::parse(kind, Format::parse(accumulator), Rounding::rne());
          all.push_back(gemm_actions(small_machine(), work));
        }
      }
      for (const AccumulatorPreset& preset : accumulator_presets()) {
        GemmWork work = small_gemm();
        work.a = a;
        work.b = b;
        work.accumulator = preset.accumulator;
        all.push_back(gemm_actions(small_machine(), work));
      }
    }
  }
  for (const bool range : {false, true}) {
    for (const bool backward : {false, true}) {
      NormWork work;
      work.range = range;
      work.backward = backward;
      work.elements = work.dram_bytes = work.sram_bytes = work.draws = 1;
      all.push_back(norm_actions(small_machine(), work));
    }
  }
  for (const char* name : {"horowitz45", "aladdin40"}) {
    const EnergyTable table = load_energy_table(name).value;
    for (const ActionCounts& counts : all) {
      for (const auto& [action, count] : counts) {
        const ActionPrice each = price_of(table, action);
        EXPECT_GT(each.pj, 0) << name << ": " << action;
        EXPECT_FALSE(each.source.empty()) << name << ": " << action;
        EXPECT_EQ(each.derived, !each.formula.empty()) << name << ": " << action;
      }
    }
  }
}

TEST(EnergyActions, CountsAdd) {
  ActionCounts sum = {{"draw", 1}};
  add(sum, {{"draw", 2}, {"dram byte", 3}});
  EXPECT_EQ(sum, (ActionCounts{{"draw", 3}, {"dram byte", 3}}));
}

}  // namespace
}  // namespace mantissa::test
