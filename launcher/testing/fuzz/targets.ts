import { readFileSync } from 'node:fs';
import type net from 'node:net';
import { join } from 'node:path';
import { fuzzOnce } from '#grpc/unary/testing/fuzz.ts';
import { pick } from '#protos/testing/random.ts';
import { instancePorts, portsAt } from '../../ports.ts';
import { controlSocket } from '../../state-folder.ts';
import type { Gateway } from '../gateway.ts';
import { mutateRequest } from './mutate-request.ts';
import { sendBytes } from './send-bytes.ts';
import { type CallSeed, openCalls, sendCall } from './send-call.ts';

/** One way to attack one port. Resolves with whether the port answered. */
export type Target = { readonly name: string; attack(random: () => number): Promise<boolean> };

type HttpSeeds = { readonly port: string; readonly requests: readonly string[] };

/** Requests that scale. A mutation may ask for other numbers. */
const SCALES = /instances"?\s*:\s*\W*(?!1\D)\d/;

/** Every port of a running gateway, by each protocol that it speaks. */
export function targetsOf(gateway: Gateway): readonly Target[] {
  const ports = {
    ...portsAt(gateway.portOffset),
    service: instancePorts(gateway.portOffset, 1).service,
  };
  const addressOf = (port: string): net.NetConnectOpts =>
    port === 'control'
      ? { path: controlSocket(gateway.state) }
      : { host: '127.0.0.1', port: ports[port as keyof typeof ports] };
  const http = read<HttpSeeds>('http.json').map(({ port, requests }) =>
    httpTarget(port, requests, addressOf(port)),
  );
  const calls = Map.groupBy(
    read<CallSeed & { port: keyof typeof ports }>('grpc.json'),
    ({ port }) => port,
  );
  const grpc = [...calls].flatMap(([port, seeds]) => [
    callTarget(port, seeds, ports[port]),
    frameTarget(port, ports[port]),
  ]);
  return [...http, ...grpc];
}

function httpTarget(port: string, requests: readonly string[], to: net.NetConnectOpts): Target {
  return {
    name: `${port} (HTTP/1.1)`,
    attack: async random => {
      const bytes = mutateRequest(pick(requests, random), random);
      if (port === 'control' && SCALES.test(bytes.toString('latin1'))) return false;
      return sendBytes(to, bytes, random() < 0.5);
    },
  };
}

function callTarget(port: string, seeds: readonly CallSeed[], number: number): Target {
  let session = openCalls(number);
  return {
    name: `${port} (gRPC)`,
    attack: async random => {
      if (session.closed || session.destroyed) session = openCalls(number);
      if (random() < 0.01) session.destroy();
      else return sendCall(session, pick(seeds, random), random).catch(() => false);
      return false;
    },
  };
}

function frameTarget(port: string, number: number): Target {
  return {
    name: `${port} (HTTP/2 frames)`,
    attack: async random => {
      await fuzzOnce(number, Math.floor(random() * 2 ** 31));
      return true;
    },
  };
}

function read<Seed>(file: string): readonly Seed[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', file), 'utf8'));
}
