import { runH2load } from '../h2load.ts';
import type { Load } from '../load.ts';
import { runWrk } from '../wrk.ts';
import { HOST, ORIGIN } from './site.ts';

/** A page of the site, at the edge's port, with these Cookie fields in turn. */
export type Asked = {
  readonly port: number;
  readonly page: string;
  readonly cookies: readonly string[];
};

/** A program that makes load. */
export type Generator = {
  /** Runs until each cookie was used and the service runs compiled code. */
  warmUp(asked: Asked): Promise<void>;
  /** Makes the load of one round. */
  load(asked: Asked): Promise<Load>;
};

export const CONNECTIONS = 16;
/** The requests of one run of h2load. */
export const REQUESTS = 20_000;

const WARM_UP_ROUNDS = 2;
const WARM_UP_SECONDS = 3;
const MOST_WARM_UPS = 5;

/** Runs `h2load --h1 -n 20000 -c 16`. It has one cookie. */
export function h2load(): Generator {
  const load = ({ cookies: [cookie = ''], page, port }: Asked) =>
    runH2load(`${ORIGIN}${page}`, port, {
      requests: REQUESTS,
      connections: CONNECTIONS,
      headers: { cookie },
    });
  const warmUp = async (asked: Asked) => {
    for (let round = 0; round < WARM_UP_ROUNDS; round++) await load(asked);
  };
  return { warmUp, load };
}

/** Runs wrk over as many connections for so many seconds. */
export function wrk(seconds: number): Generator {
  const run = ({ cookies, page, port }: Asked, forSeconds: number) => {
    const options = { connections: CONNECTIONS, headers: { Host: HOST }, cookies };
    return runWrk(`http://127.0.0.1:${port}${page}`, forSeconds, options);
  };
  const warmUp = async (asked: Asked) => {
    for (let tries = 0; tries < MOST_WARM_UPS; tries++) {
      const { requests } = await run(asked, 2 ** tries * WARM_UP_SECONDS);
      if (requests >= asked.cookies.length) return;
    }
    throw new Error(`${asked.cookies.length} sessions cannot be used while it warms up`);
  };
  return { warmUp, load: asked => run(asked, seconds) };
}
