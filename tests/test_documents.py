"""The commands of the README and of the documentation run as they stand, with less to do."""

import inspect
import re
import runpy
import shlex
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import passerby as pb
from passerby.audits.settings import SETTINGS
from passerby.audits.summary import Summary
from passerby.audits.wording import Options
from passerby.cli import app, main
from passerby.cli.audit import audit
from passerby.cli.check import check
from passerby.cli.demo import DAY, demo
from passerby.cli.flows import flows
from passerby.cli.line import line
from passerby.cli.personas import personas
from passerby.cli.plan import next_table, plan
from passerby.cli.reproduce import reproduce
from passerby.cli.run import found
from passerby.cli.simulate import simulate
from passerby.cli.together import together
from passerby.report.check_page import sentences
from tests.cli.small_audit import ALONE

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts
)
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", *PAGES]
#: Pages of proofs may be long, and pages that are made from measurements; all others are read in one sitting.
LONG = ("docs/interval/", "docs/claims/")
WORDS = 3_000
#: Documents whose commands run here; those of the others need files or hours, and are read only.
RUN = ("README.md", "docs/tutorial.md", "docs/own_data.md", "docs/counts.md")
READ = ("docs/personas.md", "docs/plan.md", "docs/reproduce.md", "docs/rules.md", "docs/scale.md", "docs/tables.md")
#: A block with its language, whatever that is: else the end of one would be taken for the beginning of another.
FENCED = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TYPED = ("", "console", "sh", "bash")
SOURCES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "src").rglob("*.py"))]
PACKAGES = sorted(path.parent.name for path in (ROOT / "src/passerby").glob("*/__init__.py"))
#: Packages whose name is also that of a file or a variable (`report.html`, `people.places`): with a prefix only.
AMBIGUOUS = ("people", "questions", "report", "visits")
DOTTED = re.compile(
    rf"\b(?:passerby|passerby_paper)(?:\.\w+)+|(?<=`)(?:{'|'.join({*PACKAGES} - {*AMBIGUOUS})})(?:\.\w+)+(?=[`(])"
)
PATH = re.compile(rf"(?<![\w./-])(?:src|tests|docs|benchmarks|trust|{'|'.join(PACKAGES)})/[\w./-]*\w")
#: A link to a file or a heading, or a picture; addresses with a scheme are left to their owners.
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)")


#: Words with which a relative clause begins. Pages were read as a whole once; this is the figure that was reached.
RELATIVE = re.compile(r"\b(?:that|what|who|where|those|which)\b", re.IGNORECASE)
PER_HUNDRED = 1.2


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def commands(name: str) -> list[list[str]]:
    """What a document tells to type after `passerby`, in its blocks and in its sentences."""
    lines = [line for kind, block in FENCED.findall(text(name)) if kind in TYPED for line in block.splitlines()]
    spans = re.findall(r"`(passerby [^`]+ [^`]+)`", FENCED.sub("", text(name)))
    found = [line for line in (*lines, *spans) if line.startswith("passerby ")]
    return [shlex.split(line, comments=True)[1:] for line in found]


def lighter(arguments: list[str]) -> list[str]:
    """The same with less to do."""
    light = {"--workers": "1"}
    if arguments[0] == "audit":
        light |= {"--sample": "6", "--explore": "0", "--budget": "1e6", "--backtest": "5", "--adversaries": "1"}
    elif arguments[:2] == ["plan", "counts.csv"]:
        light = {"--runs": "20", "--levers": "rounding", "--out": "table-plan"}
    elif arguments[0] == "plan":
        light |= {"--sample": "12", "--budget": "1e5", "--runs": "20", "--levers": "rounding"}
    elif arguments[0] == "check":
        light = {"--runs": "20"}
    elif arguments[0] == "together":
        light |= {"--sample": "5", "--budget": "1e6"}
    elif arguments[0] == "simulate":
        light = {"--people": "40"}
    elif arguments[0] == "demo":
        light |= {"--people": "20", "--places": "30", "--days": "3", "--sample": "2", "--explore": "0"}
    return [*arguments, *(word for pair in light.items() if pair[0] not in arguments for word in pair)]


def test_no_document_is_forgotten() -> None:
    assert {name for name in DOCUMENTS if commands(name)} == {*RUN, *READ}


@pytest.mark.parametrize("name", [*RUN, *READ])
def test_commands_can_be_read(name: str) -> None:
    for arguments in commands(name):
        app.parse_args(arguments, exit_on_error=False, print_error=False)


