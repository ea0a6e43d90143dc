import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from './request.ts';

/** How many answers there were of each status, or error, and of each `hostname`. */
export type Asked = {
  readonly answers: Readonly<Record<string, number>>;
  readonly hostnames: Readonly<Record<string, number>>;
};

/**
 * Run `node ask-on-and-on.ts {"url": …, "forMs": …}`. Eight clients send GET requests without
 * waiting for one another. Prints the results.
 */
const { forMs, url } = JSON.parse(process.argv[2] ?? '') as {
  readonly url: string;
  readonly forMs: number;
};
const CLIENTS = 8;
const PAUSE_MS = 20;

const { origin, pathname } = new URL(url);
const agent = new http.Agent({ keepAlive: true });
const answers: Record<string, number> = {};
const hostnames: Record<string, number> = {};
const end = performance.now() + forMs;
await Promise.all(Array.from({ length: CLIENTS }, client));
agent.destroy();
process.stdout.write(JSON.stringify({ answers, hostnames } satisfies Asked));

async function client(): Promise<void> {
  while (performance.now() < end) {
    const { body, status } = await request(origin, pathname, { agent }).catch(failed);
    count(answers, `${status}`);
    const hostname = /"hostname":\s*"([^"]*)"/.exec(body)?.[1];
    if (hostname !== undefined) count(hostnames, hostname);
    await delay(PAUSE_MS);
  }
}

function failed(error: unknown) {
  return { status: String(error), body: '' };
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
