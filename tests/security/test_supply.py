"""Supply: what is built is the same wherever it is built, holds what it should, and runs with all that it allows."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from figures import Figures
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RANGES = [Requirement(text) for text in PROJECT["dependencies"]]


def run(*command: object, cwd: Path = ROOT, **env: str) -> str:
    """What a command prints; it fails with all of that."""
    result = subprocess.run(
        [*map(str, command)], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return result.stdout


# --- the dependencies' range ----------------------------------------------------------------------------------------

# What a server does with them at run time. The translators' tools are tested against the newest CLDR, which is in the
# newest Babel alone.
CORE = ["catalog", "datafile", "document", "languages", "overrides", "settings", "text", "translations", "wording"]


# The first wheels for a Python. What is built in their place lacks libyaml, whose words the tests compare.
_WHEELS = {(3, 13): {"PyYAML": "6.0.2"}, (3, 14): {"PyYAML": "6.0.3"}}


def _lowest(requirement: Requirement) -> str:
    [bound] = [each.version for each in requirement.specifier if each.operator == ">="]
    return f"{requirement.name}=={_WHEELS.get(sys.version_info[:2], {}).get(requirement.name, bound)}"


@pytest.mark.parametrize("end", ["lowest", "highest"])
def test_ends_of_the_range(end: str, tmp_path: Path, figures: Figures) -> None:
    """With the lowest and with the highest version of each dependency, in an environment of its own, the core works."""
    # these two are its own; all else comes from where this runs
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env/bin/python"
    [packages] = (tmp_path / "env/lib").glob("python*/site-packages")
    beside = [path for path in sys.path if path.endswith("site-packages")]
    lines = [f"import site; site.addsitedir({path!r})" for path in beside]
    (packages / "beside.pth").write_text("\n".join(lines))
    wanted = [_lowest(each) if end == "lowest" else each.name for each in RANGES]
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--ignore-installed", "--no-deps", *wanted)
    script = "import importlib.metadata as m; print(*(m.distribution(n)._path for n in {!r}), sep='\\n')"
    found = run(python, "-c", script.format([each.name for each in RANGES])).splitlines()
    assert [Path(path).parent for path in found] == [packages] * len(RANGES)
    versions = [Path(path).name.removesuffix(".dist-info").replace("-", " ") for path in found]
    if end == "lowest":
        assert [version.lower() for version in versions] == [
            name.replace("==", " ").lower() for name in map(_fixed, wanted)
        ]
    files = [f"tests/test_{name}.py" for name in CORE]
    summary = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files).splitlines()[-1]
    figures[f"{end} versions: {', '.join(versions)}"] = re.sub(r" in .*", "", summary)


def _fixed(pin: str) -> str:
    """As a ``dist-info`` writes a version: Babel 2.17 is 2.17.0 there."""
    name, version = pin.split("==")
    return f"{name}=={version}" if version.count(".") > 1 else f"{name}=={version}.0"


def test_what_extras_bring(tmp_path: Path, figures: Figures, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that an installation brings is a wheel, not withdrawn, and under a licence that it names."""
    brought: dict[str, dict[str, tuple[str, str]]] = {}
    for extra in ("", *(name for name in PROJECT["optional-dependencies"] if name not in {"test", "benchmark"})):
        report = tmp_path / "report.json"
        target = f"{ROOT}[{extra}]" if extra else str(ROOT)
        options = ["--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", report]
        run(sys.executable, "-m", "pip", "install", "-q", *options, target)
        brought[extra] = {}
        for package in json.loads(report.read_text())["install"]:
            metadata = package["metadata"]
            if package["download_info"]["url"].startswith("file://") and "dir_info" in package["download_info"]:
                continue  # that is us
            assert not package["is_yanked"], metadata["name"]
            assert package["download_info"]["url"].endswith(".whl"), metadata["name"]
            brought[extra][metadata["name"]] = (metadata["version"], _licence(metadata))
    assert {name.lower() for name in brought[""]} == {each.name.lower() for each in RANGES}
    with capsys.disabled():
        print()
        for extra, packages in brought.items():
            print(f"  {f'[{extra}]' if extra else 'without extras'}: {len(packages)} packages")
            for name, (version, licence) in sorted(packages.items(), key=lambda item: item[0].lower()):
                if not extra or name not in brought[""]:
                    print(f"    {name:.<40} {version:.<16} {licence}")
    for extra, packages in brought.items():
        figures[f"packages brought {f'by [{extra}]' if extra else 'without extras'}"] = len(packages)
        assert [name for name, (_, licence) in packages.items() if not licence] == []


