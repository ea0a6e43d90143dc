import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announcement } from './announcement.ts';
import type { Layout } from './parts.ts';
import { portsAt } from './ports.ts';

const STATE = {
  path: '/state of mine',
  lock: '',
  logs: '/state of mine/logs',
  bootstrap: '',
  resources: '',
  demo: '',
  instancesFile: '',
  databaseFile: '',
  sockets: '',
};
const LAYOUT: Layout = {
  node: '',
  envoy: '',
  resources: '',
  demo: true,
  provider: true,
  state: STATE,
  ports: portsAt(100),
  portOffset: 100,
  environment: {},
};

test('the demo can be tried by https, with the roots of its own state folder', () => {
  const lines = announcement(LAYOUT, { instances: 2, ms: 1 }).split('\n');
  assert.ok(lines.includes('  edge by https   https://localhost:8543'));
  assert.ok(
    lines.includes(
      "  curl --cacert '/state of mine/authority/roots.pem' https://localhost:8543/user/health",
    ),
  );
});

test('of resources of your own it is not known whether they have a certificate', () => {
  assert.doesNotMatch(
    announcement({ ...LAYOUT, demo: false, provider: false }, { instances: 2, ms: 1, routes: [] }),
    /https/,
  );
});

test('a demo without a provider tells how to have one, and tries no login', () => {
  const text = announcement({ ...LAYOUT, provider: false }, { instances: 2, ms: 1 });
  assert.match(text, /no login, which needs .* npx -p tollwright -p oidc-provider tollwright up\n/);
  assert.doesNotMatch(text, /account|^ {2}login/m);
  assert.doesNotMatch(announcement(LAYOUT, { instances: 2, ms: 1 }), /no login/);
});

test('without the sample service nothing is said to try that would be answered 503', () => {
  const text = announcement(LAYOUT, { instances: 0, ms: 1 });
  assert.doesNotMatch(text, /curl/);
  assert.match(text, /^Try:\n {2}npx tollwright scale 2 /m);
});

test('an edge that was moved is announced, and tried, where it is', () => {
  const routes = [{ domain: '*', path: '/user/' }];
  const said = announcement(
    { ...LAYOUT, demo: false, provider: false },
    { instances: 1, ms: 1, edge: '127.0.0.1:9000', routes },
  );
  assert.match(said, / {2}edge {12}http:\/\/127\.0\.0\.1:9000\n/);
  assert.match(said, /curl http:\/\/127\.0\.0\.1:9000\/user\//);
  assert.doesNotMatch(said, /8180/);
});

test('without a route to try it says so, and how to see what is read', () => {
  const given = { ...LAYOUT, demo: false, provider: false };
  const text = announcement(given, { instances: 0, ms: 1, routes: [] });
  assert.match(text, /^No route leads to a service .* npx tollwright status --port-offset 100$/m);
  assert.doesNotMatch(text, /Try:/);
});

test('the console is announced unless it is off', () => {
  const said = (CONSOLE?: string) =>
    announcement({ ...LAYOUT, environment: { CONSOLE } }, { instances: 2, ms: 1 });
  assert.match(said(), /^ {2}console {9}http:\/\/127\.0\.0\.1:8977\/console\/$/m);
  assert.match(said('login'), /^ {2}console /m);
  for (const off of ['off', ' off ']) assert.doesNotMatch(said(off), /console/);
});
