import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { type RawAnswer, request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { logIn } from '#ext-authz/testing/log-in.ts';
import { say } from './short-run.ts';

/**
 * Run `npx node bench/swaps.ts --swaps 500 --requests 100000`. It measures whether a change of a
 * Mapping's service loses requests. Each swap is another cluster. Each request is a logged-in
 * user's, and a limit counts it. Prints how many requests were lost, and ends with 1 when any was.
 */
const { values } = parseArgs({
  options: {
    swaps: { type: 'string', default: '500' },
    requests: { type: 'string', default: '100000' },
  },
});
const [swaps, requests] = [Number(values.swaps), Number(values.requests)];
const LANES = 16;
const PATH = '/account/swap/';

const LIMIT = `apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: swaps }
spec:
  domain: gateway
  limits: [{ pattern: [{ generic_key: swaps }], rate: 1000000, unit: second }]
`;

const agent = new http.Agent({ keepAlive: true, maxSockets: LANES });
const upstream = http.createServer((_request, response) => void response.end('here'));
await new Promise<void>(resolve => upstream.listen(0, resolve));
const { port } = upstream.address() as AddressInfo;
const system = await startSystem({ demo: true });
const losses: string[] = [];
let answered = 0;
try {
  system.write('limit.yaml', LIMIT);
  swap(0);
  const cookie = await session(system);
  await until(async () => (await ask(cookie)) === 'here' || undefined);
  const begun = performance.now();
  await Promise.all([swapInTurn(), ...Array.from({ length: LANES }, () => lane(cookie))]);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  say(`${swaps} swaps, ${answered} requests in ${seconds} s, ${losses.length} lost`);
  for (const loss of new Set(losses)) say(`lost: ${loss}`);
} finally {
  await system.stop();
  upstream.close();
  upstream.closeAllConnections();
}
process.exitCode = losses.length === 0 ? 0 : 1;

/** Returns the cookies of a user who has logged in. */
async function session({ edge, ports }: System): Promise<string> {
  const asked = await until(async () => {
    const answer = await request(edge, '/account', { headers: { accept: 'text/html' } });
    return answer.headers.location?.startsWith(`http://127.0.0.1:${ports.identityProvider}/`)
      ? answer
      : undefined;
  });
  const callback = `${edge}/.gateway/oauth2/`;
  const user = { username: 'ada', password: 'difference' };
  const url = await logIn(asked.headers.location ?? '', user, callback);
  const cookie = cookiesOf(asked);
  const { headers } = await request(edge, url.pathname + url.search, { headers: { cookie } });
  return cookiesOf({ headers });
}

function cookiesOf({ headers }: Pick<RawAnswer, 'headers'>): string {
  const set = (headers['set-cookie'] ?? []).map(field => field.split(';', 1)[0] ?? '');
  return set.filter(pair => !pair.endsWith('=')).join('; ');
}

async function lane(cookie: string): Promise<void> {
  while (answered < requests) {
    const outcome = await ask(cookie).catch(String);
    if (outcome !== 'here') losses.push(outcome);
    answered += 1;
  }
}

async function ask(cookie: string): Promise<string> {
  const { body, status } = await request(system.edge, PATH, { agent, headers: { cookie } });
  return status === 200 ? body : `${status} ${body.slice(0, 100)}`;
}

/** Each swap waits until its share of the requests is answered, and no longer. */
async function swapInTurn(): Promise<void> {
  for (let index = 1; index <= swaps; index += 1) {
    await until(() => answered >= ((index - 1) * requests) / swaps || undefined, 3_600_000);
    swap(index);
    if (index % 50 === 0) say(`${index} swaps, ${answered} requests, ${losses.length} lost`);
  }
}

/** Another address of the same server is another cluster. */
function swap(index: number): void {
  const address = `127.1.${Math.floor(index / 250)}.${1 + (index % 250)}:${port}`;
  system.write(
    'swap.yaml',
    `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: swap }
spec:
  prefix: ${PATH}
  service: ${address}
  labels: { gateway: [{ per_path: [swaps] }] }
`,
  );
}
