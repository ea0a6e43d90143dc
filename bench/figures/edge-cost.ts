import { type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { cpuMsOf } from '../process-usage.ts';
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
  const arms: { name: string; gateway: GatewayProcess; cpuMs: number }[] = [];
  for (const [name, options] of Object.entries(ARMS))
    arms.push({ name, gateway: await startGatewayProcess(text, options), cpuMs: 0 });
  const send = ({ edge }: GatewayProcess) =>
    sendRequests(Number(edge.split(':')[1]), '/a/b?c=d', requests, CONNECTIONS);
  for (const { gateway } of arms) await send(gateway);
  for (let round = 0; round < rounds; round++)
    for (const arm of round % 2 === 0 ? arms : arms.toReversed()) {
      const before = cpuMsOf(arm.gateway.envoy);
      await send(arm.gateway);
      arm.cpuMs += cpuMsOf(arm.gateway.envoy) - before;
    }
  for (const { gateway } of arms) await gateway.stop();
  service.stop();
  const [off] = arms;
  return arms.map(({ name, cpuMs }) => ({
    name,
    envoyUs: (cpuMs * 1_000) / (rounds * requests),
    times: cpuMs / (off?.cpuMs ?? 1),
  }));
}
