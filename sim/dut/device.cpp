#include "sim/dut/device.hpp"

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>

namespace mantissa {
namespace {

// Verilator's containers: 1, 2, 4 or 8 bytes, then 32-bit words.
std::size_t storage_bytes(int bits) {
  if (bits <= 8) return 1;
  if (bits <= 16) return 2;
  if (bits <= 32) return 4;
  if (bits <= 64) return 8;
  return static_cast<std::size_t>(bits + 31) / 32 * 4;
}

// The loader knows objects by path, and may keep one for good; so the path must never mean another file.
void keep_open(const CachedFilePointer& object) {
  static std::mutex turn;
  static std::set<CachedFilePointer> loaded;
  const std::lock_guard lock(turn);
  loaded.insert(object);
}

}  // namespace

Bits Device::Pin::get() const {
  Bits value(bits);
  // Little-endian, as everything that Verilator and this program run on.
  std::memcpy(value.words().data(), storage, std::min(storage_bytes(bits), value.words().size_bytes()));
  return value;
}

void Device::Pin::set(const Bits& value) const {
  std::memcpy(storage, value.words().data(), std::min(storage_bytes(bits), value.words().size_bytes()));
}

void Device::Unload::operator()(void* library) const { dlclose(library); }

Device::Device(const CachedFilePointer& shared_object)
    : library_(dlopen(shared_object->path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) throw std::runtime_error("cannot load a compiled device: " + std::string(dlerror()));
  keep_open(shared_object);
  const auto create = reinterpret_cast<mantissa_dut_create>(dlsym(library_.get(), "mantissa_dut_create_v2"));
  if (create == nullptr) throw std::runtime_error(shared_object->path() + " is not a compiled device");
  {
    const DeviceCall call(nullptr);
    api_.reset(create());
  }
  for (std::uint32_t i = 0; i < api_->pin_count; ++i) {
    const mantissa_dut_pin& pin = api_->pins[i];
    pins_.push_back({pin.name, static_cast<int>(pin.bits), pin.output != 0, pin.storage});
  }
}

void Device::open_wave(const std::filesystem::path& path) {
  wave_ = path.string();
  wave_index_ = wave_ + ".hier";
  wave_removed_.emplace(wave_);
  wave_index_removed_.emplace(wave_index_);
  if (api_->open_wave(api_->self, path.c_str()) == 0)
    throw std::runtime_error("cannot write the waveform " + path.string());
}

void Device::close_wave() {
  api_->close_wave(api_->self);
  wave_removed_.reset();
  wave_index_removed_.reset();
}

const Device::Pin* Device::find(std::string_view name) const {
  for (const Pin& pin : pins_) {
    if (pin.name == name) return &pin;
  }
  return nullptr;
}

}  // namespace mantissa
