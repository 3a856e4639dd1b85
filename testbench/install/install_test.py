"""`cmake --install` into a prefix that is then moved: the program, the libraries for others, and the lists of RTL."""
import glob
import os
import re
import shutil
import subprocess
import unittest

from installed import BUILD, ROOT, ProgramChecks, Scratch, check, project_version

CONSUMER = os.path.join(ROOT, "testbench", "install", "consumer")


def example_of_the_models():
    """The program in models/README.md, and what it prints."""
    with open(os.path.join(ROOT, "models", "README.md"), encoding="utf-8") as file:
        text = file.read()
    return re.search(r"```cpp\n(.*?)```\s*It prints `([^`]*)`", text, re.DOTALL).groups()


class Installation(unittest.TestCase, ProgramChecks):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Scratch()
        cls.addClassCleanup(cls.scratch.remove)
        check("cmake", "--install", BUILD, "--prefix", cls.scratch.inside("first"))
        cls.prefix = cls.scratch.inside("moved", "here")
        os.mkdir(os.path.dirname(cls.prefix))
        os.rename(cls.scratch.inside("first"), cls.prefix)
        cls.libraries = os.path.dirname(glob.glob(cls.prefix + "/**/libmantissa.so", recursive=True)[0])

    @unittest.skipUnless(os.environ["MANTISSA_BUILD_TYPE"] == "Release", "debug information names the sources")
    def test_no_file_knows_where_it_was_made(self):
        places = [place.encode() + b"/" for place in (ROOT, BUILD, self.scratch.inside("first"))]
        for here, _, names in os.walk(self.prefix):
            for name in names:
                with open(os.path.join(here, name), "rb") as file:
                    bytes_of_file = file.read()
                self.assertFalse([place for place in places if place in bytes_of_file], os.path.join(here, name))

    def test_without_its_data_it_says_where_it_looked(self):
        lonely = self.scratch.inside("lonely", "mantissa")
        os.mkdir(os.path.dirname(lonely))
        shutil.copy(os.path.join(self.prefix, "bin", "mantissa"), lonely)
        beside = os.path.join(os.path.dirname(lonely), "share/mantissa")
        for environment, places in (({}, [beside, self.scratch.inside("share/mantissa")]),
                                    ({"MANTISSA_DATA": "/nowhere"}, ["/nowhere"])):
            run = subprocess.run([lonely, "train", "--net", "mlp"], env={**self.scratch.environment, **environment},
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            for word in places + ["MANTISSA_DATA"]:
                self.assertIn(word, run.stderr)
        self.assertIn("data: not found", self.scratch.run(lonely, "--version"))
        self.assertIn("data: " + self.data(), self.scratch.run(lonely, "--version", MANTISSA_DATA=self.data()))

    def test_cmake_finds_the_models(self):
        source, printed = example_of_the_models()
        project, build = self.scratch.inside("consumer"), self.scratch.inside("consumer", "build")
        shutil.copytree(CONSUMER, project)
        with open(os.path.join(project, "example.cpp"), "w", encoding="utf-8") as file:
            file.write(source)
        self.scratch.run("cmake", "-S", project, "-B", build, "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + self.prefix,
                         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-Dwanted_version=" + project_version())
        self.scratch.run("cmake", "--build", build)
        self.assertEqual(self.scratch.run(os.path.join(build, "example")), printed + "\n")
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            commands = file.read()
        self.assertIn("-ffp-contract=off", commands)

    def test_every_header_has_what_it_includes(self):
        include = os.path.join(self.prefix, "include", "mantissa")
        headers = sorted(glob.glob(include + "/**/*.hpp", recursive=True))
        self.assertGreater(len(headers), 50)
        source = self.scratch.inside("headers.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(f'#include "{os.path.relpath(header, include)}"\n' for header in headers)
        self.scratch.run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", include, source)

    def test_pkg_config_finds_the_c_library(self):
        paths = {"PKG_CONFIG_PATH": os.path.join(self.libraries, "pkgconfig"), "LD_LIBRARY_PATH": self.libraries}
        flags = self.scratch.run("pkg-config", "--cflags", "--libs", "mantissa", **paths).split()
        program = self.scratch.inside("mac")
        self.scratch.run("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-o", program,
                         self._own_copy("mac.c"), *flags)
        self.assertEqual(self.scratch.run(program, **paths), project_version() + " 40000000 0\n")
        self.assertEqual(self.scratch.run("pkg-config", "--modversion", "mantissa", **paths).strip(), project_version())
        soname = "libmantissa.so." + project_version().split(".", maxsplit=1)[0]
        self.assertIn(f"[{soname}]", self.scratch.run("readelf", "-d", os.path.join(self.libraries, "libmantissa.so")))

    def test_lists_have_all_rtl(self):
        directory = self.data("rtl")
        sources = sorted(name for name in os.listdir(os.path.join(ROOT, "rtl")) if name.endswith(".sv"))
        for name, line in (("mantissa.f", r"^(\w+\.sv)$"), ("mantissa.core", r"^      - (\w+\.sv)$")):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                listed = re.findall(line, file.read(), re.MULTILINE)
            self.assertEqual(listed[0], "mantissa_pkg.sv")
            self.assertEqual(sorted(listed), sources, name)
        self.scratch.run("verilator", "--lint-only", "-Wall", "-F", os.path.join(directory, "mantissa.f"),
                         "--top-module", "mac_array")

    def _own_copy(self, name):
        return shutil.copy(os.path.join(CONSUMER, name), self.scratch.path)


if __name__ == "__main__":
    unittest.main()
