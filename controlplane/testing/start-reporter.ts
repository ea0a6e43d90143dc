import type { TestContext } from 'node:test';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { after } from '#process/after.ts';
import { encodeReport, type ReportedFinding } from '#process/report.ts';
import { connect } from '#xds/client.ts';

/** How much sooner it tries again. It waits as long as others for a connection. */
const HASTE = 100;

/**
 * Connects a service of this group to a control plane (`host:port`). It accepts what it is sent and
 * reports what the test says. It uses plain text unless it has `tls`.
 */
export function startReporter(
  t: TestContext,
  address: string,
  group: string,
  tls: ChannelCredentials = credentials.createInsecure(),
) {
  const disconnects: string[] = [];
  const connection = connect({
    address,
    credentials: tls,
    node: { id: group, cluster: group },
    typeUrls: ['type.googleapis.com/test.Nothing'],
    onUpdate: ({ ack }) => ack(),
    onDisconnect: reason => void disconnects.push(reason),
    random: Math.random,
    // A rejection is logged after some attempts.
    after: (ms, callback) => after(ms / HASTE, callback),
    keepaliveMs: 10_000 * HASTE,
  });
  t.after(() => connection.close());
  const report = (...findings: readonly ReportedFinding[]) =>
    connection.report(encodeReport(findings));
  return { report, close: connection.close, disconnects };
}
