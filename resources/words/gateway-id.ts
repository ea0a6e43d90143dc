import * as z from 'zod';

const ALIASES: readonly string[] = ['ambassador_id', 'ambassadorId'];

/**
 * What Emissary's cluster puts before each id of a resource that is written as v3alpha1, and before
 * `default` where none is written, when `kubectl get` asks for it as v2.
 */
const MARK_OF_V3ALPHA1 = /^--apiVersion-v3alpha1-only--(?=.)/;

const one = z
  .string()
  .min(1)
  .transform(id => id.replace(MARK_OF_V3ALPHA1, ''));

/** Which gateways a resource is for. Other gateways ignore it. */
export const gatewayId = z
  .union([one.transform(id => [id]), z.array(one).min(1)])
  .default(['default'])
  .meta({ form: 'a string or a list of strings', aliases: ALIASES })
  .describe(
    'The gateways (`GATEWAY_ID`) that serve this resource. Also spelt `ambassador_id` or `ambassadorId`',
  );

/** Whether a spec, right or not, says in any letter case that it is for other gateways. */
export function isForOtherGateway(spec: unknown, id: string): boolean {
  if (typeof spec !== 'object' || spec === null) return false;
  const ids = gatewayIdsOf(spec);
  return ids !== undefined && !ids.includes(id);
}

/**
 * Returns the gateways that a spec is for.
 * @returns undefined when they cannot be read
 */
export function gatewayIdsOf(spec: object): readonly string[] | undefined {
  return gatewayId.safeParse(writtenGatewayId(spec)).data;
}

/** Returns the value of the field, in whatever letter case its name is. */
function writtenGatewayId(spec: object): unknown {
  const fields = Object.entries(spec).filter(([, value]) => value !== null);
  const written = ['gateway_id', ...ALIASES].flatMap(name =>
    fields.filter(([field]) => field.toLowerCase() === name.toLowerCase()),
  );
  return written[0]?.[1];
}
