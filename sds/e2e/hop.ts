import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { type SdsProcess, startSds } from '../testing/sds-process.ts';
import {
  type Api,
  clientBootstrap,
  SERVER,
  serverBootstrap,
  serverListeners,
} from './hop-proxies.ts';

/** Two Envoys with mutual TLS between them. */
export type Hop = {
  readonly client: EnvoyProcess;
  readonly server: EnvoyProcess;
  /** What is asked of the client is answered by the server. */
  readonly url: string;
  /** The port of the server that speaks mutual TLS only. */
  readonly port: number;
  /** Edits the server's listener, which then answers so. */
  edit(answer: string, pair?: string): Promise<void>;
};

/** An sds whose files outlive it, so that another can follow it: `env` beside the usual. */
export async function startAuthoritySds(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
) {
  const state = await mkdtemp(join(tmpdir(), 'sds-state-'));
  t.after(() => rm(state, { recursive: true, force: true }));
  const start = (more: Readonly<Record<string, string>> = {}) =>
    startSds(t, 'services: {}', { STATE: state, XDS_ADDRESS: '127.0.0.1:1', ...env, ...more });
  return { sds: await start(), state, startAgain: start };
}

export async function startHop(
  t: TestContext,
  sds: SdsProcess,
  api: Api = 'DELTA_GRPC',
): Promise<Hop> {
  const folder = await mkdtemp(join(tmpdir(), 'hop-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'listeners.json');
  const write = async (port: number, answer: string, pair?: string) => {
    await writeFile(`${file}.new`, JSON.stringify(serverListeners(port, answer, api, pair)));
    await rename(`${file}.new`, file);
  };
  await write(0, 'first');
  const server = await start(t, serverBootstrap(sds.port, file));
  const port = await server.listenerPort('hop');
  const client = await start(t, clientBootstrap(sds.port, port, api));
  const url = `http://127.0.0.1:${await client.listenerPort('in')}/`;
  await until(async () => ((await answerOf(url)) === 'first' ? true : undefined));
  return { client, server, url, port, edit: (answer, pair) => write(0, answer, pair) };
}

async function start(t: TestContext, bootstrap: object): Promise<EnvoyProcess> {
  const envoy = await startEnvoy(bootstrap);
  t.after(() => envoy.stop());
  return envoy;
}

export async function answerOf(url: string): Promise<string> {
  const response = await fetch(url).catch(String);
  if (typeof response === 'string') return response;
  const text = await response.text();
  return response.status === 200 ? text : `${response.status} ${text}`;
}

/** The serial number of the identity that sds has issued last for the server's group. */
export async function issuedSerial(sds: SdsProcess, group = SERVER): Promise<string | undefined> {
  const status = (await (await fetch(`${sds.url}/status`)).json()) as {
    secrets: { identities: Record<string, { serial: string } | undefined> };
  };
  return status.secrets.identities[group]?.serial;
}

/** Whether Envoy uses a certificate with this serial number. */
export async function usesSerial(envoy: EnvoyProcess, serial: string): Promise<boolean> {
  return (await envoy.get('/certs')).toLowerCase().includes(serial);
}

export async function statOf(envoy: EnvoyProcess, name: string): Promise<number> {
  return Number(/: (\d+)/.exec(await envoy.get(`/stats?filter=^${name}$`))?.[1]);
}
