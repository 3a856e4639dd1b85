// Hand-made faults in the RTL: each must be detected, and a fault in a stage of fp8_mac must be named by that
// stage.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/verify/unit_list.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Fault {
  const char* unit;
  const char* name;
  const char* file;
  const char* right;
  const char* wrong;
  const char* stage;  // where the unit shows it; empty: the unit has no taps
};

const Fault faults[] = {
    {"fp8_mac", "product_exponent", "fp_mac.sv", "exp + ExpW'(raw[ProdW-1])", "exp", "product"},
    {"fp8_mac", "align_sticky", "fp_align.sv", "shifted | Frame'(lost)", "shifted", "align"},
    {"fp8_mac", "sum_carry_in", "fp_add_normalise.sv", "+ {{Frame{1'b0}}, subtract_i}",
     "+ {{Frame{1'b0}}, subtract_i & ~aligned_i[0]}", "sum"},
    {"fp8_mac", "normalise_sticky", "fp_add_normalise.sv", "normalised[1] | normalised[0]}", "normalised[1]}",
     "normalise"},
    {"fp8_mac", "round_ties", "fp_round.sv", "half & (rest | (placed[Drop] ? TieOddUp : TieEvenUp))", "half",
     "round"},
    {"range_bn_backward", "coinciding_extremes", "range_bn_backward.sv", "(argmax_i != argmin_i)", "1'b1",
     ""},
    {"range_bn_backward", "sum_of_products", "range_bn_backward.sv", "h_xhat_sum_d = h_xhat_sum_z",
     "h_xhat_sum_d = g_xhat_sum_z", ""},
    {"range_bn_backward", "given_t", "range_bn_backward.sv", "given_i ? shift_i : shift_q", "shift_q", ""},
    {"range_bn_backward", "given_channel_of_one", "range_bn_backward.sv", "(given_i | ~at_end)", "~at_end",
     ""},
    {"range_bn_forward", "chunk_sum", "range_bn_forward.sv", "highs_d = highs_sum", "highs_d = high", ""},
    {"range_bn_forward", "nan_in_channel", "range_bn_forward.sv", "nan_q ? Nan : add_z", "add_z", ""},
    {"range_bn_forward", "zeros_of_both_signs", "fp_less.sv", "~nan & ~zeros", "~nan", ""},
    {"lowering_unit", "walk", "lowering_unit.sv", "wrap & (middle_d == middle_last_q)",
     "wrap & (middle_q == middle_last_q)", ""},
    {"lowering_unit", "outer_step", "lowering_unit.sv", "element_steps_q[2*ElementBits+:ElementBits]",
     "element_steps_q[ElementBits+:ElementBits]", ""},
    {"lowering_unit", "segment_within_an_image", "lowering_unit.sv", "middle_q       <= middle_first_i",
     "middle_q       <= '0", ""},
    {"lowering_unit", "padding_below", "lowering_unit.sv", "(y < height_q)", "(y <= height_q)", ""},
    {"lowering_unit", "padding_to_the_left", "lowering_unit.sv", "(x < width_q)",
     "((x < width_q) | x[ElementBits-1])", ""},
    {"lowering_unit", "lane_not_in_use", "lowering_unit.sv", "count_o) & used_q[l]", "count_o)", ""},
    {"lowering_unit", "window", "lowering_unit.sv", "(window_q < WindowW'(Port))", "1'b0", ""},
    {"rle_decoder", "run_too_long", "rle_decoder.sv", "target >= {1'b0, length_i}",
     "target > {1'b0, length_i}", ""},
    {"rle_decoder", "rest_of_refused_message", "rle_decoder.sv", "if (valid_i & ready_o & ~last_i) state_d",
     "if (valid_i & ready_o) state_d", ""},
    {"norm_statistics", "state_of_another", "norm_statistics.sv", "channels_q[tag.column] <= stored",
     "channels_q[0] <= stored", ""},
    {"norm_statistics", "parts_of_the_channel_before", "norm_statistics.sv", "part.first ? '0",
     "(part.first & part.gives) ? '0", ""},
    {"norm_statistics", "sum_of_the_part_before", "norm_statistics.sv", "stored.sums = '0",
     "stored.sums = next.sums", ""},
    {"norm_statistics", "first_among_equals", "running_extremes.sv", "if (above | start_i)",
     "if (above | (high_i == x_i) | start_i)", ""},
    {"norm_statistics", "chunk_in_every_sum", "norm_statistics.sv", "tag.backward | tag.chunk_last", "1'b1",
     ""},
    {"rle_encoder", "full_run", "rle_encoder.sv", "&pending_q", "&pending_q[14:0]", ""},
    {"rle_encoder", "threshold", "rle_encoder.sv", "value_i[30:0] >= threshold_i[30:0]",
     "value_i[30:0] > threshold_i[30:0]", ""},
    {"zero_packer", "negative_zero", "zero_packer.sv", "codes_i[i*Width+:Width-1] != '0",
     "codes_i[i*Width+:Width] != '0", ""},
    {"zero_packer", "end_with_a_full_word", "zero_packer.sv", "beat.last & (total <= (CountW + 1)'(Lanes))",
     "beat.last & (total < (CountW + 1)'(Lanes))", ""},
    {"zero_packer", "codes_meet", "lane_compact.sv", "keep        = stay | come", "keep        = stay", ""},
    {"zero_packer", "rest_forgotten", "zero_packer.sv", "full ? all[WordW+:HeldW]", "full ? '0", ""},
    {"zero_unpacker", "bit_beyond", "zero_unpacker.sv", "CountW'(i) >= elements_i", "CountW'(i) > elements_i",
     ""},
    {"zero_unpacker", "codes_left", "zero_unpacker.sv", "(beat.last & (total != needed))", "1'b0", ""},
    {"zero_unpacker", "word_not_needed", "zero_unpacker.sv", "(wanted != (beat.fill != '0))",
     "(wanted & (beat.fill == '0))", ""},
    {"zero_unpacker", "stored_zero", "zero_unpacker.sv", "((beat.mask & zero) != '0)", "1'b0", ""},
    {"zero_unpacker", "rest_of_refused_line", "zero_unpacker.sv", "refused & ~beat.last", "1'b0", ""},
    {"fp8_mul", "product_exponent", "fp8_mul.sv", "exp + ExpW'(raw[ProdW-1])", "exp", ""},
    {"fp8_pe", "clear", "fp8_pe.sv", "clear_q ? '0 : acc_q", "(clear_q & ~valid_o) ? '0 : acc_q", ""},
    {"fp8_pe", "enable", "pe_datapath.sv", "if (sum_valid)", "if (1'b1)", ""},
    {"fp32_add", "infinities", "fp32_add.sv", "a_inf & b_inf & (a_neg ^ b_neg)", "a_inf & b_inf", "round"},
    {"fp32_add", "align_sticky", "fp_align.sv", "shifted | Frame'(lost)", "shifted", "align"},
    {"fp32_mul", "sticky", "fp32_mul.sv", "normalised[22:0] != '0", "normalised[22:1] != '0", ""},
    {"fp32_mul", "signalling", "fp_mul_operands.sv", "zero_times_inf | a_snan | b_snan", "zero_times_inf",
     ""},
    {"fp32_fma", "infinite_product", "fp_mac.sv", "product.inf ? product.neg : acc_neg", "acc_neg", "round"},
    {"fp32_div", "sticky", "fp32_div.sv", "remainder_q != '0", "1'b0", ""},
    {"fp32_div", "divide_by_zero", "fp32_div.sv", "b_zero & ~(a_zero | a_inf | a_nan)",
     "b_zero & ~(a_zero | a_nan)", ""},
    {"int_mac", "clear", "int_mac.sv", "wrapped | (sticky_q & ~clear)", "wrapped | sticky_q", ""},
    {"int_mac", "sticky", "int_mac.sv", "(valid_o & ready_i) ? overflow_o", "(valid_o & ready_i) ? wrapped",
     ""},
    {"quantizer", "scale_sign", "quantizer.sv", "{{ExpW - 8{scale_i[7]}}, scale_i}",
     "{{ExpW - 8{1'b0}}, scale_i}", ""},
    {"quantizer", "signalling", "quantizer.sv", "round_flags.invalid | scaled.snan", "round_flags.invalid",
     ""},
    {"quantizer", "tininess", "fp_round.sv", "assign own_up = sig_i[Drop-1]", "assign own_up = 1'b0", ""},
    {"gemmlowp_quantizer", "ties", "gemmlowp_quantizer.sv", "whole[0] ? TieOddUp : TieEvenUp", "1'b1", ""},
    {"gemmlowp_quantizer", "clamp", "gemmlowp_quantizer.sv", "over | (&whole)", "over", ""},
    {"gemmlowp_quantizer", "negative", "gemmlowp_quantizer.sv", "nan | steps.steps[31]", "nan", ""},
    {"stochastic_pruner", "edge", "stochastic_pruner.sv", "sides.scaled_g >= sides.limit",
     "sides.scaled_g > sides.limit", ""},
    {"stochastic_pruner", "subnormals", "stochastic_pruner.sv", "(g_field | Exp'(g_subnormal))", "g_field",
     ""},
    {"stochastic_pruner", "negative_threshold", "stochastic_pruner.sv", "tau_mag         = tau_i[Width-2:0]",
     "tau_mag         = tau_i[Width-2:0] | {Width - 1{tau_i[Width-1]}}", ""},
    {"double_sampler", "no_scale", "double_sampler.sv", "product.nan | ~product.no_scale", "1'b1", ""},
    {"double_sampler", "top_level", "double_sampler.sv", "whole >= product.s", "whole > product.s", ""},
    {"double_sampler", "second_draw", "double_sampler.sv", "level.rnd[i*RndBits+:RndBits]",
     "level.rnd[0+:RndBits]", ""},
    {"double_sampler", "position", "fp_to_fixed.sv", "8'(127 + Int)", "8'(128 + Int)", ""},
    {"weight_update", "unscale", "weight_update.sv", "(-unscale_i)", "(~unscale_i)", ""},
    {"weight_update", "skipped_momentum", "weight_update.sv", "decayed.ctx.skip ? decayed.m : m_next",
     "m_next", ""},
    {"weight_update", "skipped_flags", "weight_update.sv", "stepped.skip ? '0 : store_flags", "store_flags",
     ""},
    {"weight_update", "widening", "fp_to_fp32.sv", "exp + ExpW'(127)", "exp + ExpW'(126)", ""},
    {"skip_window", "empty_window", "skip_window.sv", "active[r] & (rest == '0)",
     "active[r] & (here != '0) & (rest == '0)", ""},
    {"skip_window", "slot_freed_early", "skip_window.sv", "~slot_busy[slot_q] & ~closing_q", "~closing_q",
     ""},
    {"skip_window", "steps_overlap", "skip_window.sv", "~slot_busy[slot_q] & ~closing_q",
     "~slot_busy[slot_q]", ""},
    {"mac_array", "unused_rows_suppress", "beat_codes.sv", "(used_i & ~nonzero", "(~nonzero", ""},
    {"mac_array", "drain_before_the_sum", "array_drain.sv", "state_d = StSettle", "state_d = StSend", ""},
    {"mac_array", "sum_not_cleared", "array_drain.sv", "row_fire & (row_q == RowW'(r))",
     "row_fire & ~last_o & (row_q == RowW'(r))", ""},
    {"int_array", "unused_row_works", "int_array.sv", "enable[r] & used_q[r]", "enable[r]", ""},
    {"int_array", "overflow_forgotten", "int_array.sv", "overflow_q | (wrapped != '0)", "(wrapped != '0)",
     ""},
    {"int_array", "overflow_of_the_tile_before", "int_array.sv", "if (drain_done) overflow_d = 1'b0;", "",
     ""},
    {"int_array", "overflow_without_a_step", "int_datapath.sv", "sum_valid & overflow", "overflow", ""},
    {"int_array", "sum_not_cleared", "int_pe.sv", "clear_q ? '0 : acc_o", "acc_o", ""},
    {"int_array", "operand_of_another_word", "array_operands.sv", "a_staged_q[selected]", "a_staged_q[0]",
     ""},
    {"block_array", "roles_change_in_an_exchange", "array_exchange.sv", "~turn_q & (~valid_q | last_o)",
     "~turn_q", ""},
    {"block_array", "loaded_sum_lost", "shadow_sum.sv", "swap_q ? shadow_q : acc_i", "swap_q ? '0 : acc_i",
     ""},
    {"block_array", "loaded_unasked", "sum_chain.sv", "{Width{load_i}}", "{Width{1'b1}}", ""},
    {"block_array", "disabled_column_works", "block_array.sv", "used_q[r] & cols_q[c]", "used_q[r]", ""},
    {"block_array", "disabled_column_suppresses", "beat_codes.sv", "(special & cols_i)", "(special)", ""},
    {"block_array", "suppressed_in_the_tile_before", "block_array.sv", "(suppressed_q & ~swap)",
     "suppressed_q", ""},
    {"int_block_array", "disabled_column_works", "int_block_array.sv", "used_q[r] & cols_q[c]", "used_q[r]",
     ""},
    {"int_block_array", "overflow_forgotten", "int_block_array.sv", "overflow_q | (wrapped != '0)",
     "(wrapped != '0)", ""},
    {"int_block_array", "overflow_in_the_next_tile", "int_block_array.sv", "swap ? wraps : exchanged_q",
     "swap ? overflow_q : exchanged_q", ""},
    {"int_block_array", "overflow_of_the_tile_before", "int_block_array.sv", "wraps & ~swap", "wraps", ""},
    {"int_block_array", "sums_do_not_move", "sum_chain.sv", "shadow_i[(r+SumRows)*Width+:Width]",
     "shadow_i[r*Width+:Width]", ""},
    {"lfsr", "reset_forgotten", "lfsr.sv", "loaded_q    <= 1'b0;", "", ""},
    {"rle_decoder", "reset_forgotten", "pipe_reg.sv", "valid_q <= 1'b0;", "", ""},
    {"lfsr", "tap", "lfsr.sv", "32'h8020_0003", "32'h8020_0001", ""},
};

