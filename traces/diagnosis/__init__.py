"""What the logs lack or mix up: missing logs, clocks, duplicate ids, inferred events. Words of Kafka are welcome here."""
