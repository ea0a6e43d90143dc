import { stringify } from 'yaml';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { customResourceDefinitions, type Manifest } from './crd.ts';
import { fieldPolicies } from './field-policies.ts';

const HEAD =
  '# Made from the schemas in resources/ by `npx node resources/kubernetes/write-crds.ts`. The same schemas are the parser.\n';

/**
 * Returns deploy/kubernetes/crds.yaml: the definitions of all kinds in the first group that is read
 * by default.
 */
export function crdsPage(): string {
  return toPage(customResourceDefinitions(GROUP));
}

/**
 * Returns deploy/kubernetes/field-policies.yaml: what refuses unknown fields in objects of these
 * kinds.
 */
export function fieldPoliciesPage(): string {
  return toPage(fieldPolicies(GROUP));
}

const [GROUP = ''] = DEFAULT_PARSE_OPTIONS.apiGroups;

function toPage(manifests: readonly Manifest[]): string {
  const options = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  return HEAD + manifests.map(manifest => `---\n${stringify(manifest, options)}`).join('');
}
