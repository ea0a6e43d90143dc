import type { TestContext } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import { after } from '#process/after.ts';
import type { Any } from '#protos/encode.ts';
import { DISCOVERY } from '../discovery-methods.ts';
import { DiscoveryService } from '../discovery-service.ts';
import { SnapshotCache } from '../snapshot-cache.ts';
import { DiscoveryChannel } from './discovery-client.ts';

export function saying(text: string): Any {
  return { type_url: 'type.googleapis.com/test.Report', value: Buffer.from(text) };
}

function textOf(report: Any | undefined): string {
  return report === undefined ? '' : Buffer.from(report.value).toString();
}

/**
 * Starts a server on this port that accepts reports of the group `service`, unless they say `bad`.
 * `heard` is what each open stream has said last.
 */
export async function startReportServer(t: TestContext, port = 0, takes = true) {
  const cache = new SnapshotCache();
  const heard = new Map<number, string>();
  const log: string[] = [];
  const service = new DiscoveryService({
    cache,
    observer: {
      connected: ({ node }) => void log.push(`+${node}`),
      disconnected: ({ node }) => void log.push(`-${node}`),
    },
    ...(takes && {
      reports: {
        groups: new Set(['service']),
        take({ id }, report) {
          if (textOf(report) === 'bad') return 'it says bad';
          if (report === undefined) heard.delete(id);
          else heard.set(id, textOf(report));
          return undefined;
        },
      },
    }),
    now: Date.now,
    after,
  });
  const served = await serve({
    host: '127.0.0.1',
    port,
    services: service.implementations(),
    ...DISCOVERY,
  });
  const stop = async () => {
    service.close();
    await served.stop(100);
  };
  t.after(stop);
  const open = (method = 'DeltaAggregatedResources') => {
    const channel = new DiscoveryChannel(served.port);
    const client = channel.open(method);
    t.after(() => {
      client.cancel();
      channel.close();
    });
    return client;
  };
  const said = () => [...heard.values()].sort();
  const hears = (...texts: readonly string[]) =>
    until(() => (said().join() === texts.join() ? true : undefined), 30_000, `reports ${texts}`);
  return { cache, service, port: served.port, stop, open, said, hears, log };
}
