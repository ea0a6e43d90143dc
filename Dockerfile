# One image for all our processes. compose.yaml names the command of each. Node.js is the image's
# own, so the optional packages, which bring a Node.js to machines without one, stay out.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /gateway
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

# The API of the Envoy that compose.yaml runs.
FROM dependencies AS api
COPY . .
COPY --from=envoyproxy/envoy:v1.40.0 /usr/local/bin/envoy /tmp/envoy
RUN node launcher/make-envoy-api.ts /tmp/envoy

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /gateway
COPY --from=dependencies /gateway/node_modules node_modules
COPY . .
COPY --from=api /gateway/protos/envoy-api protos/envoy-api
# A new volume takes over the owner of the folder that it is mounted on.
RUN install -d -o node -g node -m 0700 /var/lib/gateway \
 && install -d -o node -g node /var/lib/database-secret \
 && for name in controlplane sds ext-authz ratelimit-service edge user-service; do \
      install -d -o node -g node -m 0700 "/run/identities/$name"; done
USER node
CMD ["node", "controlplane/main.ts"]
