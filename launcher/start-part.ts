import { join } from 'node:path';
import { openLogFile } from './log-file.ts';
import type { OrphanGuard } from './orphan-guard.ts';
import type { Part } from './part.ts';
import { SupervisedChild } from './supervised-child.ts';

export type StartPart = (part: Part) => SupervisedChild;

export type StartOptions = {
  readonly guard: OrphanGuard;
  /** The folder for the log of each part. */
  readonly logs: string;
  readonly now: () => number;
  /** One line for the operator. */
  say(line: string): void;
  changed(child: SupervisedChild): void;
};

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Starts parts, each with a log `<name>.log`. Their problems are printed with the name. */
export function partStarter({ changed, guard, logs, now, say }: StartOptions): StartPart {
  return part => {
    const path = join(logs, `${part.name}.log`);
    const tell = (problem: string) => say(`[${part.name}] ${problem}`);
    const log = openLogFile(path, MAX_LOG_BYTES, error =>
      tell(`cannot write ${path}: ${error.message}`),
    );
    return new SupervisedChild(part, { guard, log, now, say: tell, changed });
  };
}
