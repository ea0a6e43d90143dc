import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Status } from '#controlplane/status/status.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { type ControlPlaneProcess, startControlPlane } from '#envoy/e2e/control-plane-process.ts';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { getJson } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import type { JsonObject } from '#protos/json.ts';
import type { figuresPage } from '../figures-page.ts';

export type FiguresPage = ReturnType<typeof figuresPage>;

/** A control plane and an edge that pushes four times a second. */
export type FiguresSystem = {
  readonly envoy: EnvoyProcess;
  /** Base URL of the edge. */
  readonly edge: string;
  write(file: string, text: string): void;
  figures(query?: string): Promise<FiguresPage>;
  status(): Promise<Status>;
  /** Waits until the figures are as wanted, and returns them. */
  figuresWhen(
    wanted: (page: FiguresPage) => boolean,
    what: string,
    query?: string,
  ): Promise<FiguresPage>;
  /** Waits until an admin page of the edge has this text. */
  envoyWhen(path: string, text: RegExp): Promise<void>;
  /** Kills the control plane and starts it again at the same port. */
  restartControlPlane(): Promise<void>;
  stop(): Promise<void>;
};

/** The name of the edge's listener. */
const EDGE = '127.0.0.1:0';

/** `more` joins the bootstrap of the edge. */
export async function startFiguresSystem(
  resources: string,
  env: Readonly<Record<string, string>> = {},
  more: JsonObject = {},
): Promise<FiguresSystem> {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-figures-'));
  const path = join(folder, 'resources');
  mkdirSync(path);
  const write = (file: string, text: string) => writeFileSync(join(path, file), text);
  write('resources.yaml', resources);
  const start = (more: Readonly<Record<string, string>> = {}) =>
    startControlPlane({
      resources: path,
      state: join(folder, 'state'),
      edge: EDGE,
      env: { ...env, ...more },
    });
  let controlPlane: ControlPlaneProcess = await start();
  const { xds } = controlPlane;
  const json = bootstrap({
    nodeId: 'edge-1',
    group: 'edge',
    xdsAddress: xds,
    sdsAddress: '127.0.0.1:1',
    figures: env.FIGURES !== 'off',
  });
  const envoy = await startEnvoy({ ...json, stats_flush_interval: '0.25s', ...more });
  const figures = (query = '') => getJson<FiguresPage>(controlPlane.http, `/figures${query}`);
  return {
    envoy,
    edge: `http://127.0.0.1:${await envoy.listenerPort(EDGE)}`,
    write,
    figures,
    status: () => getJson<Status>(controlPlane.http, '/status'),
    figuresWhen: (wanted, what, query) =>
      until(
        async () => {
          const page = await figures(query);
          return wanted(page) ? page : undefined;
        },
        30_000,
        what,
      ),
    envoyWhen: async (path, text) => {
      await until(async () => text.test(await envoy.get(path)) || undefined, 30_000, String(text));
    },
    restartControlPlane: async () => {
      await controlPlane.kill();
      controlPlane = await start({ XDS_ADDRESS: xds });
    },
    stop: async () => {
      await envoy.stop();
      await controlPlane.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