def test_options_that_are_spoken_of_exist() -> None:
    functions = (audit, check, demo, plan, next_table, personas, flows, together, simulate, line, reproduce)
    known = {f"--{name.replace('_', '-')}" for each in functions for name in inspect.signature(each).parameters}
    known |= {Options().name(name) for name in SETTINGS}
    others = {"--help", "--version", "--old"}  # the last is an option of the benchmarks
    for name in DOCUMENTS:
        spoken = re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", "\n".join(re.findall(r"`[^`]*`", text(name))))
        assert set(spoken) <= known | others, name


def test_targets_of_make_exist() -> None:
    targets = re.findall(r"^(\w+):", text("Makefile"), re.MULTILINE)
    for name in DOCUMENTS:
        typed = [block for kind, block in FENCED.findall(text(name)) if kind in TYPED]
        told = "\n".join([*typed, *re.findall(r"`[^`]*`", FENCED.sub("", text(name)))])
        assert set(re.findall(r"\bmake (\w+)", told)) <= set(targets), name


def exists(dotted: str) -> bool:
    """Whether there is a module of this name, or a name in one; `kernels.jit` stands for `passerby.kernels.jit`."""
    head, *rest = dotted.split(".")
    whole = [head, *rest] if head.startswith("passerby") else ["passerby", head, *rest]
    for size in range(len(whole), 0, -1):
        try:
            value: object = import_module(".".join(whole[:size]))
        except ModuleNotFoundError:
            continue
        for attribute in whole[size:]:
            if not hasattr(value, attribute):
                return False
            value = getattr(value, attribute)
        return True
    return False


def test_modules_that_are_spoken_of_exist() -> None:
    told = {(dotted, name) for name in (*DOCUMENTS, *SOURCES) for dotted in DOTTED.findall(text(name))}
    told = {(dotted, name) for dotted, name in told if not dotted.endswith(".parquet")}
    gone = {dotted for dotted in {dotted for dotted, _ in told} if not exists(dotted)}
    assert sorted((name, dotted) for dotted, name in told if dotted in gone) == []


#: The page of mutants has the names of files of an earlier commit.
NAMES_OF_TODAY = [name for name in DOCUMENTS if name != "docs/mutants.md"]


@pytest.mark.parametrize("name", NAMES_OF_TODAY)
def test_files_that_are_spoken_of_exist(name: str) -> None:
    roots = (ROOT, ROOT / "src/passerby", ROOT / "src/passerby/measurement")
    told = {path for path in PATH.findall(text(name)) if not any((root / path).exists() for root in roots)}
    assert told <= {"docs/_build/html"}


@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith(LONG)])
def test_pages_are_read_in_one_sitting(name: str) -> None:
    assert len(text(name).split()) <= WORDS


def prose(name: str) -> str:
    """The sentences of a page: no code, tables, formulas and addresses."""
    lines = FENCED.sub("", text(name)).splitlines()
    kept = "\n".join(line for line in lines if not line.startswith(("    ", "|", "<!--")))
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "x", kept))


def test_sentences_go_straight_on() -> None:
    pages = [prose(name) for name in DOCUMENTS]
    words = sum(len(re.findall(r"[A-Za-z][\w'-]*", page)) for page in pages)
    relative = sum(len(RELATIVE.findall(page)) for page in pages)
    assert 100 * relative / words <= PER_HUNDRED, "write the noun first, and one condition a sentence"


