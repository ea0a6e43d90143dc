import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type Ask, askHttp, askUdp, holdConnection, PAUSE_MS } from './ask-gateway.ts';

/** How many answers came, by protocol, and what went wrong. */
export type LoadResult = {
  readonly answers: ReadonlyMap<string, number>;
  readonly losses: readonly string[];
};

const LANES = 4;

/**
 * Asks by all protocols in a thread of its own, again and again until `stop`. The test's thread
 * runs the pods. It stands still while it starts programs, and what it asked would seem lost.
 */
export function startLoad(address: string): { stop(): Promise<LoadResult> } {
  const thread = new Worker(new URL(import.meta.url), { workerData: address });
  const failed = once(thread, 'error').then(([error]) => {
    throw error;
  });
  failed.catch(() => {});
  return {
    async stop() {
      thread.postMessage('stop');
      const [result] = await Promise.race([once(thread, 'message'), failed]);
      await thread.terminate();
      return result as LoadResult;
    },
  };
}

async function run(address: string): Promise<LoadResult> {
  const [answers, losses] = [new Map<string, number>(), [] as string[]];
  let isOver = false;
  parentPort?.once('message', () => {
    isOver = true;
  });
  const lane = async (protocol: string, ask: Ask) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      const loss = await ask(address, agent);
      if (loss === undefined) answers.set(protocol, (answers.get(protocol) ?? 0) + 1);
      else losses.push(`${protocol}: ${loss}`);
      await delay(PAUSE_MS);
    }
    agent.destroy();
  };
  const connection = () => holdConnection(address, () => isOver, answers, losses);
  const lanes = Array.from({ length: LANES }, () => [
    lane('HTTP', askHttp),
    lane('UDP', askUdp),
    connection(),
  ]).flat();
  await Promise.all(lanes);
  return { answers, losses };
}

if (!isMainThread) parentPort?.postMessage(await run(workerData as string));
