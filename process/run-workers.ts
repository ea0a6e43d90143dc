import type { Logger } from 'pino';
import type { Calls } from './calls.ts';
import type { DecisionConfig } from './decision-config.ts';
import { type Exit, exitOf, orExit } from './exit.ts';
import { onStop } from './run-service.ts';
import { serviceLog } from './service-log.ts';
import { joinWorkers, type Worker } from './worker.ts';
import { WorkerGroup } from './worker-group.ts';

/** What each process of a service is made from. */
export type WorkParts<C> = {
  readonly config: C;
  readonly log: Logger;
  readonly exit: Exit;
  /** Undefined when this process is the whole service. */
  readonly worker: Worker | undefined;
};

export type RunOptions<C> = {
  /** The name with which its sentences begin. */
  readonly name: string;
  readonly readConfig: () => C;
  /** See `GroupOptions.share`. */
  readonly share?: () => GroupShare;
  /** Does the work of one process. */
  readonly work: (parts: WorkParts<C>) => Promise<void>;
};

type GroupShare = (calls: Calls) => () => void;

/**
 * Runs a service as its configuration says, in this process or in several workers behind its port.
 * This process starts the workers, restarts them and stops them. It gives them the connections that
 * it accepts, because the kernel would distribute the few of an Envoy unevenly. It decides nothing
 * and holds no key.
 */
export async function runWorkers<C extends DecisionConfig>({
  name,
  readConfig,
  share,
  work,
}: RunOptions<C>): Promise<void> {
  const exit = exitOf(name);
  const config = await orExit(exit, readConfig);
  const worker = await joinWorkers();
  const log = serviceLog(config.logLevel, worker === undefined ? null : { worker: worker.number });
  if (worker !== undefined || config.workers === 1) await work({ config, log, exit, worker });
  else leadWorkers(config.workers, { exit, log, share: share?.() ?? (() => () => {}) });
}

function leadWorkers(
  count: number,
  { exit, log, share }: { exit: Exit; log: Logger; share: GroupShare },
): void {
  const group = new WorkerGroup({
    ...{ count, log, share },
    tell: message => process.send?.(message),
    failed: how =>
      typeof how === 'number' ? process.exit(how) : exit(`the first worker was ended by ${how}`),
    stopped: () => process.exit(0),
  });
  onStop(reason => {
    log.info({ reason }, 'stopping');
    group.stop();
  });
}
