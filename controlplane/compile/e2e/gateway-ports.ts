import type { Json, JsonObject } from '#protos/json.ts';

/** The edge's own address. A Gateway with a listener there has it when nothing else is served. */
export const GATEWAY_EDGE = { host: '127.0.0.1', port: 8000 };

/** Gives the Gateway's listener a free port, and backends the addresses of servers. */
export function withPorts(
  json: JsonObject,
  backends: Readonly<Record<string, string>>,
): JsonObject {
  const replaced = (value: Json | undefined): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(replaced);
    if (typeof value !== 'object' || value === null) return value ?? null;
    const { address, port_value } = value as JsonObject;
    const [host, port] = backends[String(address)]?.split(':') ?? [];
    if (host !== undefined) return { address: host, port_value: Number(port) };
    if (port_value === GATEWAY_EDGE.port) return { ...value, port_value: 0 };
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each)]));
  };
  return replaced(json) as JsonObject;
}
