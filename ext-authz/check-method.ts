import type { EncodedResponse } from '#ext-authz/http/outcome.ts';
import type { CheckResponse } from '#ext-authz/wire/check-response.ts';
import { type CheckMessage, decodeCheck } from '#ext-authz/wire/decode-check.ts';
import { encodeCheck } from '#ext-authz/wire/encode-check.ts';
import { failure, type UnaryMethod } from '#grpc/unary/method.ts';
import type { Checker } from './checker.ts';

const PATH = '/envoy.service.auth.v3.Authorization/Check';

/** Set by the listener (ext-authz-filter.ts): the client's address as trusted hops tell it. */
export const CLIENT_ADDRESS = 'x-gateway-client-address';

/** `Authorization.Check`; UNAVAILABLE until the checker has its rules. */
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
