import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const TOOLS = join(import.meta.dirname, '..', '..', '..', '.gateway', 'tools');

export type FoundTool = {
  readonly path: string;
  /** Why tests that need it cannot run; false: they can. */
  readonly skip: string | false;
};

/** A program that `launcher/test-tools.ts` installs for tests. */
export function findTool(command: string): FoundTool {
  const path = [TOOLS, ...(process.env.PATH ?? '').split(delimiter)]
    .map(folder => join(folder, command))
    .find(existsSync);
  const name = command.toUpperCase().replaceAll('-', '_');
  const why = path === undefined && `"${command}" is neither on the PATH nor in .gateway/tools`;
  return { path: path ?? '', skip: process.env[`GATEWAY_SKIP_${name}`] ?? why };
}