def anchors(name: str) -> set[str]:
    """What can be linked to within a page: its headings, as they are written in addresses."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text(name)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", [*DOCUMENTS, "CHANGELOG.md", "changes/README.md"])
def test_links_lead_somewhere(name: str) -> None:
    for path, anchor in LINK.findall(FENCED.sub("", text(name))):
        target = ((ROOT / name).parent / path if path else ROOT / name).resolve()
        assert target.is_relative_to(ROOT.resolve()), path
        assert target.exists(), path
        assert not anchor or anchor in anchors(str(target.relative_to(ROOT.resolve()))), (path, anchor)


@pytest.mark.parametrize("name", SOURCES)
def test_headings_that_code_refers_to_exist(name: str) -> None:
    for page, anchor in re.findall(r"\b(docs/[\w/-]+\.md)(?:#([\w-]+))?", text(name)):
        assert (ROOT / page).exists(), page
        assert not anchor or anchor in anchors(page), (page, anchor)


@pytest.mark.parametrize("name", PAGES)
def test_headings_of_a_page_have_names_of_their_own(name: str) -> None:
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text(name)), re.MULTILINE)
    assert len(anchors(name)) == len(headings), name


def test_every_page_has_a_place_in_the_contents() -> None:
    listed = set()
    for name in PAGES:
        for tree in re.findall(r"^```{toctree}\n(.*?)^```$", text(name), re.DOTALL | re.MULTILINE):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {f"{(Path(name).parent / entry).as_posix()}.md" for entry in entries}
    assert listed == set(PAGES) - {"docs/index.md"}


@pytest.mark.parametrize("name", pb.__all__)
def test_marks_of_the_reference_are_within_code(name: str) -> None:
    """The pages of the reference take a word between bars, outside of backticks, for something to be put in."""
    thing = getattr(pb, name)
    parts = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
    for text in filter(None, (inspect.getdoc(part) for part in parts if callable(part))):
        assert not re.search(r"\|\w[^|\n]*\|", re.sub(r"`[^`]*`|^>>>.*", "", text, flags=re.MULTILINE)), text


def test_bounds_are_said_to_rest_on_habits() -> None:
    strong = re.compile(r"(?:nobody|no attack|no one)[^.]{0,40}\b(?:do better|gets above)|however clever")
    for name in DOCUMENTS:
        for paragraph in re.split(r"\n\s*\n", text(name)):
            said = " ".join(paragraph.split())
            assert not strong.search(said) or "habits" in said, (name, said)


def test_the_page_of_methods_is_that_of_the_list() -> None:
    written = runpy.run_path(str(ROOT / "docs/make_methods.py"))["written"]
    page = text("docs/methods.md")
    assert page == written(page), "run docs/make_methods.py"


def test_the_first_rule_of_the_table_is_measured_as_it_stands() -> None:
    """The others take longer. Habits that are fitted otherwise, or a loss that is measured otherwise, move it too."""
    made = runpy.run_path(str(ROOT / "docs/figures/make_rules.py"))
    rows, _ = made["tried"](made["rules"]()[:1], workers=1)
    assert made["written"](rows) in text("docs/rules.md"), "run docs/figures/make_rules.py"


def test_the_first_crowd_of_the_table_is_measured_as_it_stands() -> None:
    made = runpy.run_path(str(ROOT / "docs/figures/make_crowd.py"))
    rows = made["days"](made["UNKNOWN"][:1])
    assert made["written"](rows) in text("docs/crowd.md"), "run docs/figures/make_crowd.py"


def test_numbers_of_the_readme_are_those_of_its_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    city, _, whole, *_ = (command for command in commands("README.md") if command[0] in ("simulate", "audit"))
    for arguments in (city, [*whole, *ALONE, "--workers", "1"]):
        assert main(arguments) == 0, capsys.readouterr().err
    for sentence in found(Summary.model_validate_json(Path("audit/summary.json").read_text(encoding="utf-8"))):
        assert sentence in text("README.md")


def test_what_the_readme_says_of_a_table_is_what_is_found(tmp_path: Path) -> None:
    (table,) = (block for kind, block in FENCED.findall(text("README.md")) if kind == "csv")
    (tmp_path / "counts.csv").write_text(table, encoding="utf-8")
    for sentence in sentences(pb.check_table(tmp_path / "counts.csv", "dialysis")):
        assert sentence in text("README.md")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough) for name in ("README.md", "docs/tutorial.md", "docs/counts.md")],
)
def test_commands_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for setting, little in {"runs": 10, "budget": 1e6, "backtest": 5, "adversaries": 1}.items():
        monkeypatch.setitem(DAY, setting, little)
    for table in (block for kind, block in FENCED.findall(text(name)) if kind == "csv"):
        Path("counts.csv").write_text(table, encoding="utf-8")
    for arguments in commands(name):
        assert main(lighter(arguments)) == 0, (arguments, capsys.readouterr().err)


@pytest.mark.thorough
def test_commands_on_own_data_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    city = pb.simulate_city(40, 20, 3)
    names = city.places.gather(city.table["place"])
    first, second = names.value_counts(sort=True)["place"].head(2)
    names = names.replace({first: "north gate", second: "south gate"})
    table = pl.DataFrame({"card": city.table["person"], "tapped_at": city.table["time"], "stop": names})
    table.write_csv("visits.csv")
    table.head(table.height // 2).write_csv("april.csv")
    table.tail(table.height // 2).write_csv("may.csv")
    Path("visits").mkdir()
    for card in table["card"].unique().sort().head(12):
        table.filter(pl.col("card") == card).write_csv(f"visits/{card}.csv")
    toml = re.search(r"```toml\n(.*?)```", text("docs/own_data.md"), re.DOTALL)
    assert toml
    columns = 'person = "card"\ntime = "tapped_at"\nplace = "stop"\n'
    Path("audit.toml").write_text(toml[1].replace('out = "audit"', 'out = "other"') + columns)
    Path("counts.csv").write_text("step,place,count\n1,north gate,3\n")
    Path("sensors.csv").write_text("step,place\n1,north gate\n")
    for arguments in commands("docs/own_data.md"):
        more = [] if "--settings" in arguments or "--person" in arguments else ["--person", "card"]
        more += [] if "--settings" in arguments or "--time" in arguments else ["--time", "tapped_at", "--place", "stop"]
        assert main([*lighter(arguments), *more, "--overwrite"]) == 0, (arguments, capsys.readouterr().err)
    # The table of sensors: each row is a choice.
    choices = re.findall(r"^\| `(--sensors [^`]+)`", text("docs/own_data.md"), re.MULTILINE)
    assert len(choices) == 4
    for number, choice in enumerate(choices):
        begin = ["audit", "visits.csv", "--person", "card", "--time", "tapped_at", "--place", "stop", "--window", "1h"]
        arguments = [*begin, *shlex.split(choice), "--sample", "2", *ALONE, "--workers", "1"]
        assert main([*arguments, "--out", f"choice{number}"]) == 0, (arguments, capsys.readouterr().err)
