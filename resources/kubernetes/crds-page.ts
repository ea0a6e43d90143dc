import { stringify } from 'yaml';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { customResourceDefinitions } from './crd.ts';

const HEAD =
  '# Made from the schemas in resources/ by `npx node resources/kubernetes/write-crds.ts`. The same schemas are the parser.\n';

/**
 * Returns deploy/kubernetes/crds.yaml: the definitions of all kinds in the first group that is read
 * by default.
 */
export function crdsPage(): string {
  const [group = ''] = DEFAULT_PARSE_OPTIONS.apiGroups;
  const options = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  return (
    HEAD +
    customResourceDefinitions(group)
      .map(crd => `---\n${stringify(crd, options)}`)
      .join('')
  );
}
