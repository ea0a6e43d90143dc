import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from '../../../certificates/testing/openssl.ts';
import type { RunningContainer } from '../start-container.ts';
import type { Kubelet } from './kubelet.ts';

export type LogServer = { readonly port: number; close(): void };

/**
 * Answers the API server's questions for the logs of containers, as a kubelet does. It knows the
 * parameters `follow` and `tailLines`.
 */
export async function startLogServer(address: string, pods: Kubelet['pods']): Promise<LogServer> {
  const endings: (() => void)[] = [];
  const { certificate, key } = selfSigned({ after: run => void endings.push(run) });
  for (const end of endings) end();
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet');
    const container = containerAt(pathname, pods);
    if (container === undefined) return void response.writeHead(404).end('no such container\n');
    write(container, searchParams, request, response);
  });
  server.listen(0, address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function containerAt(path: string, pods: Kubelet['pods']): RunningContainer | undefined {
  const [, route, namespace, pod, container = ''] = path.split('/').map(decodeURIComponent);
  if (route !== 'containerLogs') return undefined;
  return pods.get(`${namespace}/${pod}`)?.containers.get(container);
}

function write(
  { log, process }: RunningContainer,
  parameters: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const lines = log().split('\n');
  const tail = parameters.get('tailLines');
  response.write(lines.slice(tail === null ? 0 : -Number(tail) - 1).join('\n'));
  if (parameters.get('follow') !== 'true') return void response.end();
  const streams = [process.stdout, process.stderr];
  const more = (chunk: Buffer) => void response.write(chunk);
  for (const stream of streams) stream?.on('data', more);
  process.once('exit', () => response.end());
  request.on('close', () => {
    for (const stream of streams) stream?.off('data', more);
  });
}
