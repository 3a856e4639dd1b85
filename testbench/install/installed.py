"""An installed mantissa, run where neither the source tree nor the build directory can be seen, and what it must do."""
import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILD = os.path.realpath(os.environ["MANTISSA_BUILD"])
# Mounts nothing over both directories, for the program that follows alone.
HIDE = 'mount -t tmpfs none "$1" && { [ ! -d "$2" ] || mount -t tmpfs none "$2"; } && shift 2 && exec "$@"'


def check(*command, **more):
    """What a command prints; its failure with all that it said."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout}")
    return result.stdout


def project_version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(mantissa VERSION (\S+)", file.read()).group(1)


def how_to_hide():
    """The command in front of one that must not see the sources; empty, and a message, where mounts are not allowed."""
    for unshare in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        hide = unshare + ["sh", "-c", HIDE, "sh", ROOT, BUILD]
        try:
            seen = subprocess.run(hide + ["test", "-e", os.path.join(ROOT, "README.md")], stderr=subprocess.DEVNULL, check=False)
        except OSError:
            break
        if seen.returncode == 1 and os.path.isdir(BUILD):
            return hide
    print("the source tree is not hidden: mounts are not allowed here")
    return []


class Scratch:
    """A directory for all that a test writes, its user's home included."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="mantissa_install_")
        self.home = self.inside("home")
        os.mkdir(self.home)
        self.environment = {"HOME": self.home, "PATH": os.environ["PATH"], "LC_ALL": "C"}
        self.hide = how_to_hide()

    def inside(self, *names):
        return os.path.join(self.path, *names)

    def run(self, *command, **environment):
        """An installed program that sees no sources."""
        return check(*self.hide, *command, cwd=self.home, env={**self.environment, **environment})

    def remove(self):
        shutil.rmtree(self.path)


def files_below(directory):
    """Names and times of all files."""
    return {os.path.join(here, name): os.lstat(os.path.join(here, name)).st_mtime_ns
            for here, _, names in os.walk(directory) for name in names}


class ProgramChecks:
    """What works wherever the program was put; the class has `scratch` and `prefix`."""

    def mantissa(self, *arguments, **environment):
        return self.scratch.run(os.path.join(self.prefix, "bin", "mantissa"), *arguments, **environment)

    def data(self, *names):
        return os.path.join(self.prefix, "share", "mantissa", *names)

    def test_it_knows_its_version_and_its_data(self):
        lines = self.mantissa("--version").splitlines()
        self.assertEqual(lines[0], "mantissa " + project_version())
        self.assertEqual(lines[-1], "data: " + os.path.realpath(self.data()))

    def test_it_replays_and_plots(self):
        out = self.scratch.inside("report")
        self.mantissa("replay", self.data("traces", "fashion-transformer.safetensors"), "--out", out)
        for name in ("report.json", "report.html", "energy.png", "roofline.svg"):
            self.assertGreater(os.path.getsize(os.path.join(out, name)), 1000, name)

    def test_it_trains(self):
        text = self.mantissa("train", "--net", "mlp", "--recipe", "fp8", "--epochs", "1", "--images", "1280")
        self.assertIn("validation accuracy: ", text)

    def test_it_compiles_its_rtl_into_the_users_cache(self):
        before = files_below(self.prefix)
        text = self.mantissa("verify", "fp8_mac", "--config", "e5m2 fp32", "--vectors", "500")
        self.assertRegex(text, r"fp8_mac +e5m2 fp32 +500 +\d+ +0 ")
        cache = os.listdir(os.path.join(self.scratch.home, ".cache", "mantissa", f"mantissa-devices-{os.getuid()}"))
        self.assertTrue([name for name in cache if re.fullmatch(r"fp8_mac-\w+\.so", name)], cache)
        self.assertEqual(files_below(self.prefix), before)
