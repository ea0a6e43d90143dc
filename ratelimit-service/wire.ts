import type { Unit } from './window.ts';

/**
 * `envoy.service.ratelimit.v3.RateLimitResponse.Code`. UNKNOWN (0) is never sent, because Envoy
 * lets it pass.
 */
export type Code = typeof OK | typeof OVER_LIMIT;
export const OK = 1;
export const OVER_LIMIT = 2;

/** `envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit`. */
export const UNIT_NUMBERS: Readonly<Record<Unit, number>> = {
  second: 1,
  minute: 2,
  hour: 3,
  day: 4,
};

/**
 * An `envoy.service.ratelimit.v3.RateLimitResponse` as protobufjs encodes it. Null is a field that
 * is not sent.
 */
export type RateLimitResponse = {
  readonly overall_code: Code;
  readonly statuses: readonly DescriptorStatus[];
  readonly response_headers_to_add: readonly HeaderValue[];
  readonly request_headers_to_add: readonly HeaderValue[];
  readonly raw_body: Uint8Array | null;
  readonly dynamic_metadata: Struct | null;
};

export type DescriptorStatus = {
  readonly code: Code;
  readonly current_limit?: {
    readonly name: string;
    readonly requests_per_unit: number;
    readonly unit: number;
  };
  readonly limit_remaining?: number;
  readonly duration_until_reset?: { readonly seconds: number; readonly nanos: number };
};

/** `envoy.config.core.v3.HeaderValue`. */
export type HeaderValue = { readonly key: string; readonly value: string };

/** `google.protobuf.Struct`. */
export type Struct = {
  readonly fields: Readonly<
    Record<string, { readonly string_value: string } | { readonly number_value: number }>
  >;
};
