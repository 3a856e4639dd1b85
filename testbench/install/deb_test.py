"""The Debian package: what it holds and asks for, and the program in it, unpacked into an empty directory."""
import glob
import os
import re
import unittest

from installed import BUILD, ProgramChecks, Scratch, check, project_version


class Package(unittest.TestCase, ProgramChecks):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Scratch()
        cls.addClassCleanup(cls.scratch.remove)
        check("cpack", "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", cls.scratch.inside("packed"))
        (cls.package,) = glob.glob(cls.scratch.inside("packed", "*.deb"))
        check("dpkg", "-x", cls.package, cls.scratch.inside("unpacked"))
        cls.prefix = cls.scratch.inside("unpacked", "usr")

    def field(self, name):
        return check("dpkg", "--field", self.package, name).strip()

    def test_it_asks_for_what_it_needs(self):
        self.assertEqual(self.field("Package"), "mantissa")
        self.assertEqual(self.field("Version"), project_version())
        for library in ("libboost-iostreams1.74.0", "libc6", "libfmt9", "libhwy1", "libopenmpi3", "libssl3", "libstdc++6", "libsystemc", "libyaml-cpp0.7"):
            self.assertRegex(self.field("Depends"), rf"(^|, ){re.escape(library)}\b", library)
        for tool in ("verilator", "g++", "python3-matplotlib"):
            self.assertIn(tool, self.field("Recommends").split(", "))

    def test_dpkg_installs_it(self):
        root = self.scratch.inside("root")
        for name in ("info", "updates", "triggers"):
            os.makedirs(os.path.join(root, "var/lib/dpkg", name))
        for name in ("status", "available"):
            with open(os.path.join(root, "var/lib/dpkg", name), "w", encoding="utf-8"):
                pass
        check("dpkg", "--root=" + root, "--force-not-root", "--force-depends", "--force-script-chrootless", "--log=/dev/null",
              "-i", self.package, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        text = self.scratch.run(os.path.join(root, "usr/bin/mantissa"), "calc", "lfsr", "--seed", "1", "--count", "1")
        self.assertRegex(text, r"^[0-9a-f]{8}\n$")


if __name__ == "__main__":
    unittest.main()
