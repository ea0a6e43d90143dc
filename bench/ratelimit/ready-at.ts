import type { ChildProcess } from 'node:child_process';
import { until } from '#envoy/e2e/until.ts';

/** A rate limit service under test, with the processes whose CPU time is its cost. */
export type DecisionService = {
  readonly port: number;
  readonly service: number;
  readonly store: number | undefined;
  stop(): Promise<void>;
};

const LONGEST_START_MS = 60_000;
const LONGEST_ANSWER_MS = 1_000;

/**
 * Waits until the process answers 200 at this URL. Rejects when it ends before, or takes longer
 * than a minute.
 */
export async function readyAt(url: string, child: ChildProcess): Promise<void> {
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    const answer = await fetch(url, { signal: AbortSignal.timeout(LONGEST_ANSWER_MS) }).catch(
      () => undefined,
    );
    return answer?.status === 200 || undefined;
  };
  await until(isReady, LONGEST_START_MS, `an answer of ${url}`);
}
