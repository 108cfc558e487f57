"""Assay checks formal models of Kafka's control plane, and checks recorded logs of a real cluster against the same models."""

__version__ = "0.1.0"
