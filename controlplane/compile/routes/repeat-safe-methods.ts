import type { JsonObject } from '#protos/json.ts';

/** The bounds of the wait for an answer, in ms. 0 is none. */
type Bounds = { readonly timeout_ms: number; readonly per_try_timeout?: number | undefined };

const RETRY_ON: JsonObject = {
  header: {
    key: 'x-envoy-retry-on',
    value: "%CEL(request.method in ['GET', 'HEAD', 'OPTIONS'] ? 'reset' : '')%",
  },
  append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
};

/**
 * The part of an edge's route that tells Envoy's router to repeat also what was reset after it was
 * sent, where the method may be repeated (RFC 9110, section 9.2.1). A machine that vanishes takes the
 * application proxy with it that would say so. The router takes the header away again. Envoy counts
 * an answer that comes too late as a reset: where that is bounded, a slow service would be asked
 * twice, and the client would wait twice as long. Source: Envoy's page "Router", `x-envoy-retry-on`.
 */
export function repeatSafeMethods({ per_try_timeout = 0, timeout_ms }: Bounds): JsonObject {
  return timeout_ms > 0 || per_try_timeout > 0 ? {} : { request_headers_to_add: [RETRY_ON] };
}
