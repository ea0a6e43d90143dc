import { cpuInTurn } from '../cpu-in-turn.ts';
import { type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { sendRequests, startRawService } from '../raw-http.ts';

export type EdgeCost = {
  readonly name: string;
  /** CPU of Envoy for one request, in µs. */
  readonly envoyUs: number;
  /** Compared to figures that are off. */
  readonly times: number;
};

const ARMS = { off: { figures: false }, on: { figures: true } } as const;
const CONNECTIONS = 32;

/** Sends the same load to an edge with figures and to one without, in turn. */
export async function measureEdge(rounds: number, requests: number): Promise<readonly EdgeCost[]> {
  const service = await startRawService();
  const text = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: a }
spec: { prefix: /a/, service: "127.0.0.1:${service.port}", bypass_auth: true }
`;
  const gateways: GatewayProcess[] = [];
  for (const options of Object.values(ARMS))
    gateways.push(await startGatewayProcess(text, options));
  const arms = gateways.map(({ edge, envoy }) => ({
    pids: [envoy],
    send: () => sendRequests(Number(edge.split(':')[1]), '/a/b?c=d', requests, CONNECTIONS),
  }));
  const costs = (await cpuInTurn(arms, { rounds, requests })).map(([us = 0]) => us);
  for (const gateway of gateways) await gateway.stop();
  service.stop();
  const [off = 1] = costs;
  return Object.keys(ARMS).map((name, n) => {
    const envoyUs = costs[n] ?? 0;
    return { name, envoyUs, times: envoyUs / off };
  });
}