// For messages and the names of tests.
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.unit << ": " << fault.name; }

class RtlFault : public testing::TestWithParam<Fault> {
 protected:
  // A copy of rtl/ with the fault in it.
  void SetUp() override {
    for (const fs::directory_entry& entry : fs::directory_iterator(MANTISSA_SOURCE_DIR "/rtl")) {
      if (entry.path().extension() != ".sv") continue;
      std::string text = contents(entry.path());
      if (entry.path().filename() == GetParam().file) {
        const std::size_t at = text.find(GetParam().right);
        ASSERT_NE(at, std::string::npos) << GetParam().file << " does not have: " << GetParam().right;
        text.replace(at, std::string(GetParam().right).size(), GetParam().wrong);
      }
      std::ofstream(directory_ / entry.path().filename()) << text;
    }
  }

  void expect_detection() const;

  Scratch scratch_;
  const fs::path directory_ = scratch_.path();
};

void RtlFault::expect_detection() const {
  const Json& unit = unit_record(GetParam().unit);
  std::string options;
  for (const auto& [name, value] : unit["configurations"][0]["parameters"].items())
    options += " --param " + name + "=" + value.dump();
  // The package first: the other files use it.
  const Finished run =
      run_shell("cd " + directory_.string() + " && mantissa verify " + GetParam().unit + options +
                " --json --top " + unit["module"].get<std::string>() +
                " --dut mantissa_pkg.sv $(ls *.sv | grep -v mantissa_pkg | sed 's/^/--dut /')");
  ASSERT_EQ(run.exit_code, 1) << run.out << run.err;
  const Json report = Json::parse(run.out);
  const Json& mismatch = report["runs"][0]["mismatch"];
  EXPECT_EQ(mismatch["model"], "rtl");
  EXPECT_EQ(mismatch["stage"].get<std::string>().rfind(GetParam().stage, 0), 0U) << mismatch["stage"];
}

