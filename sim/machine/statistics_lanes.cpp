#include "sim/machine/statistics_lanes.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/arch/sizes.hpp"
#include "sim/machine/lockstep.hpp"
#include "sim/machine/rtl_unit.hpp"
#include "sim/units/norm_statistics.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

using StatisticsPorts = NormStatisticsPorts;
constexpr const char* statistics_unit = "norm_statistics";

UnitParameters statistics_parameters(const StatisticsSize& size) {
  return {{"Columns", size.columns}, {"IndexBits", size.index_bits}, {"Parts", size.parts ? 1 : 0}};
}

}  // namespace

StatisticsSize::StatisticsSize(const DrainRoom& room, std::int64_t lanes) : parts(room.parts) {
  const auto turns = static_cast<std::uint64_t>(ceil_div(room.channels, lanes));
  columns = std::max(columns, static_cast<int>(std::bit_ceil(turns)));
  index_bits =
      std::max(index_bits, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(room.elements))));
}

CompiledDevice compile_statistics_unit(const StatisticsSize& size, const std::filesystem::path& rtl_directory,
                                       bool wave) {
  return compile_unit(statistics_unit, statistics_parameters(size), rtl_directory, wave);
}

UnitLanes make_statistics_units(Engine engine, const StatisticsSize& size, std::int64_t lanes,
                                const std::filesystem::path& rtl_directory) {
  UnitLanes::Kind kind{
      .name = statistics_unit,
      .systemc = [size](const char* name) { return make_norm_statistics(name, statistics_parameters(size)); },
      .watched = {{StatisticsPorts::column_out, "result"},
                  {StatisticsPorts::chunk, "result"},
                  {StatisticsPorts::argmax, "extremes"},
                  {StatisticsPorts::argmin, "extremes"},
                  {StatisticsPorts::last_out, "result"},
                  {StatisticsPorts::sums, "sums"},
                  {StatisticsPorts::nan, "extremes"}}};
  if (engine != Engine::systemc && lanes > 0) kind.rtl = compile_statistics_unit(size, rtl_directory).object;
  return {engine, std::move(kind), lanes};
}

StatisticsLanes::StatisticsLanes(UnitLanes& units, const BlockArrayJob& job, const Format& results)
    : units_(units),
      job_(job),
      value_{.from = results, .scale = -job.statistics.scale},
      x_value_(job.statistics.x),
      chunk_length_(job.outputs.rows() / job.statistics.chunks),
      part_length_(job.outputs.rows() / job.statistics.parts),
      waiting_(static_cast<std::size_t>(units.count())),
      offered_(waiting_.size()),
      channels_(static_cast<std::size_t>(job.outputs.cols())) {
  const UnitSlot& unit = units.lane(0);
  const std::int64_t room = units.count() << unit.width(StatisticsPorts::column);
  if (job.outputs.cols() > room || job.outputs.rows() >> unit.width(StatisticsPorts::index) != 0) {
    throw std::invalid_argument("statistics of " + std::to_string(job.outputs.cols()) + " channels of " +
                                std::to_string(job.outputs.rows()) +
                                " elements: the units behind the drain have no room for so many");
  }
}

void StatisticsLanes::drained(std::int64_t lane, std::int64_t row, std::int64_t channel, std::uint32_t code,
                              std::uint32_t x) {
  waiting_[lane] = {true, row - job_.outputs.row0, channel, code, x};
}

void StatisticsLanes::write(std::int64_t lane, int port, std::uint64_t value) {
  UnitSlot& unit = units_.lane(lane);
  unit.write(port, Bits(unit.width(port), value));
}

