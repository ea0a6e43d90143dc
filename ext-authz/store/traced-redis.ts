import type { SpanStart, Traces } from '#process/traces/traces.ts';
import type { Redis } from '#redis/connect.ts';

/** Returns Redis with a span for each call. Keys and values are not told. */
export function tracedRedis(redis: Redis, traces: Traces | undefined): Redis {
  if (traces === undefined) return redis;
  return {
    ...redis,
    send: async (key, args) => traces.span(spanOf(args[0] ?? ''), () => redis.send(key, args)),
    run: async (script, keys, args) =>
      traces.span(spanOf('EVALSHA'), () => redis.run(script, keys, args)),
  };
}

function spanOf(command: string): SpanStart {
  return {
    name: `${command} redis`,
    kind: 'client',
    attributes: { 'db.system.name': 'redis', 'db.operation.name': command },
  };
}
