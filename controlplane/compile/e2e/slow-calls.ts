import { once } from 'node:events';
import * as grpc from '@grpc/grpc-js';
import { PARTS, PAUSE_MS } from './slow-server.ts';

const PLAIN = { serialize: (text: string) => Buffer.from(text), deserialize: String };
const METHOD = {
  requestSerialize: PLAIN.serialize,
  responseSerialize: PLAIN.serialize,
  requestDeserialize: PLAIN.deserialize,
  responseDeserialize: PLAIN.deserialize,
};

/** `list` answers slowly, `talk` echoes what it gets, `hang` never answers. */
const SERVICE = {
  list: { path: '/test.Slow/List', requestStream: false, responseStream: true, ...METHOD },
  talk: { path: '/test.Slow/Talk', requestStream: true, responseStream: true, ...METHOD },
  hang: { path: '/test.Slow/Hang', requestStream: false, responseStream: true, ...METHOD },
};

/** Starts a slow gRPC server on a free loopback port. */
export async function startSlowCalls(): Promise<{ readonly address: string; stop(): void }> {
  const server = new grpc.Server();
  server.addService(SERVICE, {
    list: (call: grpc.ServerWritableStream<string, string>) => {
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        call.write(String(sent));
        if (sent < PARTS) return;
        clearInterval(timer);
        call.end();
      }, PAUSE_MS);
      call.once('cancelled', () => clearInterval(timer));
    },
    talk: (call: grpc.ServerDuplexStream<string, string>) => {
      call.on('data', (said: string) => call.write(said)).on('end', () => call.end());
    },
    hang: () => {},
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { address: `127.0.0.1:${port}`, stop: () => server.forceShutdown() };
}

export type SlowCalls = {
  /** Returns all that `list` or `hang` answers. */
  list(method: 'List' | 'Hang'): Promise<readonly string[]>;
  /** Returns what `talk` echoes of these. Each is sent `pauseMs` after the last echo. */
  talk(says: readonly string[], pauseMs: number): Promise<readonly string[]>;
  close(): void;
};

export function slowCallsAt(address: string): SlowCalls {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  return {
    list: async method => {
      const call = client.makeServerStreamRequest(
        `/test.Slow/${method}`,
        PLAIN.serialize,
        PLAIN.deserialize,
        'all',
      );
      return await Array.fromAsync(call);
    },
    talk: async (says, pauseMs) => {
      const call = client.makeBidiStreamRequest(
        '/test.Slow/Talk',
        PLAIN.serialize,
        PLAIN.deserialize,
      );
      const heard: string[] = [];
      call.on('data', (echo: string) => {
        heard.push(echo);
        if (heard.length === says.length) return void call.end();
        setTimeout(() => call.write(says[heard.length] ?? ''), pauseMs);
      });
      call.write(says[0] ?? '');
      await once(call, 'end');
      return heard;
    },
    close: () => client.close(),
  };
}
