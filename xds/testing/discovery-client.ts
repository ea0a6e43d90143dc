import { Client, type ClientDuplexStream, credentials, type StatusObject } from '@grpc/grpc-js';
import { until } from '#envoy/e2e/until.ts';
import { serviceDefinition } from '#grpc/service.ts';

export const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';

/** A response of either variant. */
export type AnyResponse = {
  readonly type_url: string;
  readonly nonce: string;
  readonly version_info?: string;
  readonly resources: readonly { readonly name?: string }[];
  readonly removed_resources?: readonly string[];
};

/** A connection to a discovery server, for several streams. */
export class DiscoveryChannel {
  readonly #client: Client;

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  /**
   * Opens a stream by the name of its method, for example `DeltaClusters` of
   * ClusterDiscoveryService.
   */
  open(methodName: string, service = ADS): DiscoveryClient {
    const method = serviceDefinition(service)[methodName];
    if (method === undefined) throw new Error(`${service} has no ${methodName}`);
    const { path, requestSerialize, responseDeserialize } = method;
    return new DiscoveryClient(
      this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize),
    );
  }

  close(): void {
    this.#client.close();
  }
}

/** One stream to a discovery server, of which the test writes every request itself. */
class DiscoveryClient {
  readonly received: AnyResponse[] = [];
  status: StatusObject | undefined;
  readonly #call: ClientDuplexStream<object, AnyResponse>;

  constructor(call: ClientDuplexStream<object, AnyResponse>) {
    this.#call = call;
    this.#call.on('data', (response: AnyResponse) => this.received.push(response));
    this.#call.on('status', (status: StatusObject) => {
      this.status = status;
    });
    this.#call.on('error', () => {}); // the status tells
  }

  /** Sends a request as it is. */
  send(request: object): void {
    this.#call.write(request);
  }

  /** Sends the first request of a stream, with a node of group `edge`. */
  begin(request: object, id = 'test'): void {
    this.send({ node: { id, cluster: 'edge' }, ...request });
  }

  /** Waits for the next response. */
  next(): Promise<AnyResponse> {
    return until(() => this.received.shift(), 30_000, 'a response');
  }

  ack({ type_url, nonce, version_info = '' }: AnyResponse, fields: object = {}): void {
    this.send({ type_url, response_nonce: nonce, version_info, ...fields });
  }

  /** Waits until the server has ended the stream. */
  ended(): Promise<StatusObject> {
    return until(() => this.status, 30_000, 'the end of the stream');
  }

  halfClose(): void {
    this.#call.end();
  }

  pause(): void {
    this.#call.pause();
  }

  cancel(): void {
    this.#call.cancel();
  }
}
