import * as z from 'zod';

const one = z.string().min(1);

/** Which gateways a resource is for; those of other gateways leave it alone. */
export const gatewayId = z
  .union([one.transform(id => [id]), z.array(one).min(1)])
  .default(['default'])
  .meta({ form: 'a string or a list of strings', aliases: ['ambassador_id'] })
  .describe('The gateways that serve this resource');
