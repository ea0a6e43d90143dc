import { connect } from 'node:http2';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { cpuMsOf } from '../process-usage.ts';

/** As many calls at once on one connection as an Envoy has with 16 clients. */
const AT_ONCE = 16;
const HEADERS = {
  ':method': 'POST',
  ':path': '/envoy.service.auth.v3.Authorization/Check',
  'content-type': 'application/grpc',
  te: 'trailers',
  'grpc-timeout': '5000m',
};

/**
 * Measures the CPU time of a service for each of `count` checks, in µs, without an Envoy. Throws
 * when a call fails.
 */
export async function measureDirectChecks(
  { pid, port }: { readonly pid: number; readonly port: number },
  requests: readonly Uint8Array[],
  count: number,
): Promise<number> {
  const bodies = requests.map(framed);
  const session = connect(`http://127.0.0.1:${port}`);
  let sent = 0;
  const call = () =>
    new Promise<void>((resolve, reject) => {
      const body = bodies[sent % bodies.length];
      sent += 1;
      const stream = session.request(HEADERS);
      const fail = () => reject(new Error('a check failed'));
      stream.on('error', reject).on('close', fail).resume();
      stream.on('trailers', trailers => (trailers['grpc-status'] === '0' ? resolve() : fail()));
      stream.end(body);
    });
  const calls = async () => {
    while (sent < count) await call();
  };
  const begun = cpuMsOf(pid);
  await Promise.all(Array.from({ length: AT_ONCE }, calls));
  session.close();
  return ((cpuMsOf(pid) - begun) * 1_000) / count;
}