def _licence(metadata: dict[str, object]) -> str:
    classifiers = [str(each) for each in metadata.get("classifier", ())]  # type: ignore[attr-defined]
    named = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: ")]
    short = str(metadata.get("license", "")).strip().split("\n")[0][:40]
    return str(metadata.get("license_expression") or ", ".join(named) or short)


# --- what is built --------------------------------------------------------------------------------------------------


def _copy(to: Path, umask: int, moment: float) -> Path:
    """The files that are or may be in the repository, as another machine would have them."""
    to.mkdir()
    for name in _files():
        file = to / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((ROOT / name).read_bytes())
        file.chmod((ROOT / name).stat().st_mode & ~umask)
        os.utime(file, (moment, moment))
    (to / ".gitignore").touch()
    return to


def _files() -> list[str]:
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def _build(root: Path, out: Path, *options: str, **env: str) -> dict[str, Path]:
    variables = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | env
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(out), str(root)]
    result = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return {"".join(file.suffixes[-2:]) if file.suffix == ".gz" else file.suffix: file for file in out.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Path]]:
    """Built twice: on two machines, as it were, at two moments."""
    root = tmp_path_factory.mktemp("build")
    one = _copy(root / "one", 0o022, time.time())
    other = _copy(root / "a folder of another name", 0o077, 946_684_800)
    return [
        _build(one, root / "1", PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C"),
        _build(other, root / "2", PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C.UTF-8"),
        _build(other, root / "3", "--wheel", PYTHONHASHSEED="3", TZ="America/New_York"),
    ]


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_built_twice_is_the_same(built: list[dict[str, Path]], figures: Figures) -> None:
    """Builds from folders of other names, times and rights are the same octets, and so is a wheel without an sdist."""
    for ending in (".tar.gz", ".whl"):
        digests = [_digest(files[ending]) for files in built if ending in files]
        figures[f"{ending}: builds, different ones among them"] = f"{len(digests)}, {len({*digests}) - 1}"
        assert len({*digests}) == 1


# What a wheel carries beside modules and their data.
_METADATA = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_wheel_holds_what_it_should(built: list[dict[str, Path]], figures: Figures) -> None:
    """Every file in the wheel is one of the package, its data or its description, and every such file is there."""
    with zipfile.ZipFile(built[0][".whl"]) as wheel:
        names = wheel.namelist()
        contents = {name: wheel.read(name) for name in names}
    package = {name.removeprefix("src/"): name for name in _files() if name.startswith("src/mcp_auth_failures/")}
    data = {
        f"mcp_auth_failures/_data/{name}": name
        for name in _files()
        if name == "catalog/failures.yaml" or name.startswith("locales/")
    }
    expected = package | data
    metadata = {name.partition(".dist-info/")[2] for name in names if ".dist-info/" in name}
    here = {name for name in names if ".dist-info/" not in name}
    kinds: dict[str, int] = {}
    for name in names:
        kinds[Path(name).suffix or Path(name).name] = kinds.get(Path(name).suffix or Path(name).name, 0) + 1
    figures["files in the wheel"] = len(names)
    figures["by ending"] = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
    assert metadata == _METADATA
    assert here == expected.keys()
    assert {name for name, of in expected.items() if contents[name] != (ROOT / of).read_bytes()} == set()
    assert [name for name in names if Path(name).suffix in {".mo", ".pyc", ".orig", ".rej", ".swp"}] == []
    assert [name for name in names if any(part.startswith(".") for part in Path(name).parts)] == []


# What shows where something was made, or would open something.
_PRIVATE = re.compile(rb"/(?:home|root|Users)/|-----BEGIN [A-Z ]*PRIVATE KEY|\\\\Users\\\\")


def test_archives_hold_nothing_private(built: list[dict[str, Path]], figures: Figures) -> None:
    """No archive holds a file that the repository has not, a path of a machine, an owner, or a key."""
    with tarfile.open(built[0][".tar.gz"]) as sdist:
        members = sdist.getmembers()
        names = {member.name.partition("/")[2] for member in members}
        contents = {member.name: sdist.extractfile(member).read() for member in members if member.isfile()}  # type: ignore[union-attr]
    figures["files in the sdist"] = len(names)
    assert names - {"PKG-INFO", ".gitignore"} <= {*_files()}
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}
    assert {member.mtime for member in members} == {1_580_601_600}  # hatchling's, where SOURCE_DATE_EPOCH is not set
    with zipfile.ZipFile(built[0][".whl"]) as wheel:
        contents |= {name: wheel.read(name) for name in wheel.namelist()}
    code = {name: content for name, content in contents.items() if "/tests/" not in name}
    assert [name for name, content in code.items() if _PRIVATE.search(content)] == []
