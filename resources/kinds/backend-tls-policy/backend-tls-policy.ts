import * as z from 'zod';
import { listOf, someOf } from '../gateway-api/bounded.ts';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import {
  group,
  hostname,
  kindName,
  objectName,
  options,
  preciseHostname,
  sectionName,
} from '../gateway-api/names.ts';
import { localRef } from '../gateway-api/object-ref.ts';
import { type Breach, checkRules, choiceBreaches } from '../gateway-api/rules.ts';

const target = z.object({
  group: group.describe('Group of the target'),
  kind: kindName.describe('Its kind, such as Service'),
  name: objectName.describe('Its name'),
  sectionName: sectionName.exactOptional().describe('Name of its port. Default: all'),
});

const subjectAltName = z
  .object({
    type: z.enum(['Hostname', 'URI']).describe('What it is'),
    hostname: hostname.exactOptional().describe('The name, for `type: Hostname`'),
    uri: z
      .string()
      .min(1)
      .max(253)
      .regex(/^(([^:/?#]+):)(\/\/([^/?#]*))([^?#]*)(\?([^#]*))?(#(.*))?/)
      .exactOptional()
      .meta({ form: 'an absolute URI' })
      .describe('The URI, for `type: URI`'),
  })
  .check(checkRules(value => choiceBreaches(value, { Hostname: 'hostname', URI: 'uri' })));

const validation = z
  .object({
    hostname: preciseHostname.describe(
      'Name that is asked for (SNI), and that the certificate must have without `subjectAltNames`',
    ),
    caCertificateRefs: listOf(8, localRef, 'references')
      .default([])
      .describe(
        'ConfigMaps (or Secrets) with trusted certificates in `ca.crt`, or ClusterTrustBundles',
      ),
    wellKnownCACertificates: z
      .string()
      .min(1)
      .max(253)
      .regex(
        /^(System|([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]))$/,
      )
      .exactOptional()
      .meta({ form: '`System`, or a domain and a name' })
      .describe('Authorities that the machine trusts, in place of `caCertificateRefs`'),
    subjectAltNames: listOf(5, subjectAltName, 'names')
      .default([])
      .describe('Names of which the certificate must have one'),
  })
  .check(
    checkRules(({ caCertificateRefs, wellKnownCACertificates }) =>
      caCertificateRefs.length > 0 === (wellKnownCACertificates === undefined)
        ? []
        : [
            {
              path: ['caCertificateRefs'],
              message: 'one of `caCertificateRefs` and `wellKnownCACertificates` is required',
            },
          ],
    ),
  );

/** Several references to one target must each name another section. */
function targetBreaches(targets: readonly BackendTlsTarget[]): readonly Breach[] {
  const sections = new Map<string, (string | undefined)[]>();
  return targets.flatMap(({ group, kind, name, sectionName }, index) => {
    const key = `${group}/${kind}/${name}`;
    const before = sections.get(key) ?? [];
    sections.set(key, [...before, sectionName]);
    const isAlone = before.length === 0;
    const isOther =
      sectionName !== undefined && !before.includes(undefined) && !before.includes(sectionName);
    const message = 'several references to one target must each have another `sectionName`';
    return isAlone || isOther ? [] : [{ path: [index], message }];
  });
}

const schema = z.object({
  targetRefs: someOf(16, target, 'targets')
    .check(checkRules(targetBreaches))
    .describe('Services of this namespace that it is for'),
  validation: validation.describe('How their certificates are checked'),
  options: options.default({}).describe('Settings of implementations. None is read'),
});

export const backendTlsPolicy = gatewayApiKind(
  'That a Service is reached with TLS, and how its certificate is checked.',
  schema,
);
export type BackendTlsTarget = z.output<typeof target>;
