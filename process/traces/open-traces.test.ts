import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { openTraces } from './open-traces.ts';

async function opened(env: Readonly<Record<string, string>>) {
  const lines: object[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: line => lines.push(JSON.parse(line)) },
  );
  return { traces: await openTraces('sample', env, log), lines };
}

test('without a variable there are no traces, and no word of it', async () =>
  assert.deepEqual(await opened({}), { traces: undefined, lines: [] }));

test('a mistake is logged without its value, and the service goes on without traces', async () =>
  assert.deepEqual(await opened({ OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@collector' }), {
    traces: undefined,
    lines: [
      {
        level: 40,
        reason: 'OTEL_EXPORTER_OTLP_ENDPOINT: want a URL, such as http://127.0.0.1:4318',
        msg: 'no traces are sent',
      },
    ],
  }));

test('a variable that says where to send them turns them on', async () => {
  const { lines, traces } = await opened({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  assert.ok(traces !== undefined);
  assert.deepEqual(lines, [{ level: 30, msg: 'requests are traced' }]);
  await traces.close();
});

for (const variable of ['OTEL_EXPORTER_OTLP_CERTIFICATE', 'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY'])
  test(`nothing is sent to a stranger when the file of ${variable} cannot be read`, async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:9', [variable]: '/none/ca.pem' };
    const reason = `${variable}: this file cannot be read`;
    assert.deepEqual(await opened(env), {
      traces: undefined,
      lines: [{ level: 40, reason, msg: 'no traces are sent' }],
    });
  });
