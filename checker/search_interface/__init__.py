"""What a search is to the rest of the checker: values and protocols without any search in them, shared by the oracle
and the engines."""
