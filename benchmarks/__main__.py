"""Run the benchmarks one after another (`make bench`), or those that are named: `python -m benchmarks decode audit`."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """Run each script in a process of its own, and return how many failed."""
    scripts = sorted(path for path in HERE.glob("*.py") if not path.name.startswith("_"))
    wanted = sys.argv[1:] or [path.stem for path in scripts]
    unknown = set(wanted) - {path.stem for path in scripts}
    if unknown:
        print(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(p.stem for p in scripts)}")
        return 2
    failed = 0
    for path in scripts:
        if path.stem in wanted:
            print(f"\n## {path.stem}\n", flush=True)
            failed += subprocess.run([sys.executable, str(path)], check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
