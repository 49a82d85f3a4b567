# The server of Thresher, with the built-in English model:
#   docker build -t thresher .
#   docker run -p 8000:8000 thresher
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
# pip reads this variable: an index with builds of torch for CPUs makes the image much smaller.
ARG PIP_EXTRA_INDEX_URL
RUN python -m venv /opt/thresher
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN /opt/thresher/bin/pip install --no-cache-dir --constraint constraints.txt '.[english,serve]'

FROM python:${PYTHON}-slim
COPY --from=build /opt/thresher /opt/thresher
RUN useradd --create-home --uid 10001 thresher
USER thresher
WORKDIR /home/thresher
ENV PATH=/opt/thresher/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["thresher"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
