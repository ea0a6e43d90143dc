# One image for all our processes: Node.js, the libraries that it loads, and what we run. There is
# no shell in it. compose.yaml names the command of each process. It is built by BuildKit, for the
# machine that builds it or for another (`--platform linux/arm64`), since every step runs on the
# machine that builds. deploy/image/make-image.ts names the bases with their digests too.
ARG NODE=node:24.21.0-bookworm-slim
ARG ENVOY=envoyproxy/envoy:v1.40.0
# The part of it for the machine that runs the image.
ARG BASE=${NODE}

FROM ${BASE} AS node

FROM --platform=$BUILDPLATFORM ${ENVOY} AS envoy

FROM --platform=$BUILDPLATFORM ${NODE} AS packages
WORKDIR /gateway
COPY package.json package-lock.json ./
# Node.js is the image's own, so the optional packages, which bring a Node.js to machines without
# one, stay out. What only compilers and debuggers read stays out too.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && find node_modules -type f -regex '.*\.\(map\|[cm]?ts\|flow\|bare\)' -delete

# The bundler, which alone of the packages for development is needed, in its locked version.
FROM --platform=$BUILDPLATFORM ${NODE} AS bundler
WORKDIR /bundler
COPY package.json package-lock.json deploy/image/keep-bundler.ts ./
RUN node keep-bundler.ts && npm install --ignore-scripts --no-audit --no-fund

# What we run, in /program.
FROM packages AS program
COPY --from=bundler /bundler/node_modules/ node_modules/
COPY . .
RUN --mount=type=bind,from=envoy,source=/usr/local/bin/envoy,target=/tmp/envoy \
    node launcher/make-envoy-api.ts /tmp/envoy \
 && node deploy/image/write-program.ts /program

# What it runs on.
FROM --platform=$BUILDPLATFORM ${NODE} AS system
COPY deploy/image/make-system.sh deploy/image/software-bill.ts deploy/image/write-sbom.ts /build/
RUN --mount=type=bind,from=node,target=/node --mount=type=bind,from=packages,source=/gateway,target=/gateway \
    sh /build/make-system.sh /node /system \
 && node /build/write-sbom.ts /system /gateway > /system/sbom.cdx.json

FROM scratch
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="tollwright" \
      org.opencontainers.image.description="An API gateway on Envoy: control plane, discovery, logins and rate limits" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/node:24.21.0-bookworm-slim" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
COPY --from=system /system/ /
COPY --from=packages /gateway/node_modules/ /gateway/node_modules/
COPY --from=program /program/ /gateway/
ENV NODE_ENV=production PATH=/usr/local/bin
WORKDIR /gateway
# A number, because Kubernetes must see that it is not root.
USER 1000:1000
# Every service of ours answers there. The image's own command has the default address.
HEALTHCHECK --interval=5s --timeout=15s --start-period=60s --retries=3 \
  CMD ["node", "-e", "http.get(`http://${process.env.HTTP_ADDRESS || '127.0.0.1:8877'}/readyz`, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))"]
CMD ["node", "controlplane/main.js"]
