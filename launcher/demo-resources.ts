import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';
import { replaceFile } from '#files/write-durably.ts';
import { portsAt } from './ports.ts';

/** The resources that a gateway serves by default. */
export const DEMO = join(import.meta.dirname, '..', 'envoy', 'resources');

/** Folders of resources whose users log in at the sample's identity provider. */
export const SAMPLES: readonly string[] = [
  DEMO,
  join(import.meta.dirname, '..', 'envoy', 'gateway-api'),
];

/**
 * Returns the folder of the demo's resources. With an offset it is a copy in `folder` with the
 * ports moved, written again at each start.
 */
export function demoResources(portOffset: number, folder: string): string {
  if (portOffset === 0) return DEMO;
  rmSync(folder, { recursive: true, force: true });
  makeFolder(folder);
  for (const file of readdirSync(DEMO)) {
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
