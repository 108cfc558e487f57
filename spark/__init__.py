"""Jobs on Spark: the one package that may import pyspark."""
