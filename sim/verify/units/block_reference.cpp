#include "sim/verify/units/block_reference.hpp"

namespace mantissa::verify {

std::vector<ParameterNote> block_array_parameter_notes(const std::vector<ParameterNote>& operands) {
  std::vector<ParameterNote> all = {{"Rows", 16, "rows"},
                                    {"Cols", 16, "columns"},
                                    {"Window", 16, "k per window, at least 2"},
                                    {"Depth", 2, "windows staged at a time"},
                                    {"Port", 4, "k-slices per beat, at most Window"}};
  all.insert(all.end(), operands.begin(), operands.end());
  all.push_back({"SumRows", 1, "rows of sums that are exchanged in a cycle, 1 to Rows"});
  return all;
}

std::vector<PortNote> block_array_ports(const BlockPortNotes& notes) {
  return {{"a_i", notes.a, "slice p, row r at p*Rows+r"},
          {"b_i", notes.b, "slice p, column c at p*Cols+c"},
          {"count_i", "$clog2(Port+1)", "slices in this beat; only the last beat of a window may be short"},
          {"used_i", "Rows", "rows in use, the same for all beats of a run; the others hold their sums"},
          {"skip_i", "1", "off: zeros of A are multiplied like everything else"},
          {"last_i", "1", "this beat ends the run"},
          {"cols_i", "Cols", "columns enabled, the same for all beats of a run; the others hold their sums"},
          {"swap_i", "1", "with last_i: and the run its tile; without it the next run adds to the same sums"},
          {"load_i", "1", "with valid_o: the rows on sum_o take sum_i; off: " + notes.zero},
          {"sum_i", notes.sums, "with load_i: sums that such an array has given"},
          {"sum_o", notes.sums,
           "the tile's next SumRows rows, ascending; row p of them, column c at p*Cols+c; " + notes.zero +
               " beyond the last"},
          {"last_o", "1", "these end the tile"},
          notes.event};
}

}  // namespace mantissa::verify
