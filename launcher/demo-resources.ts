import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';
import { IN_CHECKOUT, ROOT } from '#files/places.ts';
import { replaceFile } from '#files/write-durably.ts';
import { portsAt } from './ports.ts';

/** The resources that a gateway serves by default. */
export const DEMO = join(ROOT, 'envoy', 'resources');

/** Folders of resources whose users log in at the sample's identity provider. */
export const SAMPLES: readonly string[] = [DEMO, join(ROOT, 'envoy', 'gateway-api')];

/**
 * Tells whether the sample's identity provider can run. Its package is an optional one, because no
 * other part needs it.
 */
export function hasProvider(): boolean {
  try {
    return import.meta.resolve('oidc-provider') !== '';
  } catch {
    return false;
  }
}

/** What of the demo needs the sample's identity provider. */
const OF_PROVIDER = ['login.yaml', 'tokens.yaml'];

export type DemoOptions = {
  readonly portOffset: number;
  /** Whether the sample's identity provider runs. */
  readonly provider: boolean;
  /** For the copy. */
  readonly folder: string;
};

/**
 * Returns the folder of the demo's resources. In the package, with an offset or without a provider
 * it is a copy with the ports moved, written again at each start.
 */
export function demoResources({ folder, portOffset, provider }: DemoOptions): string {
  if (IN_CHECKOUT && portOffset === 0 && provider) return DEMO;
  rmSync(folder, { recursive: true, force: true });
  makeFolder(folder);
  const files = readdirSync(DEMO).filter(file => provider || !OF_PROVIDER.includes(file));
  for (const file of files) {
    replaceFile(join(folder, file), movePorts(readFileSync(join(DEMO, file), 'utf8'), portOffset));
  }
  return folder;
}

const PORTS: readonly number[] = Object.values(portsAt(0));

/** Returns the text with each of our addresses on this machine moved by `offset`. */
export function movePorts(text: string, offset: number): string {
  return text.replace(/(?<![\w.-])(127\.0\.0\.1|localhost):(\d+)\b/g, (address, host, port) =>
    PORTS.includes(Number(port)) ? `${host}:${Number(port) + offset}` : address,
  );
}
