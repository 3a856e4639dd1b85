#include "sim/machine/norm_memory.hpp"

namespace mantissa {

NormMemory::NormMemory(const NormMemoryParts& parts, const NormJob& job, const NormPlan& plan)
    : parts_(parts), job_(job), plan_(plan), streams_(streams_of(job)), step_(plan.step(0)) {
  parts_.dma.forget();
  parts_.a.resize(parts.arch.a_buffer_bytes);
  parts_.b.resize(parts.arch.b_buffer_bytes);
  parts_.results.resize(2 * plan.result_half_bytes());
  parts_.dram.resize(plan.dram_bytes());
  fill(job.x, false);
  if (job.direction == NormDirection::backward) fill(job.g, true);
}

// ---------------------------------------------------------------------------------------------------- DRAM

void NormMemory::fill(const EncodedTensor& tensor, bool gradient) {
  const int bits = tensor.type().bits();
  std::vector<std::uint8_t> packed;
  for (std::int64_t i = 0; i < plan_.steps(); ++i) {
    const NormStep step = plan_.step(i);
    if (step.second) continue;
    packed.assign(packed_bytes(step.lanes * step.length, bits), 0);
    for (std::int64_t element = 0; element < step.length; ++element) {
      for (std::int64_t lane = 0; lane < step.lanes; ++lane) {
        const std::int64_t channel = job_.first_channel + step.group * parts_.arch.norm_lanes + lane;
        set_packed_element(packed, element * step.lanes + lane, bits,
                           tensor.element(job_.place(channel, step.first + element)));
      }
    }
    parts_.dma.host_write(gradient ? plan_.g_address(step.block) : plan_.x_address(step.block), packed);
  }
}

std::vector<std::uint32_t> NormMemory::results() const {
  std::vector<std::uint32_t> codes(job_.channels * job_.elements());
  std::vector<std::uint8_t> packed;
  for (std::int64_t i = 0; i < plan_.steps(); ++i) {
    const NormStep step = plan_.step(i);
    if (!step.second) continue;
    packed.resize(packed_bytes(step.lanes * step.length, streams_.result_bits));
    parts_.dma.host_read(plan_.result_address(step.block), packed);
    for (std::int64_t element = 0; element < step.length; ++element) {
      for (std::int64_t lane = 0; lane < step.lanes; ++lane) {
        const std::int64_t channel = step.group * parts_.arch.norm_lanes + lane;
        codes[channel * job_.elements() + step.first + element] =
            packed_element(packed, element * step.lanes + lane, streams_.result_bits);
      }
    }
  }
  return codes;
}

// ------------------------------------------------------------------------------------------------- buffers

std::uint32_t NormMemory::x(std::int64_t step, std::int64_t at) const {
  return parts_.a.element(a_half(step), at, streams_.x_bits);
}

std::uint32_t NormMemory::g(std::int64_t step, std::int64_t at) const {
  return parts_.b.element(b_half(step), at, streams_.gradient_bits);
}

void NormMemory::put_result(std::int64_t block, std::int64_t at, std::uint32_t code) {
  parts_.results.set_element(result_half(block), at, streams_.result_bits, code);
}

// ----------------------------------------------------------------------------------------------------- DMA

bool NormMemory::exists() const {
  switch (transfer_) {
    case Transfer::load_x:
      return index_ < plan_.steps();
    case Transfer::load_g:
      return index_ < plan_.steps() && job_.direction == NormDirection::backward;
    case Transfer::write_back:
      return index_ > 0 && plan_.step(index_ - 1).second;
  }
  return false;
}

void NormMemory::next() {
  do {
    if (transfer_ != Transfer::write_back) {
      transfer_ = transfer_ == Transfer::load_x ? Transfer::load_g : Transfer::write_back;
    } else {
      transfer_ = Transfer::load_x;
      ++index_;
      if (index_ < plan_.steps()) step_ = plan_.step(index_);
    }
  } while (!exists());
}

void NormMemory::start() {
  const std::int64_t elements = step_.lanes * step_.length;
  if (transfer_ == Transfer::load_x) {
    parts_.dma.start_read(plan_.x_address(step_.block), packed_bytes(elements, streams_.x_bits));
  } else if (transfer_ == Transfer::load_g) {
    parts_.dma.start_read(plan_.g_address(step_.block), packed_bytes(elements, streams_.gradient_bits));
  } else {
    const NormStep before = plan_.step(index_ - 1);
    const std::int64_t bytes = packed_bytes(before.lanes * before.length, streams_.result_bits);
    parts_.dma.start_write(plan_.result_address(before.block),
                           parts_.results.bytes(result_half(before.block).byte, bytes));
  }
}

void NormMemory::end() {
  const std::int64_t elements = step_.lanes * step_.length;
  if (transfer_ == Transfer::load_x) {
    parts_.a.store(a_half(index_), streams_.x_bits, elements, parts_.dma.data());
  } else if (transfer_ == Transfer::load_g) {
    parts_.b.store(b_half(index_), streams_.gradient_bits, elements, parts_.dma.data());
  } else {
    ++written_;
  }
  if (!finished()) next();
}

// A load of step i not before the start of step i - 1, a write-back not before its step has ended.
void NormMemory::clock(std::int64_t begun, std::int64_t ended) {
  const bool may_start = (transfer_ == Transfer::write_back ? ended : begun) >= index_;
  if (!parts_.dma.busy() && may_start) start();
  if (parts_.dma.clock()) end();
}

bool NormMemory::loaded(std::int64_t step) const {
  return index_ > step || (index_ == step && transfer_ == Transfer::write_back);
}

}  // namespace mantissa
