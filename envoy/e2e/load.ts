import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from './request.ts';
import { until } from './until.ts';

export type LoadOptions = {
  /** Base URL and path of the requests. */
  readonly base: string;
  readonly path: string;
  readonly connections?: number;
  readonly perSecond?: number;
  /** It ends by itself after this time, in ms. */
  readonly longestMs?: number;
};

/** One request that has ended. */
export type Sample = {
  /** When it was sent and when it ended, by performance.now(). */
  readonly sentAt: number;
  readonly endedAt: number;
  /** 200, another status, or why there was none. */
  readonly outcome: number | string;
  /** The `hostname` in the answer. */
  readonly hostname: string | undefined;
};

export type Tally = {
  readonly requests: number;
  /** All requests without a 200. */
  readonly failures: readonly Sample[];
  readonly samples: readonly Sample[];
  /** Requests by `hostname`. */
  readonly hostnames: ReadonlyMap<string, number>;
};

export type Load = {
  /** Returns the results until now. */
  tally(): Tally;
  /** Waits until so many further answers have come. */
  more(count: number): Promise<void>;
  /** Ends the load when the requests in flight have ended. */
  stop(): Promise<Tally>;
};

/**
 * Sends requests on connections that are kept alive, at most so many a second. Ends after
 * `longestMs` at the latest.
 */
export function startLoad(options: LoadOptions): Load {
  const { connections = 16, longestMs = 60_000, perSecond = 400 } = options;
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const samples: Sample[] = [];
  const intervalMs = (1000 * connections) / perSecond;
  const deadline = performance.now() + longestMs;
  let stopped = false;
  const lane = async (first: number) => {
    for (
      let due = first;
      !stopped && due < deadline;
      due = Math.max(due + intervalMs, performance.now())
    ) {
      await delay(Math.max(0, due - performance.now()));
      samples.push(await ask(options, agent));
    }
  };
  const begin = performance.now();
  const lanes = Array.from({ length: connections }, (_, at) =>
    lane(begin + (at * intervalMs) / connections),
  );
  const stop = async () => {
    stopped = true;
    await Promise.all(lanes);
    agent.destroy();
    return tallyOf(samples);
  };
  const more = async (count: number) => {
    const enough = samples.length + count;
    await until(() => samples.length >= enough || undefined, 30_000, `${count} more answers`);
  };
  return { tally: () => tallyOf(samples), more, stop };
}

async function ask({ base, path }: LoadOptions, agent: http.Agent): Promise<Sample> {
  const sentAt = performance.now();
  const over = (outcome: Sample['outcome'], hostname?: string) => {
    return { sentAt, endedAt: performance.now(), outcome, hostname };
  };
  try {
    const { body, status } = await request(base, path, { agent });
    return over(status, /"hostname":\s*"([^"]*)"/.exec(body)?.[1]);
  } catch (error) {
    return over(error instanceof Error ? error.message : String(error));
  }
}

function tallyOf(samples: readonly Sample[]): Tally {
  const byHostname = Map.groupBy(samples, ({ hostname }) => hostname ?? '');
  byHostname.delete('');
  return {
    requests: samples.length,
    failures: samples.filter(({ outcome }) => outcome !== 200),
    samples: [...samples],
    hostnames: new Map([...byHostname].map(([hostname, { length }]) => [hostname, length])),
  };
}
