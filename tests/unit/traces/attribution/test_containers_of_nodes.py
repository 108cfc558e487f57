"""What a container printed of a broker beside the broker's own files is the same process."""

from pathlib import Path

import pytest

from assay.traces.log_reader import read_logs

PRINTED = """[2024-05-14 03:12:0{n},412] INFO [KafkaServer id={broker}] started (kafka.server.KafkaServer)
[2024-05-14 03:12:0{n},512] INFO [Controller id={broker}] 2 successfully elected as the controller. Epoch incremented to 17 and epoch zk version is now 17 (kafka.controller.KafkaController)
"""


def printed(broker: int, second: int, prefix: str = "") -> str:
    lines = PRINTED.format(n=second, broker=broker).splitlines()
    return "".join(f"{prefix}{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("container", "broker", "nodes"),
    [("kafka-2", 2, {"logs"}), ("logs", 2, {"logs"}), ("kafka-3", 3, {"logs", "kafka-3"})],
)
def test_a_container_of_the_broker_beside_it_is_no_second_process(
    tmp_path: Path, container: str, broker: int, nodes: set[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "controller.log").write_text(printed(2, 1))
    (folder / "docker.log").write_text(printed(broker, 5, f"{container}  | "))
    found = read_logs([folder]).nodes
    assert {each.name for each in found} == nodes
