import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crdsPage, fieldPoliciesPage } from './crds-page.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy', 'kubernetes');

/**
 * `npx node resources/kubernetes/write-crds.ts` writes deploy/kubernetes/crds.yaml and
 * field-policies.yaml again, after a schema has changed.
 */
mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, 'crds.yaml'), crdsPage());
writeFileSync(join(FOLDER, 'field-policies.yaml'), fieldPoliciesPage());
