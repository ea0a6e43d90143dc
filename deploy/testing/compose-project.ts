import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPOSE, ROOT } from './compose-file.ts';
import type { Docker } from './start-docker.ts';

const LEFT_OUT = ['.git', '.gateway', 'node_modules'].map(name => join(ROOT, name));

/** A limit whose count shows whether counters were lost. */
const COUNTED = `
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: counted }
spec:
  domain: gateway
  limits:
    - name: a-day
      pattern: [{ generic_key: users }, { method: HEAD }, { remote_address: "*" }]
      rate: 1000
      unit: day
      injectResponseHeaders:
        - { name: X-Left, value: "{{ (index .RateLimitResponse.Statuses 0).LimitRemaining }}" }
`;

/** Where ext-authz reaches this machine. */
const HOST = '10.99.0.1';
/** This machine has the same addresses when networks are made again. A limit counts by them. */
const OVERRIDE = {
  networks: {
    edge: { ipam: { config: [{ subnet: '10.98.0.0/24' }] } },
    providers: { ipam: { config: [{ subnet: '10.99.0.0/24', gateway: HOST }] } },
  },
};

/** Copies what is built and mounted into `folder`, so that tests may change it. */
export function copyProject(folder: string): void {
  cpSync(ROOT, folder, { recursive: true, filter: path => !LEFT_OUT.includes(path) });
  save(folder, 'counted.yaml', COUNTED);
  writeFileSync(join(folder, 'compose.override.yaml'), JSON.stringify(OVERRIDE));
}

function save(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, 'deploy/compose/resources', name), text);
}

/**
 * Starts the demo's identity provider on this machine, where ext-authz reaches it, and saves the
 * demo's login with its address.
 */
export async function addLogin(folder: string): Promise<ChildProcess> {
  const state = join(folder, '.provider');
  mkdirSync(state);
  const provider = fork(join(ROOT, 'identity-provider/main.ts'), {
    env: {
      ADDRESS: '0.0.0.0:18004',
      ISSUER: `http://${HOST}:18004`,
      ALLOW_KNOWN_PASSWORDS: 'yes',
      GATEWAY_ORIGINS: 'http://127.0.0.1:8080',
      STATE: state,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(provider, 'message');
  const login = readFileSync(join(ROOT, 'envoy/resources/login.yaml'), 'utf8');
  save(folder, 'login.yaml', login.replaceAll('127.0.0.1:18004', `${HOST}:18004`));
  return provider;
}

/** The part that is read here of what the engine says of a container. */
export type Container = {
  readonly Name: string;
  readonly State: {
    readonly Running: boolean;
    readonly Pid: number;
    readonly StartedAt: string;
    readonly Health?: { readonly Status: string };
  };
};

/** Returns the container of a service. */
export async function containerOf({ ask }: Docker, service: string): Promise<Container> {
  return (await ask(`/containers/gateway-${service}-1/json`)) as Container;
}

/** Returns the services whose container does not run, or is not healthy. */
export async function notWell(docker: Docker): Promise<readonly string[]> {
  const staying = Object.keys(COMPOSE.services).filter(name => name !== 'database-secret');
  const all = await Promise.all(staying.map(name => containerOf(docker, name)));
  const isWell = ({ State }: Container) =>
    State.Running && [undefined, 'healthy'].includes(State.Health?.Status);
  return staying.filter((_, index) => !isWell(all[index] as Container));
}
