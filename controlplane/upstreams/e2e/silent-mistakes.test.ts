import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from '#envoy/e2e/request.ts';
import { statusWhen } from '#envoy/e2e/status-when.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import type { Problem } from '#resources/problem.ts';

/** A mistake that is valid YAML, and what tells about it. */
type Mistake = {
  readonly name: string;
  /**
   * The documents with the mistake, and without. `AT` is a name that no other mistake has, `PORT`
   * is that of an HTTP service, and `OWN` one that a Gateway may listen at.
   */
  readonly wrong: string;
  readonly right: string;
  /** The path that clients ask for, and what they get of the mistake. `isOwn`: at `OWN`. */
  readonly path?: string;
  readonly isOwn?: true;
  readonly status?: number;
  /** The line and the field of the Problem. */
  readonly place: readonly [line: number, field: string];
  readonly message: RegExp;
};

const document = (kind: string, spec: string, name = 'AT') =>
  `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;
const mapping = (spec: string, name?: string) => document('Mapping', spec, name);

const COLLECTOR = document('TracingService', 'service: "127.0.0.1:1", driver: opentelemetry');

const ofGatewayApi = (kind: string, spec: string) =>
  document(kind, spec).replace('gateway.internal/v2', 'gateway.networking.k8s.io/v1');
/** A Gateway with a route to this Service. */
const route = (name: string, port: string) =>
  [
    ofGatewayApi('GatewayClass', 'controllerName: gateway.internal/gateway-controller'),
    ofGatewayApi(
      'Gateway',
      'gatewayClassName: AT, listeners: [{ name: http, port: OWN, protocol: HTTP }]',
    ),
    ofGatewayApi(
      'HTTPRoute',
      `parentRefs: [{ name: AT }], rules: [{ backendRefs: [{ name: ${name}, port: ${port} }] }]`,
    ),
  ].join('---\n');

const RIGHT = mapping('prefix: /AT/, service: "127.0.0.1:PORT"');

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a wrong port',
    wrong: mapping('prefix: /AT/, service: "127.0.0.1:1"'),
    right: RIGHT,
    ...{ path: '/AT/', status: 503, place: [4, 'spec.service'] },
    message: /^127\.0\.0\.1:1 accepts no connection \(.*Connection refused.*\)\. Correct/i,
  },
  {
    name: 'a name that DNS does not know',
    wrong: mapping('prefix: /AT/, service: "nosuch.invalid:80"'),
    right: RIGHT,
    ...{ path: '/AT/', status: 503, place: [4, 'spec.service'] },
    message: /^DNS has no address for "nosuch\.invalid" \(.+\)\. Correct the name/,
  },
  {
    name: 'https to an http service',
    // The other Mappings name the same service otherwise, so their edits do not rename its cluster.
    wrong: mapping('prefix: /AT/, service: "https://localhost:PORT"'),
    right: RIGHT,
    ...{ path: '/AT/', status: 503, place: [4, 'spec.service'] },
    message:
      /^TLS with 127\.0\.0\.1:\d+ fails \(.*WRONG_VERSION_NUMBER.*\)\. The service speaks no/,
  },
  {
    name: 'a misspelt name of the discovery service',
    wrong: mapping('prefix: /AT/, rewrite: /user/, service: user-servcie, resolver: sds'),
    right: mapping('prefix: /AT/, rewrite: /user/, service: user-service, resolver: sds'),
    ...{ path: '/AT/health', status: 503, place: [4, 'spec.service'] },
    message:
      /^the discovery service knows no "user-servcie", did you mean `user-service`\? Correct the name/,
  },
  {
    name: 'two Mappings with one prefix',
    wrong: `${RIGHT}---\n${mapping('prefix: /AT/, service: "127.0.0.1:2"', 'AT-too')}`,
    right: RIGHT,
    place: [4, 'spec.weight'],
    message:
      /^2 Mappings match the same requests .* It shares its requests with Mapping\/default\/m\d-too$/,
  },
  {
    name: 'an unknown variable of a template',
    wrong: document(
      'Filter',
      'JWT: { jwksURI: "https://a.test/", injectRequestHeaders: [{ name: x-a, value: "{{ .token.Clams.sub }}" }] }',
    ),
    right: document(
      'Filter',
      'JWT: { jwksURI: "https://a.test/", injectRequestHeaders: [{ name: x-a, value: "{{ .token.Claims.sub }}" }] }',
    ),
    place: [4, 'spec.JWT.injectRequestHeaders[0].value'],
    message: /did you mean `\.token\.Claims`\?/,
  },
  {
    name: 'a misspelt upgrade',
    wrong: mapping('prefix: /AT/, service: "127.0.0.1:PORT", allow_upgrade: [websockt]'),
    right: mapping('prefix: /AT/, service: "127.0.0.1:PORT", allow_upgrade: [websocket]'),
    place: [4, 'spec.allow_upgrade[0]'],
    message: /^no client is known to ask for the protocol `websockt`, did you mean `websocket`\?/,
  },
  {
    name: 'a foreign node group',
    wrong: mapping('prefix: /AT/, service: "127.0.0.1:PORT", node_group: egde'),
    right: RIGHT,
    ...{ path: '/AT/', status: 404, place: [4, 'spec.node_group'] },
    message:
      /^no proxy of node group "egde" is connected, so nothing runs this, did you mean "edge"\?/,
  },
  {
    name: 'a wrong port of a collector of traces',
    wrong: `${RIGHT}---\n${COLLECTOR}`,
    right: RIGHT,
    ...{ path: '/AT/', status: 200, place: [9, 'spec.service'] },
    message:
      /^127\.0\.0\.1:1 accepts no connection \(.+\)\. Correct .* Until then spans are lost\./,
  },
  {
    name: 'a route of Gateway API to a name that DNS does not know',
    wrong: route('nosuch', '80'),
    right: route('localhost', 'PORT'),
    ...{ path: '/', isOwn: true, status: 503 },
    place: [14, 'spec.rules[0].backendRefs[0]'],
    message: /^DNS has no address for "nosuch" \(.+\)\. Correct the name/,
  },
];

/** Between two requests of clients. */
const PAUSE_MS = 200;

/** Asks for the path of a mistake, if it has one. */
type Client = () => Promise<number | undefined>;

describe('a mistake that clients see as a bare error', { concurrency: true }, () => {
  let service: Server;
  let system: System;

  before(async () => {
    service = createServer((_request, response) => response.end('here'));
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    system = await startSystem();
  });
  after(async () => {
    service.close();
    await system.stop();
  });

  const port = () => `${(service.address() as AddressInfo).port}`;

  /** What the control plane has logged with these words. */
  const logged = (words: string) =>
    readFileSync(join(system.state, 'logs', 'controlplane.log'), 'utf8')
      .split('\n')
      .flatMap(line => /"msg":"(.*)"\}$/.exec(line)?.[1] ?? [])
      .filter(message => message.includes(JSON.stringify(words).slice(1, -1)));

  /** Returns the Problems of a file. Clients go on asking for the path meanwhile. */
  const problemsWhen = async (
    file: string,
    client: Client,
    wanted: (found: readonly Problem[]) => boolean,
  ) => {
    const ask = async () => {
      await client();
      await delay(PAUSE_MS);
      return system.status();
    };
    const isIn = (problem: Problem) => basename(problem.file) === file;
    const { problems } = await statusWhen(ask, each => wanted(each.problems.filter(isIn)));
    return problems.filter(isIn);
  };

  for (const [index, mistake] of MISTAKES.entries()) {
    const { message, name, place, status } = mistake;
    const [at, file] = [`m${index}`, `m${index}.yaml`];
    test(`${name} is a Problem at its line, and over once it is right`, async t => {
      const own = mistake.isOwn ? await freePort() : 0;
      const write = (text: string) =>
        system.write(
          file,
          text.replaceAll('AT', at).replaceAll('PORT', port()).replaceAll('OWN', `${own}`),
        );
      const base = own === 0 ? system.edge : `http://127.0.0.1:${own}`;
      const client = async () => {
        if (mistake.path === undefined) return undefined;
        return request(base, mistake.path.replace('AT', at)).then(
          answer => answer.status,
          // A Gateway begins to listen when the proxy has it.
          () => 0,
        );
      };
      const begun = performance.now();
      write(mistake.wrong);
      const found = await problemsWhen(file, client, problems =>
        problems.some(each => message.test(each.message)),
      );
      const seconds = Math.round((performance.now() - begun) / 100) / 10;
      const problem = found.find(each => message.test(each.message));
      t.diagnostic(`${name}: visible after ${seconds} s: ${problem?.message}`);
      assert.deepEqual([problem?.line, problem?.field], place);
      assert.equal(await client(), status);
      const { said } = await system.command(
        'status',
        '--port-offset',
        `${system.gateway.portOffset}`,
      );
      assert.match(
        said,
        new RegExp(`${at}\\.yaml:${place[0]}, ${place[1].replace(/[[\]]/g, '\\$&')}\\)`),
      );
      write(mistake.right);
      await problemsWhen(file, client, problems => problems.length === 0);
      assert.equal(await client(), mistake.path && 200);
      const [told, fixed, ...more] = await until(() => {
        const lines = logged(problem?.message ?? '');
        return lines.length < 2 ? undefined : lines;
      });
      assert.deepEqual([told?.startsWith('fixed: '), more], [false, []]);
      assert.equal(fixed, `fixed: ${told}`);
    });
  }
});
