"""tree_rules.py on a small made-up tree: it is clean as it is, and every kind of breach is found where it was planted."""
import os
import tempfile
import unittest

import tree_rules

CLEAN = {
    "models/README.md": ("# models\n\n| room | what | uses |\n|---|---|---|\n"
                         "| `format/` | codes | - |\n| [`mac/`](mac/README.md) | sums | format |\n"),
    "models/CMakeLists.txt": "add_library(mantissa_models STATIC)\n",
    "models/format/format.hpp": "#include <cstdint>\n",
    "models/mac/gemm.hpp": '#include "models/format/format.hpp"\n',
    "models/mac/gemm.cpp": '#include "models/mac/gemm.hpp"\n',
    "sim/README.md": "| room | what |\n|---|---|\n| `units/` | |\n| `verify/` | |\n| `verify/table/` | |\n| `train/` | |\n",
    "sim/units/CMakeLists.txt": ("add_library(mantissa_units STATIC unit.cpp)  # comment (with brackets)\n"
                                 "target_link_libraries(mantissa_units PUBLIC mantissa_models PkgConfig::SYSTEMC)\n"),
    "sim/units/unit.hpp": '#include <systemc>\n#include "models/mac/gemm.hpp"\n',
    "sim/verify/CMakeLists.txt": ("add_library(mantissa_verify STATIC bench.cpp)\n"
                                  "target_link_libraries(mantissa_verify PUBLIC\n  mantissa_units)\n"),
    "sim/verify/bench.hpp": '#include "sim/units/unit.hpp"\n',
    "sim/verify/table/table.hpp": '#include "sim/verify/bench.hpp"\n',
    "sim/train/CMakeLists.txt": ("add_library(mantissa_train STATIC train.cpp)\n"
                                 "target_link_libraries(mantissa_train PUBLIC mantissa_models)\n"),
    "sim/train/train.cpp": '#include "models/mac/gemm.hpp"\n',
    "testbench/models/mac/gemm_test.cpp": '#include "models/mac/gemm.hpp"\n#include "testbench/support/oracle.hpp"\n',
    "rtl/mac.sv": "module mac;\nendmodule\n",
}


