import * as z from 'zod';
import { ipVersion } from '#resources/words/ip-address.ts';
import { textUpTo } from '../gateway-api/bounded.ts';
import { checkRules } from '../gateway-api/rules.ts';
import { routability } from './routability.ts';

const HOSTNAME = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const TYPE =
  /^Hostname|IPAddress|NamedAddress|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

const address = z
  .object({
    type: z
      .string()
      .min(1)
      .max(253)
      .regex(TYPE)
      .default('IPAddress')
      .meta({ form: '`IPAddress`, `Hostname`, or a domain and a name' })
      .describe('What the value is'),
    value: textUpTo(253).exactOptional().describe('The address. Without one any will do'),
    routability: routability.describe(
      'From where it is reached. `Cluster` is the ClusterIP of a Service, and without one the Service is as `parametersRef` says',
    ),
  })
  .check(
    checkRules(({ type, value }) => {
      const wrong = (what: string) => [{ path: ['value'], message: `"${value}" is not ${what}` }];
      if (value === undefined) return [];
      if (type === 'IPAddress' && ipVersion(value) === 0) return wrong('an IP address');
      return type === 'Hostname' && !HOSTNAME.test(value) ? wrong('a host name') : [];
    }),
  );

/** Addresses that a Gateway asks for. Those of one type differ. */
export const gatewayAddresses = z
  .array(address)
  .max(16)
  .check(
    checkRules(list =>
      list.flatMap(({ type, value }, index) => {
        const isRepeated =
          (type === 'IPAddress' || type === 'Hostname') &&
          value !== undefined &&
          list.findIndex(other => other.type === type && other.value === value) < index;
        return isRepeated
          ? [{ path: [index], message: 'this address is already in the list' }]
          : [];
      }),
    ),
  )
  .meta({ form: 'a list of at most 16 addresses' });

export type GatewayAddress = z.output<typeof address>;
