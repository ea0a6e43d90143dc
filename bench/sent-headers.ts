import { startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { cpuInTurn } from './cpu-in-turn.ts';
import { runH2load } from './h2load.ts';
import { startOurs } from './oauth2/check-service.ts';
import { startEdge } from './oauth2/edge.ts';
import { logInAll } from './oauth2/login.ts';
import { ORIGIN, pageOf, siteYaml } from './oauth2/site.ts';
import { circumstances, writePage } from './page.ts';
import { readRun } from './short-run.ts';
import { toTable } from './table.ts';

/**
 * Run `npx node bench/sent-headers.ts [rounds]`. It measures what a check would cost if Envoy sent
 * ext-authz only the headers that a login reads, beside all of them. Needs Debian's nghttp2-client
 * (h2load) and an idle machine. Given a number of rounds it only prints.
 */
const ROUNDS = 8;
const REQUESTS = 20_000;
const CONNECTIONS = 16;

/** What a login, its answers and the log read. */
const READ: JsonObject = {
  patterns: [
    ...['cookie', 'authorization', 'accept', 'x-request-id', 'origin', 'x-requested-with'],
    ...['sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-site', 'content-type', 'referer'],
    ...['access-control-request-method', 'x-forwarded-proto'],
  ].map(exact => ({ exact })),
};

const { isWhole, size: rounds } = readRun(ROUNDS, 'rounds');
const begun = circumstances();
const provider = await startHostileProvider();
const yaml = siteYaml(provider.issuer, 1);
const page = pageOf(1);
const service = await startOurs('embedded', yaml);
const all = await startEdge(yaml, service.port);
const some = await startEdge(yaml, service.port, withList);
const [cookie = ''] = await logInAll(service.records, provider, 1);

const runs = [12, 30].flatMap(fields => [
  { fields, name: 'all', edge: all },
  { fields, name: 'those that a login reads', edge: some },
]);
const arms = runs.map(({ edge, fields }) => ({
  pids: [edge.envoy.pid, service.service],
  send: async () => {
    const headers = { cookie, ...othersOf(fields) };
    const options = { requests: REQUESTS, connections: CONNECTIONS, headers };
    const { failed } = await runH2load(`${ORIGIN}${page}`, edge.port, options);
    if (failed > 0) throw new Error(`${failed} requests failed`);
  },
}));
const costs = await cpuInTurn(arms, { rounds, requests: REQUESTS });
await all.envoy.stop();
await some.envoy.stop();
await service.stop();
await provider.close();

const us = (value: number) => `${value.toFixed(1)} µs`;
const columns = runs.map(({ fields, name }, n) => {
  const [envoy = 0, checks = 0] = costs[n] ?? [];
  return [
    `${fields} fields, ${name}`,
    new Map([
      ['Envoy', us(envoy)],
      ['ext-authz', us(checks)],
    ]),
  ] as const;
});
const text = `# What the headers of a check cost

${begun} \`npx node bench/sent-headers.ts\`

CPU for a request of a session that Envoy asks ext-authz about and answers itself, in rounds that
alternate. Requests have so many fields, among them those that a browser sends. Envoy sends all of
them, or those alone that a login reads (\`allowed_headers\`).

${toTable('sent', new Map(columns))}`;
console.log(text);
if (isWhole) writePage('sent-headers', text);
process.exit(0);

/** Returns fields as browsers and proxies send them, beside the cookie and what Envoy adds. */
function othersOf(fields: number): Readonly<Record<string, string>> {
  const usual = {
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'accept-encoding': 'gzip, deflate, br, zstd',
    'accept-language': 'en-GB,en;q=0.9,de;q=0.8',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-site': 'same-origin',
    'sec-fetch-dest': 'document',
    'upgrade-insecure-requests': '1',
    referer: `${ORIGIN}/guarded-0/a/page/before/this/one`,
    priority: 'u=0, i',
    'cache-control': 'max-age=0',
    'sec-ch-ua': '"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"',
  };
  const more = Array.from({ length: fields }, (_, n) => [`x-app-${n}`, `a value of it, ${n}`]);
  return Object.fromEntries([...Object.entries(usual), ...more].slice(0, fields - 1));
}

function withList(json: JsonObject): JsonObject {
  return changed(json) as JsonObject;
}

function changed(json: Json): Json {
  if (Array.isArray(json)) return json.map(each => changed(each as Json));
  if (!isJsonObject(json)) return json;
  const fields = Object.entries(json).map(([key, value]) => [key, changed(value as Json)]);
  const type = String(json['@type'] ?? '');
  const isFilter = type.endsWith('ext_authz.v3.ExtAuthz');
  return { ...Object.fromEntries(fields), ...(isFilter ? { allowed_headers: READ } : {}) };
}
