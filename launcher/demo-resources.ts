import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';
import { replaceFile } from '#files/write-durably.ts';
import { portsAt } from './ports.ts';

/** The resources that a gateway serves which is told of no others. */
export const DEMO = join(import.meta.dirname, '..', 'envoy', 'resources');

/**
 * The demo's resources: its own folder, or (with an offset) a copy in `folder` with the ports
 * moved, made anew at each start.
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

/** The text with each address of ours on this machine moved by `offset`. */
export function movePorts(text: string, offset: number): string {
  return text.replace(/(?<![\w.-])(127\.0\.0\.1|localhost):(\d+)\b/g, (address, host, port) =>
    PORTS.includes(Number(port)) ? `${host}:${Number(port) + offset}` : address,
  );
}
