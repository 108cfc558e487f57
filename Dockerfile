# Assay in a container: `docker build -t assay .`, then `docker run --rm -v "$PWD:/work" assay check my.assay`.
FROM python:3.12-slim

COPY . /assay
WORKDIR /assay
RUN python3 -m venv .venv && .venv/bin/pip install .
ENV PATH=/assay/.venv/bin:$PATH ASSAY_CACHE=/tmp/assay
RUN assay doctor && useradd --create-home assay
USER assay
WORKDIR /work
ENTRYPOINT ["assay"]
