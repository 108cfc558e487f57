"""Temporal properties: LTL without next under weak and strong fairness, decided by fair cycles of the state graph."""
