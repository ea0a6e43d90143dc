import type { Metadata } from '@grpc/grpc-js';
import { serve } from '#grpc/serve.ts';

/** A request of Envoy, in words: each descriptor as `key=value, key=value`. */
export type Asked = {
  readonly domain: string;
  readonly descriptors: readonly string[];
  readonly requestId: string | undefined;
};

export type RateLimitStub = {
  readonly address: string;
  /** Returns the requests since the last call of this. */
  asked(): readonly Asked[];
  /** Sets the answer for the next requests. */
  answer(response: object): void;
  stop(): Promise<void>;
};

type Request = {
  readonly domain: string;
  readonly descriptors: readonly { readonly entries: readonly { key: string; value: string }[] }[];
};
type Call = { readonly request: Request; readonly metadata: Metadata };

const OK = { overall_code: 1 };

/** Starts a rate limit service on a free loopback port with a configurable answer, at first OK. */
export async function startRateLimitStub(): Promise<RateLimitStub> {
  let asked: Asked[] = [];
  let response: object = OK;
  const ShouldRateLimit = (
    { request, metadata }: Call,
    callback: (error: null, value: object) => void,
  ) => {
    const descriptors = request.descriptors.map(({ entries }) =>
      entries.map(({ key, value }) => `${key}=${value}`).join(', '),
    );
    const requestId = metadata.get('x-gateway-request-id')[0]?.toString();
    asked.push({ domain: request.domain, descriptors, requestId });
    callback(null, response);
  };
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: { 'envoy.service.ratelimit.v3.RateLimitService': { ShouldRateLimit } },
  });
  return {
    address: `127.0.0.1:${served.port}`,
    asked: () => {
      const all = asked;
      asked = [];
      return all;
    },
    answer: next => {
      response = next;
    },
    stop: () => served.stop(100),
  };
}
