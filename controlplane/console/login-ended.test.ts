import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { endedPage, freshLogin, isNavigation } from './login-ended.ts';

const filter = (name: string, clientID: string) => `---
apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: ${name}, namespace: ops }
spec:
  OAuth2:
    authorizationURL: https://login.example.com
    clientID: ${clientID}
    secret: s
    protectedOrigins: [{ origin: "https://gateway.example.com" }]
`;

const filtersOf = (...texts: readonly string[]) => resourceSetOf(texts.join('')).resources.filters;

test('the Filter whose ID tokens open the console begins the new login, if it is plain which', () => {
  const [own, other] = [filter('console', 'gateway-console'), filter('shop', 'shop')];
  assert.equal(
    freshLogin(filtersOf(own, other), 'gateway-console', '/console/routes?search=a&sort=rate'),
    'https://gateway.example.com/.gateway/oauth2/login?realm=console.ops&return=https%3A%2F%2Fgateway.example.com%2Fconsole%2Froutes%3Fsearch%3Da%26sort%3Drate',
  );
  assert.equal(freshLogin(filtersOf(other), 'gateway-console', '/console/'), undefined);
  const twice = filtersOf(own, filter('more', 'gateway-console'));
  assert.equal(freshLogin(twice, 'gateway-console', '/console/'), undefined);
});

test('the page has its link, and no markup of others', () => {
  const page = endedPage('it has <expired>', 'https://a.test/?a=1&b="');
  assert.match(page, /it has &lt;expired&gt;/);
  assert.match(page, /href="https:\/\/a\.test\/\?a=1&amp;b=&quot;"/);
  assert.doesNotMatch(endedPage('x', undefined), /href/);
});

test('only what a browser is about to show is answered by a page', () => {
  assert.ok(isNavigation({ 'sec-fetch-mode': 'navigate', accept: '*/*' }));
  assert.ok(isNavigation({ accept: 'text/html,*/*;q=0.8' }));
  assert.ok(!isNavigation({ 'sec-fetch-mode': 'cors', accept: 'text/html' }));
  assert.ok(!isNavigation({ accept: '*/*' }));
  assert.ok(!isNavigation({}));
});
