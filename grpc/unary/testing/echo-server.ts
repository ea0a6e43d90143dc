import type { TestContext } from 'node:test';
import type { Served } from '#grpc/serve.ts';
import { failure, type UnaryMethod } from '../method.ts';
import { type ServeUnaryOptions, serveUnary } from '../serve-unary.ts';

export const ECHO = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

export type Text = { readonly text: string };

/**
 * Answers with the text that it gets. `fail` and `throw`, and each with `late-` before it, do what
 * they say. `never` is not answered.
 */
export const echo: UnaryMethod<Text, Text> = {
  path: ECHO,
  decode: bytes => (bytes[0] === 0xff ? undefined : { text: bytes.toString() }),
  encode: ({ text }) => Buffer.from(text),
  handle: ({ text }, call) => {
    if (text === 'never') return new Promise(() => {});
    if (text.startsWith('late-')) return Promise.resolve(text.slice(5)).then(rest => answer(rest));
    if (text === 'timeout') return { text: String(call.timeoutMs) };
    if (text.startsWith('metadata ')) return { text: call.metadata(text.slice(9)) };
    return answer(text);
  },
};

function answer(text: string) {
  if (text === 'throw') throw new TypeError('a mistake of ours');
  return text === 'fail' ? failure('NOT_FOUND', 'nicht gefunden: 100 % größe') : { text };
}

/** Starts an echo server on any free port, and records what its `onError` heard. */
export async function serveEcho(t: TestContext, options: Partial<ServeUnaryOptions> = {}) {
  const errors: unknown[] = [];
  const served: Served = await serveUnary({
    host: '127.0.0.1',
    port: 0,
    methods: [echo],
    onError: error => void errors.push(error),
    ...options,
  });
  t.after(() => served.stop(0));
  return { ...served, errors };
}
