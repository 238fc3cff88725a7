import sys
from pathlib import Path

from trailhead.network import Network
from trailhead.report import report
from trailhead.search import quickest

if __name__ == "__main__":
    file, start, goal = sys.argv[1:]
    network = Network.from_text(Path(file).read_text("utf-8"))
    print(report(network, quickest(network, start, goal)))
