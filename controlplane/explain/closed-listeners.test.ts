import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Chances, chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import { explaining } from './testing/explained.ts';

const WORLDS = 15;
const HOSTNAMES = ['a.test', 'b.a.test', 'c.b.a.test', '*.b.a.test', '*.a.test', '*.test', '*'];
const ASKED = ['a.test', 'b.a.test', 'c.b.a.test', 'd.a.test', 'e.b.a.test', 'x.test', 'other.org'];

type Listener = {
  readonly name: string;
  readonly hostname: string;
  readonly secure: boolean;
  readonly isClosed: boolean;
};

function randomListeners({ chance }: Chances): readonly Listener[] {
  return [false, true].flatMap(secure =>
    HOSTNAMES.filter(() => chance(0.5)).map((hostname, index) => ({
      name: `${secure ? 'tls' : 'http'}-${index}`,
      hostname,
      secure,
      isClosed: chance(0.4),
    })),
  );
}

/** A closed one has a certificate that does not exist, or serves no kind of route. */
function toYaml({ hostname, isClosed, name, secure }: Listener): string {
  const certificate = isClosed
    ? 'certificateRefs: [{name: missing}]'
    : 'options: {gateway.internal/issuer: gateway}';
  return `{name: ${name}, protocol: ${secure ? 'HTTPS' : 'HTTP'}, port: ${secure ? 8443 : 8000}
    ${hostname === '*' ? '' : `, hostname: "${hostname}"`}
    ${secure ? `, tls: {${certificate}}` : isClosed ? ', allowedRoutes: {kinds: [{kind: TCPRoute}]}' : ''}}`;
}

const object = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

/** Each listener has a route for its own hosts, and all have one for a host of the narrowest. */
function siteOf(listeners: readonly Listener[]): string {
  const rules = 'rules: [{backendRefs: [{name: web, port: 80}]}]';
  return [
    object('GatewayClass', 'gateway', '{controllerName: gateway.internal/gateway-controller}'),
    object(
      'Gateway',
      'site',
      `{gatewayClassName: gateway, listeners: [${listeners.map(toYaml).join(', ')}]}`,
    ),
    ...listeners.map(({ name }) =>
      object('HTTPRoute', name, `{parentRefs: [{name: site, sectionName: ${name}}], ${rules}}`),
    ),
    object('HTTPRoute', 'all', `{parentRefs: [{name: site}], hostnames: [e.b.a.test], ${rules}}`),
  ].join('');
}

const covers = (hostname: string, host: string) =>
  hostname === '*' ||
  hostname === host ||
  (hostname[0] === '*' && host.endsWith(hostname.slice(1)));

/** A whole name goes before every wildcard, and a longer wildcard before a shorter one. */
function ownerOf(listeners: readonly Listener[], host: string, secure: boolean) {
  const rank = ({ hostname }: Listener) => (hostname[0] === '*' ? hostname.length : 1_000);
  return listeners
    .filter(each => each.secure === secure && covers(each.hostname, host))
    .toSorted((a, b) => rank(b) - rank(a))[0];
}

/** The same host as clients may write it. */
const spellings = (host: string, port: number) =>
  [host, host.toUpperCase(), `${host}.`].map(each => `${each}:${port}`);

describe('the hosts of a listener that cannot be served', () => {
  for (let seed = 0; seed < WORLDS; seed++) {
    const chances = chancesOf(seed);
    const { pick } = chances;
    const listeners = randomListeners(chances);
    const isOpen = (secure: boolean) =>
      listeners.some(each => each.secure === secure && !each.isClosed);
    const yaml = siteOf(listeners);

    test(`are served by no other one without TLS, seed ${seed}`, () => {
      // A port without an open listener is closed.
      if (!isOpen(false)) return;
      const explain = explaining(yaml);
      for (const host of ASKED) {
        const owner = ownerOf(listeners, host, false);
        for (const header of spellings(host, 8000)) {
          const { answer, route } = explain({
            url: 'http://127.0.0.1:8000/',
            header: [`Host: ${header}`],
          });
          if (owner === undefined || owner.isClosed) assert.equal(answer?.status, 404, header);
          else assertServes(route?.resource, owner, header);
        }
      }
    });

    test(`are served by no other one over TLS, seed ${seed}`, () => {
      if (!isOpen(true)) return;
      const explain = explaining(yaml);
      for (const host of ASKED) {
        const owner = ownerOf(listeners, host, true);
        const { answer, route } = explain({ url: `https://${host}:8443/` });
        if (owner === undefined || owner.isClosed) {
          assert.ok(route === undefined && answer !== undefined && !('status' in answer), host);
          continue;
        }
        assertServes(route?.resource, owner, host);
        // A connection that is open may be used for other names of its certificate.
        const names = [pick(ASKED), pick(ASKED)].flatMap(name => spellings(name, 8443));
        for (const other of names) {
          const served = explain({
            url: `https://${host}:8443/`,
            header: [`Host: ${other}`],
          });
          const plain = other.toLowerCase().replace(/\.?:\d+$/, '');
          if (ownerOf(listeners, plain, true) === owner) continue;
          assert.ok([404, 421].includes(served.answer?.status ?? 0), `${host} for ${other}`);
        }
      }
    });
  }
});

function assertServes(resource: string | undefined, { name }: Listener, host: string): void {
  assert.ok(
    [`HTTPRoute default/${name}`, 'HTTPRoute default/all'].includes(resource ?? ''),
    `${host}: ${resource}`,
  );
}