void StatisticsLanes::feed(std::int64_t lane, const Element& element) {
  const DrainStatisticsJob& norm = job_.statistics;
  const bool backward = norm.kind == DrainStatistics::backward;
  const std::int64_t place = element.row % chunk_length_;
  const float value = fp32_value(convert(element.code, value_).code);
  write(lane, StatisticsPorts::backward, std::uint64_t{backward});
  write(lane, StatisticsPorts::column,
        static_cast<std::uint64_t>((element.channel - job_.outputs.col0) / units_.count()));
  write(lane, StatisticsPorts::first, std::uint64_t{element.row == 0});
  write(lane, StatisticsPorts::last, std::uint64_t{element.row + 1 == job_.outputs.rows()});
  write(lane, StatisticsPorts::chunk_first, std::uint64_t{place == 0});
  write(lane, StatisticsPorts::chunk_last, std::uint64_t{place + 1 == chunk_length_});
  write(lane, StatisticsPorts::part_last, std::uint64_t{(element.row + 1) % part_length_ == 0});
  write(lane, StatisticsPorts::index, static_cast<std::uint64_t>(element.row));
  write(lane, backward ? StatisticsPorts::g : StatisticsPorts::x, value);
  if (!backward) return;
  write(lane, StatisticsPorts::x, x_value_(element.x));
  write(lane, StatisticsPorts::gamma, norm.gamma[element.channel]);
  write(lane, StatisticsPorts::mean, norm.mean[element.channel]);
  write(lane, StatisticsPorts::inv, norm.inv[element.channel]);
}

void StatisticsLanes::drive() {
  for (std::size_t lane = 0; lane < waiting_.size(); ++lane) {
    Element& element = waiting_[lane];
    if (element.there) feed(static_cast<std::int64_t>(lane), element);
    offered_[lane] = std::exchange(element.there, false);
    units_.lane(static_cast<std::int64_t>(lane)).offer(offered_[lane]);
    units_.lane(static_cast<std::int64_t>(lane)).take(true);
  }
}

void StatisticsLanes::take(std::int64_t lane) {
  const UnitSlot& unit = units_.lane(lane);
  const auto number = [&](int port) { return unit.output(port).value(); };
  const std::uint64_t channel = number(StatisticsPorts::column_out) * units_.count() + lane;
  if (channel >= channels_.size())
    throw UnitFailure(std::string(statistics_unit) + ", lane " + std::to_string(lane) + ": no such channel");
  ChannelStatistics& statistics = channels_[channel];
  if (number(StatisticsPorts::chunk) != 0) {
    statistics.argmax.push_back(static_cast<std::int64_t>(number(StatisticsPorts::argmax)));
    statistics.argmin.push_back(static_cast<std::int64_t>(number(StatisticsPorts::argmin)));
  }
  if (number(StatisticsPorts::last_out) == 0) return;
  const Bits& sums = unit.output(StatisticsPorts::sums);
  for (std::size_t i = 0; i < statistics.sums.size(); ++i)
    statistics.sums[i] = fp32_value(static_cast<std::uint32_t>(sums.field(32 * static_cast<int>(i), 32)));
  statistics.has_nan = number(StatisticsPorts::nan) != 0;
  ++ended_;
}

bool StatisticsLanes::done(bool all_drained) const {
  const bool done = ended_ == std::ssize(channels_);
  if (all_drained && !done && rests())
    throw UnitFailure(std::string(statistics_unit) + ": not all channels end");
  return done;
}

void StatisticsLanes::cycle() {
  bool busy = false;
  for (std::size_t lane = 0; lane < waiting_.size(); ++lane) {
    const UnitSlot& unit = units_.lane(static_cast<std::int64_t>(lane));
    busy = busy || offered_[lane] || waiting_[lane].there;
    if (offered_[lane] && !unit.ready()) {
      throw UnitFailure(std::string(statistics_unit) + ", lane " + std::to_string(lane) +
                        ": takes no element");
    }
    if (rests() || !unit.valid()) continue;
    take(static_cast<std::int64_t>(lane));
    busy = true;
  }
  quiet_ = busy ? 0 : quiet_ + 1;
}

}  // namespace mantissa
