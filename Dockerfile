# Assay in a container: `docker build -t assay .`, then
# `docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" assay check my.assay`.
FROM python:3.12-slim

COPY . /assay
WORKDIR /assay
RUN python3 -m venv .venv && .venv/bin/pip install .
ENV PATH=/assay/.venv/bin:$PATH ASSAY_CACHE=/tmp/assay
# Whoever runs it makes the cache: what is made here would be root's, and closed to others.
RUN assay doctor && rm -rf "$ASSAY_CACHE" && useradd --create-home assay
USER assay
WORKDIR /work
ENTRYPOINT ["assay"]
