import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { CheckResponse } from '#ext-authz/wire/check-response.ts';
import { CLIENT_ADDRESS } from '../check-method.ts';
import { checkBytes, readAnswer } from '../testing/direct-checks.ts';

/** Asks the service itself, over a connection of its own. */
export type DirectClient = {
  /** Returns the HTTP status that it would answer with. 200 means that the request may pass. */
  statusOf(url: string, fields: Readonly<Record<string, string>>): Promise<number>;
  close(): void;
};

const PATH = '/envoy.service.auth.v3.Authorization/Check';
const LOCAL = { 'grpc.use_local_subchannel_pool': 1 };

export function connectDirectly(port: number): DirectClient {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), LOCAL);
  const metadata = new Metadata();
  metadata.set(CLIENT_ADDRESS, '192.0.2.7');
  const ask = (message: Uint8Array) =>
    new Promise<CheckResponse>((resolve, reject) => {
      const toBytes = (bytes: Uint8Array) => Buffer.from(bytes);
      client.makeUnaryRequest(PATH, toBytes, readAnswer, message, metadata, (error, answer) =>
        error === null && answer !== undefined ? resolve(answer) : reject(error),
      );
    });
  return {
    statusOf: async (url, fields) => {
      const { denied_response: denied } = await ask(checkBytes(url, Object.entries(fields)));
      return Number(denied?.status?.code ?? 200);
    },
    close: () => client.close(),
  };
}
