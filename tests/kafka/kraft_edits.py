"""Digits that are changed in lines of the recorded KRaft clusters, one at a time: an epoch, a broker, a version."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """In a file of a run, a line and the text in it that is replaced."""

    run: str
    file: str
    line: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.run}/{self.file}:{self.line}"


EDITS = [
    Edit("C2", "broker-1/state-change.log", 120, "rrent leader is 3.", "rrent leader is 2."),
    Edit("C2", "broker-1/state-change.log", 148, "partition epoch 7,", "partition epoch 8,"),
    Edit("C2", "broker-3/server.log", 1513, "sion updated to 4 (", "sion updated to 1 ("),
    Edit("C2", "broker-3/state-change.log", 172, "poch=-1, leader=2,", "poch=-1, leader=3,"),
    Edit("C2", "controller-101/controller.log", 35, "ED, leaderEpoch=0,", "ED, leaderEpoch=4,"),
    Edit("C2", "broker-1/state-change.log", 112, "partition epoch 7 a", "partition epoch 0 a"),
    Edit("C2", "broker-1/state-change.log", 13, "termark 0, ISR [1,2,3],", "termark 0, ISR [1,2,1],"),
    Edit("C2", "broker-3/server.log", 2363, "sion updated to 11 (", "sion updated to 71 ("),
    Edit("C2", "broker-1/state-change.log", 52, "ch=2, replicas=[2, 1, 3],", "ch=2, replicas=[3, 1, 3],"),
    Edit("C2", "controller-103/controller.log", 108, "partitionEpoch=0).", "partitionEpoch=6)."),
    Edit("C2", "broker-1/state-change.log", 188, "rrent leader is 2.", "rrent leader is 3."),
    Edit("C2", "broker-2/state-change.log", 159, "at leader epoch 2 f", "at leader epoch 9 f"),
    Edit("C2", "broker-3/server.log", 1513, "ISR updated to 3,1", "ISR updated to 2,1"),
    Edit("C2", "broker-1/state-change.log", 166, "erEpoch=2, isr=[3, 1, 2],", "erEpoch=2, isr=[3, 1, 3],"),
    Edit("C2", "controller-103/controller.log", 109, "ThV5__Yg], isr=[2, 1, 3],", "ThV5__Yg], isr=[2, 3, 3],"),
    Edit("C2", "broker-3/state-change.log", 88, "rrent leader is 2.", "rrent leader is 1."),
    Edit("C2", "broker-3/state-change.log", 119, "at leader epoch 1 f", "at leader epoch 7 f"),
    Edit("C2", "broker-3/server.log", 1519, "ISR updated to 3,2,1", "ISR updated to 3,3,1"),
    Edit("C2", "broker-1/state-change.log", 132, "partitionEpoch=5,", "partitionEpoch=2,"),
    Edit("C2", "controller-103/controller.log", 49, "nElr=[], leader=1,", "nElr=[], leader=2,"),
    Edit("C2", "broker-3/state-change.log", 22, "at leader epoch 0 f", "at leader epoch 7 f"),
    Edit("C2", "broker-2/state-change.log", 3, "at leader epoch 0 f", "at leader epoch 1 f"),
    Edit("C2", "broker-3/server.log", 2293, "ISR updated to 3,1,2", "ISR updated to 3,1,1"),
    Edit("C2", "broker-3/state-change.log", 77, "ch=4, replicas=[1, 3, 2],", "ch=4, replicas=[1, 2, 2],"),
    Edit("C2", "controller-103/controller.log", 99, "nElr=[], leader=2,", "nElr=[], leader=3,"),
    Edit("C1", "broker-1/state-change.log", 58, "at leader epoch 1 f", "at leader epoch 6 f"),
    Edit("C1", "broker-2/state-change.log", 3, "termark 0, ISR [2,3,1],", "termark 0, ISR [2,3,3],"),
    Edit("C1", "broker-2/server.log", 1134, "ISR updated to 2,1,3", "ISR updated to 2,1,1"),
    Edit("C1", "broker-3-duplicate/state-change.log", 47, "=2, leaderEpoch=0,", "=2, leaderEpoch=7,"),
    Edit("C1", "controller-103/controller.log", 60, "partitionEpoch=0).", "partitionEpoch=9)."),
]
