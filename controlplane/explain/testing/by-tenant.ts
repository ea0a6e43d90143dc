import { compile } from '#controlplane/compile/compile.ts';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';

const TENANTS = ['red', 'Red', 'blue', 'a.b:c@d/e+f=g', 'x-1'];

const SPECS: readonly string[] = [
  ...TENANTS.map(tenant => `prefix: /api/, headers: {x-tenant: "${tenant}"}`),
  ...TENANTS.map(tenant => `host: shop.test, prefix: /API/, headers: {x-tenant: "${tenant}"}`),
  'prefix: /api/, headers: {x-tenant: red, x-other: a}',
  'prefix: /api/, headers: {x-tenant: true}, method: POST',
  'prefix: /api/',
  'prefix: /api/v2/',
  'host: shop.test, prefix: /api/v2/, headers: {x-tenant: red}',
  'prefix: /',
];

/** Returns an edge whose routes of one path ask for values of one header. */
export function byTenant(): Compiled {
  const mappings = SPECS.map(
    (spec, index) =>
      `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m${index}}\nspec: {${spec}, service: s${index}}\n`,
  );
  return compile(resourceSetOf(mappings.join('---\n')).resources, 'edge', compileOptions({}));
}
