import type { JsonObject } from '#protos/json.ts';

/**
 * The part of an edge's route that makes Envoy's router also retry what was reset after it was
 * sent, where the method allows it (RFC 9110, section 9.2.1). A machine that vanishes takes the
 * application proxy with it, so that one cannot ask for it. The router removes the header again.
 * Source: Envoy's page "Router", `x-envoy-retry-on`.
 */
export const REPEAT_SAFE_METHODS: JsonObject = {
  request_headers_to_add: [
    {
      header: {
        key: 'x-envoy-retry-on',
        value: "%CEL(request.method in ['GET', 'HEAD', 'OPTIONS'] ? 'reset' : '')%",
      },
      append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
    },
  ],
};
