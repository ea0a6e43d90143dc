import { type Client, credentials, makeClientConstructor, type ServiceError } from '@grpc/grpc-js';
import type { Message } from '#protos/decode-bytes.ts';
import { serviceDefinition } from '../service.ts';

/** Creates a grpc-js client of one service. The caller closes it. */
export function connect(port: number, service: string, host = '127.0.0.1'): Client {
  const Constructor = makeClientConstructor(serviceDefinition(service), service);
  return new Constructor(`${host}:${port}`, credentials.createInsecure());
}

/** Makes one unary call. Rejects with the ServiceError. */
export function callUnary(client: Client, method: string, request: object): Promise<Message> {
  const methods = client as unknown as Record<
    string,
    (request: object, callback: (error: ServiceError | null, response: Message) => void) => void
  >;
  return new Promise((resolve, reject) => {
    methods[method]?.call(client, request, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}
