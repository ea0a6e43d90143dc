import * as z from 'zod';

const one = z.string().min(1);

/** Which gateways a resource is for. Other gateways ignore it. */
export const gatewayId = z
  .union([one.transform(id => [id]), z.array(one).min(1)])
  .default(['default'])
  .meta({ form: 'a string or a list of strings', aliases: ['ambassador_id'] })
  .describe('The gateways (`GATEWAY_ID`) that serve this resource. Also spelt `ambassador_id`');

/** Whether a spec, right or not, says that it is for other gateways than `id`. */
export function isForOtherGateway(spec: unknown, id: string): boolean {
  if (typeof spec !== 'object' || spec === null) return false;
  const written = { gateway_id: undefined, ambassador_id: undefined, ...spec };
  const parsed = gatewayId.safeParse(written.gateway_id ?? written.ambassador_id ?? undefined);
  return parsed.success && !parsed.data.includes(id);
}