class TreeRules(unittest.TestCase):
    def breaches(self, planted):
        """What is found in the clean tree with some files in place of others, or added; None: without that file."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **planted}.items():
                if text is not None:
                    os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                    with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                        file.write(text)
            return tree_rules.Tree(root).check()

    def expect(self, planted, *expected):
        found = self.breaches(planted)
        for part in expected:
            self.assertTrue(any(part in each for each in found), f"no '{part}' in {found}")
        self.assertEqual(len(found), len(expected), found)

    def test_a_clean_tree_is_clean(self):
        self.assertEqual(self.breaches({}), [])

    def test_an_include_against_the_order(self):
        self.expect({"sim/units/unit.cpp": '\n#include "sim/train/state.hpp"\n', "sim/train/state.hpp": ""},
                    "sim/units/unit.cpp:2: sim/units/ includes sim/train/state.hpp (a room uses only rooms above it in the "
                    "table of sim/README.md)",
                    "sim/units/unit.cpp:2: includes sim/train/state.hpp, but no target of sim/units/ links one of sim/train/")

    def test_an_include_from_a_room_of_models_to_a_later_one(self):
        self.expect({"models/format/format.cpp": '#include "models/mac/gemm.hpp"\n'},
                    "models/format/format.cpp:1: models/format/ includes models/mac/gemm.hpp (a room uses only",
                    "models/README.md:5: column 'uses' of models/format/ lacks models/mac/",
                    "models/format -> models/mac -> models/format (no cycle between directories); by "
                    "models/format/format.cpp:1, models/mac/gemm.hpp:1")

    def test_models_that_know_sim_rtl_or_systemc(self):
        for include, what in (('"sim/units/unit.hpp"', "includes sim/units/unit.hpp (models/ knows no other room)"),
                              ('"rtl/mac.sv"', "includes rtl/mac.sv (models/ knows no other room)"),
                              ("<systemc>", "includes <systemc> (models/ knows no SystemC)"),
                              ("<systemc.h>", "includes <systemc.h> (models/ knows no SystemC)"),
                              ("<tlm_utils/simple_target_socket.h>", "(models/ knows no SystemC)")):
            found = self.breaches({"models/mac/gemm.cpp": f"#include {include}\n"})
            self.assertTrue(any(each.startswith("models/mac/gemm.cpp:1: ") and what in each for each in found), found)

    def test_a_library_of_models_that_links_the_others(self):
        for linked in ("mantissa_units", "PkgConfig::SYSTEMC"):
            found = self.breaches({"models/CMakeLists.txt": "add_library(mantissa_models STATIC)\n"
                                   f"target_link_libraries(mantissa_models\n  PUBLIC {linked})\n"})
            self.assertTrue(any(each.startswith(f"models/CMakeLists.txt:3: mantissa_models links {linked} (models/ knows")
                                for each in found), found)

    def test_an_include_without_a_link(self):
        self.expect({"sim/train/train.cpp": '#include "sim/units/unit.hpp"\n'},
                    "sim/train/train.cpp:1: includes sim/units/unit.hpp, but no target of sim/train/ links one of sim/units/")

    def test_an_include_that_is_not_a_path_from_the_root(self):
        self.expect({"sim/train/train.cpp": '#include "train.hpp"\n', "sim/train/train.hpp": ""},
                    'sim/train/train.cpp:1: no file "train.hpp" (includes name their path from the root')

    def test_a_room_that_the_table_lacks(self):
        self.expect({"sim/replay/replay.hpp": ""}, "sim/README.md:1: room sim/replay/ is missing in the table of rooms")
        self.expect({"sim/train/figures/figure.hpp": ""}, "room sim/train/figures/ is missing in the table of rooms")

    def test_a_room_that_only_the_table_has(self):
        self.expect({"sim/README.md": CLEAN["sim/README.md"] + "| `layer/` | |\n"},
                    "sim/README.md:7: room sim/layer/ is in the table, but has no sources")
        self.expect({"sim/README.md": CLEAN["sim/README.md"] + "| `train/` | |\n"},
                    "sim/README.md:6: room sim/train/ is in the table more than once",
                    "sim/README.md:7: room sim/train/ is in the table more than once")

    def test_a_column_uses_that_is_wrong(self):
        table = CLEAN["models/README.md"]
        self.expect({"models/README.md": table.replace("| format |", "| - |")},
                    "models/README.md:6: column 'uses' of models/mac/ lacks models/format/, included in models/mac/gemm.hpp:1")
        self.expect({"models/mac/gemm.hpp": ""},
                    "models/README.md:6: column 'uses' of models/mac/ has models/format/, which nothing in it includes")

    def test_a_readme_without_a_table_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "sim/README.md: no table whose first column is 'room'"):
            self.breaches({"sim/README.md": "# sim\n"})

    def test_a_test_of_models_that_includes_sim(self):
        self.expect({"testbench/models/mac/gemm_test.cpp": '#include "sim/units/unit.hpp"\n'},
                    "testbench/models/mac/gemm_test.cpp:1: includes sim/units/unit.hpp (testbench/models includes models/ and "
                    "testbench/ only)")

    def test_a_link_against_the_order(self):
        self.expect({"sim/verify/CMakeLists.txt": CLEAN["sim/verify/CMakeLists.txt"].replace(
                         "mantissa_units", "mantissa_units\n  mantissa_train")},
                    "sim/verify/CMakeLists.txt:4: mantissa_verify of sim/verify/ links mantissa_train of sim/train/ (a room")

    def test_links_of_targets_that_are_not_there(self):
        self.expect({"sim/train/CMakeLists.txt": CLEAN["sim/train/CMakeLists.txt"] +
                     "target_link_libraries(mantissa_train PRIVATE mantissa_replay)\n"
                     "target_link_libraries(mantissa_trainer PRIVATE mantissa_models)\n"},
                    "sim/train/CMakeLists.txt:3: mantissa_train links mantissa_replay, which no CMakeLists.txt",
                    "sim/train/CMakeLists.txt:4: links of mantissa_trainer, which no CMakeLists.txt")

    def test_a_trainer_that_reaches_systemc(self):
        self.expect({"sim/train/CMakeLists.txt": CLEAN["sim/train/CMakeLists.txt"].replace("mantissa_models", "mantissa_verify")},
                    "sim/train/CMakeLists.txt:2: mantissa_train may not reach mantissa_units: "
                    "mantissa_train -> mantissa_verify -> mantissa_units",
                    "may not reach PkgConfig::SYSTEMC: mantissa_train -> mantissa_verify -> mantissa_units -> PkgConfig::SYSTEMC")

    def test_a_cycle_between_a_room_and_its_sub_room(self):
        self.expect({"sim/verify/bench.cpp": '#include "sim/verify/table/table.hpp"\n'},
                    "sim/verify/bench.cpp:1: sim/verify/ includes sim/verify/table/table.hpp (a room uses only",
                    "sim/verify -> sim/verify/table -> sim/verify (no cycle between directories)")

    def test_a_cycle_among_headers(self):
        self.expect({"sim/train/a.hpp": '#include "sim/train/b.hpp"\n', "sim/train/b.hpp": '#include "sim/train/a.hpp"\n'},
                    "sim/train/a.hpp:1: sim/train/a.hpp -> sim/train/b.hpp -> sim/train/a.hpp (no cycle among headers)")

    def test_a_cycle_among_libraries(self):
        self.expect({"sim/train/CMakeLists.txt": CLEAN["sim/train/CMakeLists.txt"] + "add_library(mantissa_network STATIC)\n"
                     "target_link_libraries(mantissa_network PUBLIC mantissa_train)\n"
                     "target_link_libraries(mantissa_train PUBLIC mantissa_network)\n"},
                    "mantissa_network -> mantissa_train -> mantissa_network (no cycle among libraries)")

    def test_a_file_that_is_too_long(self):
        self.expect({"sim/train/train.cpp": "\n" * 400, "rtl/mac.sv": "\n" * 401},
                    "rtl/mac.sv:401: 401 lines (a file is one idea, of at most 400 lines)")


if __name__ == "__main__":
    unittest.main()
