import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Echo } from '#envoy/e2e/upstream.ts';

export type PollingClient = {
  /** Polls until the answer is as wanted. */
  until(isWanted: (echo: Echo) => boolean): Promise<void>;
  close(): void;
};

/** How often it asks, in ms. This is the resolution of what is measured with it. */
const POLL_MS = 1;

/** Polls one URL on one connection. Anything but a 200 counts as no answer yet. */
export function pollingClient(url: string): PollingClient {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const until = async (isWanted: (echo: Echo) => boolean) => {
    for (;;) {
      const echo = await ask(url, agent);
      if (echo !== undefined && isWanted(echo)) return;
      await delay(POLL_MS);
    }
  };
  return { until, close: () => agent.destroy() };
}

function ask(url: string, agent: http.Agent): Promise<Echo | undefined> {
  return new Promise(resolve => {
    const request = http.get(url, { agent }, response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.on('end', () =>
        resolve(
          response.statusCode === 200 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined,
        ),
      );
    });
    request.on('error', () => resolve(undefined));
  });
}
