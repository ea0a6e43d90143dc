import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError, type ProviderErrorCode } from './provider-error.ts';
import { ProviderHealth } from './provider-health.ts';

const HOUR_MS = 3_600_000;

const failure = (code: ProviderErrorCode, status?: number) =>
  new ProviderError(code, 'it fails', status === undefined ? {} : { status });

test('a mistake is found at once, an outage when it has lasted for 10 s', () => {
  for (const [error, severity] of [
    [failure('issuer_mismatch'), 'error'],
    [failure('invalid_answer', 200), 'error'],
    [failure('missing_endpoint'), 'error'],
    [failure('too_large', 200), 'error'],
    [failure('http_status', 404), 'error'],
    [failure('http_status', 302), 'error'],
    [failure('http_status', 502), 'warning'],
    [failure('http_status', 429), 'warning'],
    [failure('unreachable'), 'warning'],
    [failure('timeout'), 'warning'],
  ] as const) {
    const health = new ProviderHealth();
    health.heard('discovery', error, 0);
    assert.equal(health.findings(9_999).length, severity === 'error' ? 1 : 0);
    health.heard('discovery', error, 10_000);
    assert.deepEqual(health.findings(10_000), [
      { aspect: 'discovery', severity, message: 'it fails' },
    ]);
  }
});

test('a provider that cannot be reached for a lasting reason is a mistake, though perhaps a brief one', () => {
  const health = new ProviderHealth();
  const unknown = new ProviderError('unreachable', 'no such name', { lasting: true });
  health.heard('discovery', unknown, 0);
  assert.deepEqual(health.findings(9_999), []);
  assert.equal(health.findings(10_000)[0]?.severity, 'error');
});

test('an outage that ends and begins again has not lasted', () => {
  const health = new ProviderHealth();
  health.heard('keys', failure('timeout'), 0);
  assert.equal(health.heard('keys', undefined, 5_000), true);
  assert.equal(health.heard('keys', undefined, 6_000), false);
  health.heard('keys', failure('timeout'), 9_000);
  assert.deepEqual([health.failing, health.findings(12_000)], [true, []]);
});

test('that the client is refused is believed for an hour after the last time, and asking again does not show it', () => {
  const health = new ProviderHealth();
  health.heard('client', failure('oauth_error'), 0);
  health.heard('client', failure('oauth_error'), HOUR_MS / 2);
  assert.deepEqual([health.failing, health.endOf('client')], [false, 1.5 * HOUR_MS]);
  assert.equal(health.findings(1.5 * HOUR_MS - 1).length, 1);
  assert.equal(health.findings(1.5 * HOUR_MS).length, 0);
});

test('ID tokens that are not valid are an error at once, which is believed for 15 minutes', () => {
  const health = new ProviderHealth();
  health.heard('idTokens', failure('invalid_id_token'), 0);
  assert.deepEqual(
    health.findings(0).map(({ severity }) => severity),
    ['error'],
  );
  assert.deepEqual([health.failing, health.endOf('idTokens')], [false, 900_000]);
  assert.deepEqual(health.findings(900_000), []);
});

test('a token endpoint that does not answer is found when logins have shown it for 10 s, and until one shows otherwise', () => {
  const health = new ProviderHealth();
  health.heard('tokens', failure('timeout'), 0);
  assert.deepEqual(health.findings(60_000), []);
  health.heard('tokens', failure('timeout'), 10_000);
  assert.deepEqual(health.findings(10_000), [
    { aspect: 'tokens', severity: 'warning', message: 'it fails' },
  ]);
  assert.deepEqual([health.failing, health.endOf('tokens')], [false, 910_000]);
  assert.deepEqual(health.findings(910_000), []);
  assert.equal(health.heard('tokens', undefined, 11_000), true);
  assert.deepEqual(health.findings(11_000), []);
});
