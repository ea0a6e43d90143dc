import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const ROOT = join(import.meta.dirname, '..', '..');

/** The part of a service in compose.yaml that tests read. */
export type ComposeService = {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly hostname?: string;
  readonly read_only?: boolean;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly network_mode?: string;
  readonly networks?:
    | readonly string[]
    | Readonly<Record<string, { readonly aliases?: readonly string[] }>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] } | { readonly disable: true };
  readonly deploy?: {
    readonly resources: { readonly limits: { readonly memory: string; readonly pids: number } };
  };
};

type ComposeFile = {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, object>>;
};

/** compose.yaml, its merge keys resolved. */
export const COMPOSE: ComposeFile = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'), {
  merge: true,
});

/** Returns a service. Throws when there is no such service. */
export function composeService(name: string): ComposeService {
  const service = COMPOSE.services[name];
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return service;
}

/** The Envoys, by name. */
export const ENVOYS = Object.entries(COMPOSE.services).filter(([, { command = [] }]) =>
  command.includes('/etc/gateway/run-envoy.sh'),
);

/** Returns the words of a service's own check of its health. The image may have another. */
export function probe(service: string): readonly string[] {
  const { healthcheck } = composeService(service);
  return healthcheck === undefined || 'disable' in healthcheck ? [] : healthcheck.test;
}

/** Returns a variable of a service's environment. Throws when it is not set. */
export function variable(service: string, name: string): string {
  const value = composeService(service).environment?.[name];
  if (value === undefined) throw new Error(`compose.yaml does not set ${name} of ${service}`);
  return value;
}

/** Returns the port of an address variable such as `0.0.0.0:18000`. */
export function portOf(service: string, name: string): number {
  return Number(variable(service, name).split(':').at(-1));
}

/** The user-service instances, in their order. */
export const INSTANCES: readonly string[] = Object.keys(COMPOSE.services).filter(name =>
  /^user-service-\d+$/.test(name),
);

/** glibc reads it, and no code of ours. */
export const LIBC_VARIABLE = 'MALLOC_ARENA_MAX';

/** Returns what holds the network of an instance. */
export function networkOf(instance: string): string {
  return `${instance}-network`;
}

/** Returns the path in this checkout of a path in the containers' folder of configuration. */
export function mounted(path: string): string {
  return path.replace(/^\/etc\/gateway/, join(ROOT, 'deploy/compose'));
}
