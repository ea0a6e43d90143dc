import type { EncodedResponse } from '#ext-authz/http/filter-decision.ts';
import type { CheckResponse } from '#ext-authz/wire/check-response.ts';
import { type CheckMessage, decodeCheck } from '#ext-authz/wire/decode-check.ts';
import { encodeCheck } from '#ext-authz/wire/encode-check.ts';
import { failure, type UnaryMethod } from '#grpc/unary/method.ts';
import type { Checker } from './checker.ts';

const PATH = '/envoy.service.auth.v3.Authorization/Check';

/** The client's address as trusted hops give it. The listener sets it (ext-authz-filter.ts). */
export const CLIENT_ADDRESS = 'x-gateway-client-address';

/** Answers `Authorization.Check`. Answers UNAVAILABLE until the checker has its rules. */
export function checkMethod(
  checker: Checker,
): UnaryMethod<CheckMessage, CheckResponse | EncodedResponse> {
  return {
    path: PATH,
    decode: decodeCheck,
    encode: encodeCheck,
    handle: (request, call) =>
      checker.check(request, call.metadata(CLIENT_ADDRESS) || undefined) ??
      failure('UNAVAILABLE', checker.notReady ?? ''),
  };
}
