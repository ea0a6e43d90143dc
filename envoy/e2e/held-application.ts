import { createServer, type ServerResponse } from 'node:http';
import { type LocalServer, listenLocally } from './local-server.ts';

/** An application on a free loopback port that holds its answers until it is released. */
export type HeldApplication = LocalServer & {
  /** How many requests wait for their answer. */
  held(): number;
  /** Answers those, and from now on each request at once. */
  release(): void;
  /** Holds answers again. */
  hold(): void;
  /** How many requests it got for each URL. */
  readonly asked: ReadonlyMap<string, number>;
};

/** Starts one. Below `/late` it never answers, and below `/events` it sends one each `EVENT_MS`. */
export async function startHeldApplication(): Promise<HeldApplication> {
  const waiting = new Set<ServerResponse>();
  const asked = new Map<string, number>();
  let isHolding = true;
  const server = createServer(({ method, url = '' }, response) => {
    asked.set(`${method} ${url}`, (asked.get(`${method} ${url}`) ?? 0) + 1);
    if (url.startsWith('/late')) return;
    if (url.startsWith('/events')) return void sendEvents(response);
    if (!isHolding) return void response.end('answered');
    waiting.add(response);
    response.once('close', () => waiting.delete(response));
  });
  return {
    ...(await listenLocally(server)),
    held: () => waiting.size,
    release: () => {
      isHolding = false;
      for (const response of waiting) response.end('answered');
    },
    hold: () => {
      isHolding = true;
    },
    asked,
  };
}

export const EVENTS = 8;
export const EVENT_MS = 500;

function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    response.write(`data: ${sent}\n\n`);
    if (sent === EVENTS) response.end();
  }, EVENT_MS);
  response.once('close', () => clearInterval(timer));
}
