#include "sim/energy/energy_actions.hpp"

#include <algorithm>

#include "sim/arch/sizes.hpp"

namespace mantissa {
namespace {

class Counter {
 public:
  void add(const std::string& action, std::uint64_t count) {
    if (count != 0) counts_[action] += count;
  }
  ActionCounts take() { return std::move(counts_); }

 private:
  ActionCounts counts_;
};

std::uint64_t packed_bytes(std::uint64_t elements, int bits) {
  return (elements * static_cast<std::uint64_t>(bits) + 7) / 8;
}

void count_float_sums(Counter& counter, const GemmWork& work) {
  const Accumulator& acc = work.accumulator;
  const std::uint64_t macs = work.cost.macs;
  const std::string format = "accumulate " + acc.format.name();
  const auto bits = static_cast<std::uint64_t>(acc.format.bits());
  // A group of zeros leaves the accumulator alone, so skipping can leave no more groups than products.
  const std::uint64_t groups =
      std::min(macs, work.cost.drained * static_cast<std::uint64_t>(acc.roundings(work.k)));
  // Products in a fixed-point frame: shifted to their place and added as integers.
  const auto count_frame = [&](int frame) {
    counter.add("align " + std::to_string(frame), macs);
    counter.add("accumulate int" + std::to_string(frame), macs);
  };
  // Two bits above the largest exponent: a product is not renormalised and may reach 4. One operand more than
  // the group: the accumulator.
  const auto count_aligned = [&](const AlignedGroup& aligned) {
    count_frame(aligned.bits + 2 + bits_to_count(static_cast<std::uint64_t>(aligned.group) + 1) + 1);
  };
  const int span = product_span(work.a.format(), work.b.format());
  switch (acc.kind) {
    case Accumulator::Kind::plain:
      counter.add(format, macs);
      counter.add("register bit", macs * bits);
      break;
    case Accumulator::Kind::chunk: {
      std::uint64_t sums = macs;  // of the inner accumulator
      if (acc.inner) {
        count_aligned(*acc.inner);
        const std::int64_t length = std::min<std::int64_t>(acc.group, work.k);
        sums = std::min(macs, groups * static_cast<std::uint64_t>(ceil_div(length, acc.inner->group)));
      }
      counter.add("accumulate " + acc.inner_format.name(), sums);
      counter.add(format, groups);
      counter.add("register bit", sums * static_cast<std::uint64_t>(acc.inner_format.bits()) + groups * bits);
      break;
    }
    case Accumulator::Kind::fused:
      count_frame(span + bits_to_count(static_cast<std::uint64_t>(acc.group)) + 1);
      counter.add(format, groups);
      counter.add("register bit", groups * bits);
      break;
    case Accumulator::Kind::aligned:
      count_aligned(acc.aligned);
      counter.add(format, groups);
      counter.add("register bit", groups * bits);
      break;
    case Accumulator::Kind::kulisch: {
      const int frame = acc.state_bits(span, work.k);
      count_frame(frame);
      counter.add("register bit", macs * static_cast<std::uint64_t>(frame));
      counter.add(format, groups);
      break;
    }
  }
}

// ARITHMETIC.md 5, "Integer GEMM": exact sums, the sums of rows and columns, and three FP32 FMAs per output.
void count_integer_sums(Counter& counter, const GemmWork& work) {
  constexpr int accumulator_bits = 48;
  counter.add("accumulate int48", work.cost.macs);
  counter.add("register bit", work.cost.macs * accumulator_bits);
  counter.add("accumulate int32", work.cost.a_taken + work.cost.b_staged);
  counter.add("multiply fp32 fp32", 3 * work.cost.drained);
  counter.add("accumulate fp32", 3 * work.cost.drained);
}

// The second machine: three memories, lines through A and B, sums and then codes through C.
void count_blocks_memory(Counter& counter, const Architecture& arch, const GemmWork& work) {
  const GemmCycles& cost = work.cost;
  const std::string a = "sram byte " + std::to_string(arch.a_buffer_bytes);
  const std::string b = "sram byte " + std::to_string(arch.b_buffer_bytes);
  const std::string c = "sram byte " + std::to_string(arch.c_buffer_bytes);
  const std::uint64_t a_bytes = packed_bytes(cost.a_taken, work.a.bits());
  const std::uint64_t b_bytes = packed_bytes(cost.b_staged, work.b.bits());
  const std::uint64_t codes = packed_bytes(cost.drained, work.c.bits());
  const std::uint64_t loaded = cost.dram_bytes > codes ? cost.dram_bytes - codes : 0;
  counter.add(a, a_bytes);
  counter.add(b, b_bytes);
  counter.add(arch.a_buffer_bytes >= arch.b_buffer_bytes ? a : b, loaded);
  // Sums as they come and go, and the codes written into their places and read for DRAM.
  counter.add(c, packed_bytes(cost.sums_stored + cost.sums_loaded + cost.drained, work.sum_bits) + 2 * codes +
                     2 * packed_bytes(cost.drained, work.x_bits));
  counter.add("dram byte", cost.dram_bytes);
  if (work.a.is_fp32()) return;  // no array, no staging
  counter.add("staging write byte", b_bytes);
  counter.add("staging read byte " + std::to_string(arch.depth * arch.window),
              packed_bytes(cost.macs, work.b.bits()));
}

// Each buffer is two memories, its halves. Of what the DMA moves the cost knows the sum alone: C is what
// drained, the rest is priced as the larger of A's and B's memories.
void count_memory(Counter& counter, const Architecture& arch, const GemmWork& work) {
  if (arch.in_blocks()) return count_blocks_memory(counter, arch, work);
  const GemmCycles& cost = work.cost;
  const auto half = [](std::int64_t bytes) { return std::to_string(std::max<std::int64_t>(bytes / 2, 1)); };
  const std::string a = "sram byte " + half(arch.a_buffer_bytes);
  const std::string b = "sram byte " + half(arch.b_buffer_bytes);
  const std::string larger = arch.a_buffer_bytes >= arch.b_buffer_bytes ? a : b;
  const std::string c = "sram byte " + std::to_string(packed_bytes(
                                           static_cast<std::uint64_t>(arch.rows) * arch.cols, work.c.bits()));
  const std::uint64_t a_bytes = packed_bytes(cost.a_taken, work.a.bits());
  const std::uint64_t b_bytes = packed_bytes(cost.b_staged, work.b.bits());
  const std::uint64_t c_bytes = packed_bytes(cost.drained, work.c.bits());
  const std::uint64_t array_bytes = a_bytes + b_bytes + c_bytes;
  const std::uint64_t moved = cost.sram_bytes > array_bytes ? cost.sram_bytes - array_bytes : 0;
  const std::uint64_t written_back = std::min(c_bytes, moved);
  counter.add(a, a_bytes);
  counter.add(b, b_bytes);
  counter.add(c, c_bytes + written_back);
  counter.add(larger, moved - written_back);
  counter.add("dram byte", cost.dram_bytes);
  if (arch.dataflow != Dataflow::os_skip) return;  // the others have no staging
  counter.add("staging write byte", b_bytes);
  counter.add("staging read byte " + std::to_string(arch.depth * arch.window),
              packed_bytes(cost.macs, work.b.bits()));
}

void count_quantized(Counter& counter, const std::vector<QuantizedElements>& quantized) {
  for (const QuantizedElements& each : quantized) {
    if (!each.to.is_fp32()) counter.add("quantize " + each.to.name(), each.elements);
  }
}

}  // namespace

ActionCounts gemm_actions(const Architecture& arch, const GemmWork& work) {
  Counter counter;
  counter.add("multiply " + work.a.name() + " " + work.b.name(), work.cost.macs);
  if (work.a.is_integer()) {
    count_integer_sums(counter, work);
  } else {
    count_float_sums(counter, work);
  }
  if (work.bias) counter.add("accumulate fp32", work.cost.drained);
  count_memory(counter, arch, work);
  count_quantized(counter, work.quantized);
  count_quantized(counter, {{work.c, work.cost.drained}});
  counter.add("draw", work.draws);
  counter.add("prune " + std::to_string(work.prune_random_bits), work.pruned);
  return counter.take();
}

ActionCounts norm_actions(const Architecture& arch, const NormWork& work) {
  Counter counter;
  counter.add(
      std::string("norm ") + (work.range ? "range " : "standard ") + (work.backward ? "backward" : "forward"),
      work.elements);
  // Streamed through the A buffer, the one that rows read.
  counter.add("sram byte " + std::to_string(std::max<std::int64_t>(arch.a_buffer_bytes / 2, 1)),
              work.sram_bytes);
  counter.add("dram byte", work.dram_bytes);
  count_quantized(counter, work.quantized);
  counter.add("draw", work.draws);
  return counter.take();
}

ActionCounts update_actions(const Architecture& arch, const UpdateWork& work) {
  Counter counter;
  counter.add("multiply fp32 fp32", 4 * work.elements);
  counter.add("accumulate fp32", 3 * work.elements);
  // Inputs through A, outputs through B.
  counter.add("sram byte " + std::to_string(std::max<std::int64_t>(arch.a_buffer_bytes / 2, 1)),
              work.cost.sram_bytes);
  counter.add("dram byte", work.cost.dram_bytes);
  count_quantized(counter, work.quantized);
  counter.add("draw", work.draws);
  return counter.take();
}

void add(ActionCounts& sum, const ActionCounts& counts) {
  for (const auto& [action, count] : counts) sum[action] += count;
}

}  // namespace mantissa
