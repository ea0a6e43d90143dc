import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { serviceDefinition } from '#grpc/service.ts';
import type { RateLimitResponse } from '../wire.ts';

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';

/** The result of a request. */
export type CallResult = {
  readonly outcome: 'OK' | 'OVER_LIMIT' | keyof typeof status;
  readonly response: RateLimitResponse | undefined;
  readonly tookMs: number;
};

/** Asks one service over a connection of its own, as Envoy does. */
export type ServiceClient = {
  /** Sends one request of domain `gateway`. Never rejects. */
  ask(...groups: readonly Readonly<Record<string, string>>[]): Promise<CallResult>;
  close(): void;
};

export function connectTo(address: string): ServiceClient {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
  const method = serviceDefinition(SERVICE).ShouldRateLimit;
  if (method === undefined) throw new Error(`no method of ${SERVICE}`);
  const { path, requestSerialize, responseDeserialize } = method;
  const send = (request: object) =>
    new Promise<RateLimitResponse>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        (error, response) =>
          error === null ? resolve(response as RateLimitResponse) : reject(error),
      );
    });
  const ask: ServiceClient['ask'] = async (...groups) => {
    const sentAt = performance.now();
    const over = (outcome: CallResult['outcome'], response?: RateLimitResponse) => {
      return { outcome, response, tookMs: performance.now() - sentAt };
    };
    try {
      const response = await send({ domain: 'gateway', descriptors: groups.map(toDescriptor) });
      return over(response.overall_code === 1 ? 'OK' : 'OVER_LIMIT', response);
    } catch (error) {
      return over(nameOf((error as ServiceError).code));
    }
  };
  return { ask, close: () => client.close() };
}

function toDescriptor(labels: Readonly<Record<string, string>>): object {
  return { entries: Object.entries(labels).map(([key, value]) => ({ key, value })) };
}

function nameOf(code: status): keyof typeof status {
  return status[code] as keyof typeof status;
}
