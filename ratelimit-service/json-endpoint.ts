import { decode } from '#protos/decode.ts';
import { encode } from '#protos/encode.ts';
import { EncodeError } from '#protos/encode-error.ts';
import { isJsonObject } from '#protos/json.ts';
import { toFieldNames, toJsonNames } from '#protos/json-names.ts';
import { messageType } from '#protos/root.ts';
import type { Failed } from './answerer.ts';
import { decodeRequest } from './decode-request.ts';
import type { JsonAnswer } from './json-app.ts';
import type { RateLimitRequest } from './request.ts';
import { OVER_LIMIT, type RateLimitResponse } from './wire.ts';

const REQUEST = 'envoy.service.ratelimit.v3.RateLimitRequest';
const RESPONSE = 'envoy.service.ratelimit.v3.RateLimitResponse';

const TOO_MANY = 'the request has too many descriptors and labels';

const HTTP_STATUS: Readonly<Record<Failed['failed'], number>> = {
  INVALID_ARGUMENT: 400,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/**
 * Answers a RateLimitRequest in ProtoJSON with a RateLimitResponse in ProtoJSON. The status is 200,
 * or 429 over a limit. Errors are `{ "error" }` with 400, 500 or 503. The reference service does
 * the same (envoyproxy/ratelimit, README, "HTTP Port").
 */
export async function decideJson(
  body: unknown,
  answer: (
    request: RateLimitRequest,
  ) => RateLimitResponse | Failed | Promise<RateLimitResponse | Failed>,
): Promise<JsonAnswer> {
  const request = toRequest(body);
  if ('error' in request) return { status: 400, body: request };
  const response = await answer(request.value);
  if ('failed' in response) {
    return { status: HTTP_STATUS[response.failed], body: { error: response.message } };
  }
  return { status: response.overall_code === OVER_LIMIT ? 429 : 200, body: toJson(response) };
}

/** Encodes and decodes the request, so that it reads exactly what gRPC clients can send. */
function toRequest(
  body: unknown,
): { readonly value: RateLimitRequest } | { readonly error: string } {
  if (!isJsonObject(body)) return { error: `want an ${REQUEST} as a JSON object` };
  try {
    const value = decodeRequest(Buffer.from(encode(REQUEST, toFieldNames(REQUEST, body))));
    return value === undefined ? { error: TOO_MANY } : { value };
  } catch (error) {
    if (error instanceof EncodeError) return { error: error.message };
    throw error;
  }
}

function toJson(response: RateLimitResponse): object {
  const bytes = messageType(RESPONSE).encode(response).finish();
  return toJsonNames(RESPONSE, decode(RESPONSE, bytes));
}
