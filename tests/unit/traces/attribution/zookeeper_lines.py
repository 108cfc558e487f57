"""Lines of a broker and of ZooKeeper's client in it, for the tests of who wrote a line."""

from __future__ import annotations

from pathlib import Path

PRELUDE = "Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)"
START = "starting (kafka.server.KafkaServer)"


def begins(session: int) -> str:
    return (
        "Session establishment complete on server localhost/127.0.0.1:2181, "
        f"sessionid = 0x{session:x}, negotiated timeout = 6000 (org.apache.zookeeper.ClientCnxn)"
    )


def expires(session: int) -> str:
    return (
        f"Unable to reconnect to ZooKeeper service, session 0x{session:x} has expired (org.apache.zookeeper.ClientCnxn)"
    )


def closes(session: int) -> str:
    return f"Session: 0x{session:x} closed (org.apache.zookeeper.ZooKeeper)"


def silent(session: int) -> str:
    return (
        "Unable to read additional data from server sessionid "
        f"0x{session:x}, likely server has closed socket (org.apache.zookeeper.ClientCnxn)"
    )


def registers(broker: int, session: int) -> str:
    return (
        f"Stat of the created znode at /brokers/ids/{broker} is: "
        f"{session},{session},1,1,1,0,0,{session},250,0,209 (kafka.zk.KafkaZkClient)"
    )


def written(path: Path, texts: list[str]) -> Path:
    """A file with a line every second."""
    stamps = (f"2021-03-04 09:{second // 60:02}:{second % 60:02},000" for second in range(len(texts)))
    path.write_text("".join(f"[{at}] INFO {text}\n" for at, text in zip(stamps, texts, strict=True)))
    return path
