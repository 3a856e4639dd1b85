#include "sim/machine/stream_memory.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/arch/sizes.hpp"

namespace mantissa {

StreamMemory::StreamMemory(const StreamParts& parts, const StreamJob& job, const StreamInputs& inputs)
    : parts_(parts),
      job_(job),
      length_(stream_segment(parts.arch, job)),
      segments_(ceil_div(job.elements, length_)) {
  if (inputs.size() != job.input_bits.size())
    throw std::invalid_argument("a stream needs all of its input tensors, and no others");
  add_tensors(job.input_bits, inputs_);
  add_tensors(job.output_bits, outputs_);
  parts.dma.forget();
  parts.dram.resize(dram_bytes_);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (std::ssize(inputs[i]) != packed_bytes(job.elements, job.input_bits[i]))
      throw std::invalid_argument("an input tensor of a stream that is not as long as the stream");
    parts.dma.host_write(inputs_[i].address, inputs[i]);
  }
  extend_queue();
}

void StreamMemory::add_tensors(const std::vector<int>& widths, std::vector<Tensor>& tensors) {
  for (const int bits : widths) {
    Tensor& tensor = tensors.emplace_back(Tensor{.bits = bits, .address = dram_bytes_});
    dram_bytes_ += packed_bytes(job_.elements, bits);
    tensor.buffer.resize(2 * packed_bytes(length_, bits));
  }
}

std::int64_t StreamMemory::size(std::int64_t segment) const {
  return std::min(length_, job_.elements - first(segment));
}

// In bytes. What fits is counted in bits of all tensors together, which stream_segment has seen to; in a half
// each tensor begins with a byte of its own.
std::int64_t StreamMemory::half(std::int64_t segment, const Tensor& tensor) const {
  return segment % 2 * packed_bytes(length_, tensor.bits);
}

void StreamMemory::get(std::int64_t segment, std::int64_t element, std::span<std::uint32_t> inputs) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor& tensor = inputs_[i];
    inputs[i] = tensor.buffer.element({half(segment, tensor), 0}, element - first(segment), tensor.bits);
  }
}

void StreamMemory::put(std::int64_t segment, std::int64_t element, std::span<const std::uint32_t> outputs) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Tensor& tensor = outputs_[i];
    tensor.buffer.set_element({half(segment, tensor), 0}, element - first(segment), tensor.bits, outputs[i]);
  }
}

// --------------------------------------------------------------------------------------------------- queue

void StreamMemory::extend_queue() {
  while (queue_.empty() && queued_ < segments_ + 2) {
    for (std::size_t i = 0; queued_ < segments_ && i < inputs_.size(); ++i)
      queue_.push_back({true, queued_, i});
    const std::int64_t before = queued_ - 2;
    for (std::size_t i = 0; before >= 0 && before < segments_ && i < outputs_.size(); ++i)
      queue_.push_back({false, before, i});
    ++queued_;
  }
}

bool StreamMemory::allowed(const Transfer& transfer, const Progress& progress) const {
  return transfer.load ? progress.computed >= transfer.segment - 1 : progress.out > transfer.segment;
}

void StreamMemory::issue(const Transfer& transfer) {
  Tensor& tensor = (transfer.load ? inputs_ : outputs_)[transfer.tensor];
  DramPieces pieces;
  pieces.bits = tensor.bits;
  add_piece(pieces.pieces, first(transfer.segment), size(transfer.segment));
  if (transfer.load) {
    parts_.dma.issue_read(tensor.address, pieces);
    return;
  }
  const std::int64_t bytes = packed_bytes(size(transfer.segment), tensor.bits);
  parts_.dma.issue_write(tensor.address, pieces, tensor.buffer.bytes(half(transfer.segment, tensor), bytes));
}

void StreamMemory::end(const Transfer& transfer) {
  if (!transfer.load) {
    ++write_backs_ended_;
    return;
  }
  Tensor& tensor = inputs_[transfer.tensor];
  tensor.buffer.store({half(transfer.segment, tensor), 0}, tensor.bits, size(transfer.segment),
                      parts_.dma.data());
  ++loads_ended_;
}

void StreamMemory::clock(const Progress& progress) {
  while (!queue_.empty() && parts_.dma.has_room() && allowed(queue_.front(), progress)) {
    issue(queue_.front());
    flying_.push_back(queue_.front());
    queue_.pop_front();
    extend_queue();
  }
  if (!parts_.dma.clock()) return;
  end(flying_.front());
  flying_.pop_front();
}

bool StreamMemory::writes_back() const {
  if (flying_.empty() && queue_.empty()) return false;
  return !(flying_.empty() ? queue_ : flying_).front().load;
}

std::vector<std::vector<std::uint32_t>> StreamMemory::outputs() const {
  std::vector<std::vector<std::uint32_t>> all;
  for (const Tensor& tensor : outputs_) {
    std::vector<std::uint8_t> packed(packed_bytes(job_.elements, tensor.bits));
    parts_.dma.host_read(tensor.address, packed);
    std::vector<std::uint32_t>& elements = all.emplace_back(job_.elements);
    for (std::int64_t i = 0; i < job_.elements; ++i) elements[i] = packed_element(packed, i, tensor.bits);
  }
  return all;
}

}  // namespace mantissa