TEST_P(RtlFault, IsDetected) { expect_detection(); }

std::vector<Fault> faults_of_the_mac(bool wanted) {
  std::vector<Fault> list;
  for (const Fault& fault : faults) {
    if ((std::string(fault.unit) == "fp8_mac") == wanted) list.push_back(fault);
  }
  return list;
}

std::string fault_name(const testing::TestParamInfo<Fault>& test) {
  return std::string(test.param.unit) + "_" + test.param.name;
}

INSTANTIATE_TEST_SUITE_P(HandMade, RtlFault, testing::ValuesIn(faults_of_the_mac(true)), fault_name);

class LongRtlFault : public RtlFault {};
TEST_P(LongRtlFault, IsDetected) { expect_detection(); }
INSTANTIATE_TEST_SUITE_P(Long, LongRtlFault, testing::ValuesIn(faults_of_the_mac(false)), fault_name);

// Most are put in only by the long tests: a changed line of RTL must not wait for those to be missed.
TEST(RtlFaults, EachHasItsPlaceInTheRtl) {
  for (const Fault& fault : faults) {
    const std::string text = contents(fs::path(MANTISSA_SOURCE_DIR "/rtl") / fault.file);
    EXPECT_NE(text.find(fault.right), std::string::npos) << fault.file << " does not have: " << fault.right;
  }
}

TEST(RtlFaults, EveryUnitHasOne) {
  for (const std::string& name : unit_names()) {
    EXPECT_TRUE(std::any_of(std::begin(faults), std::end(faults), [&](const Fault& fault) {
      return fault.unit == name;
    })) << name;
  }
}

}  // namespace
}  // namespace mantissa::test
