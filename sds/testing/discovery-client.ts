import type { TestContext } from 'node:test';
import { type ClientDuplexStream, credentials, makeClientConstructor } from '@grpc/grpc-js';
import { until } from '#envoy/e2e/until.ts';
import { serviceDefinition } from '#grpc/service.ts';
import type { Any } from '#protos/encode.ts';

type Response = {
  readonly nonce: string;
  readonly version_info?: string;
  readonly resources: readonly {
    readonly name?: string;
    readonly version?: string;
    readonly resource?: Any;
  }[];
};

export type DiscoveryStream = {
  send(request: object): void;
  /** Waits for the next response. */
  next(): Promise<Response>;
  /** What has come and was not taken by `next`. */
  readonly waiting: readonly Response[];
  /** The client is gone. */
  end(): void;
};

/**
 * Opens a stream of the discovery protocol as a proxy does, for example `DeltaEndpoints` of
 * EndpointDiscoveryService.
 */
export function openStream(
  t: TestContext,
  port: number,
  service: string,
  method: string,
): DiscoveryStream {
  const Client = makeClientConstructor(serviceDefinition(service), service);
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const open = client[method] as () => ClientDuplexStream<object, Response>;
  const stream = open.call(client);
  const waiting: Response[] = [];
  stream.on('data', (response: Response) => waiting.push(response));
  stream.on('error', () => {}); // the test that ends cuts it
  t.after(() => client.close());
  return {
    send: request => void stream.write({ node: { id: 'test', cluster: 'edge' }, ...request }),
    next: () => until(() => waiting.shift()),
    waiting,
    end: () => stream.cancel(),
  };
}
