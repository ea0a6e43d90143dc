import { type Layout, loopback } from './parts.ts';

export type AnnouncementOptions = {
  readonly demo: boolean;
  /** How long the start took. */
  readonly ms: number;
};

/** What the operator reads when the gateway serves: the addresses, and lines to try. */
export function announcement(layout: Layout, { demo, ms }: AnnouncementOptions): string {
  const { ports, state } = layout;
  return [
    `ready after ${(ms / 1000).toFixed(1)} s`,
    '',
    `  edge            http://${loopback(ports.edge)}`,
    `  control plane   http://${loopback(ports.http)}/status  (xDS ${loopback(ports.xds)})`,
    `  discovery       http://${loopback(ports.sds)}/status`,
    `  edge admin      http://${loopback(ports.edgeAdmin)}`,
    `  logs            ${state.logs}`,
    '',
    'Try:',
    ...(demo ? demoLines(loopback(ports.edge)) : [`  curl http://${loopback(ports.http)}/status`]),
    '',
  ].join('\n');
}

function demoLines(edge: string): readonly string[] {
  const user = `http://${edge}/user/ada`;
  const body = '{"fullname": "Ada Lovelace", "password": "difference"}';
  return [
    `  curl http://${edge}/user/health`,
    `  curl -X PUT -H 'Content-Type: application/json' -d '${body}' ${user}`,
    `  curl ${user}`,
  ];
}
