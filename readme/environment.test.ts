import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readConfig as controlplane } from '#controlplane/config.ts';
import { readConfig as extAuthz } from '#ext-authz/config.ts';
import { readConfig as identityProvider } from '#identity-provider/config.ts';
import { VARIABLES } from '#process/misspelt-variables.ts';
import { readConfig as rateLimit } from '#ratelimit-service/config.ts';
import { readConfig as sds } from '../sds/config.ts';
import { readConfig as userService } from '../user-service/config.ts';
import { readDocument } from './code-blocks.ts';

const PAGE = readDocument('docs/reference/environment.md');

type Environment = Readonly<Record<string, string | undefined>>;
type Row = { readonly name: string; readonly fallback: string };

/** The services that also read the section about Redis. */
const WITH_REDIS: readonly string[] = ['ratelimit-service', 'ext-authz'];

const CONFIGS = {
  controlplane,
  sds,
  'ratelimit-service': rateLimit,
  'ext-authz': extAuthz,
  'user-service': userService,
  'identity-provider': identityProvider,
} as const;

describe('docs/reference/environment.md', () => {
  test('has every variable that is known, so that misspelt ones are told', () => {
    const names = [...PAGE.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name = '']) => name);
    assert.deepEqual([...new Set(names)].sort(), VARIABLES);
  });

  for (const [folder, readConfig] of Object.entries(CONFIGS)) {
    const rows = rowsOf(`\`node ${folder}/main.js\``);

    test(`has a row for each variable that ${folder} reads`, () => {
      const redis = WITH_REDIS.includes(folder) ? rowsOf('Redis') : [];
      const documented = [...rows, ...redis].map(({ name }) => name);
      assert.deepEqual(documented.sort(), variablesRead(readConfig));
    });

    test(`has the defaults of ${folder}`, () => {
      const required = folder === 'sds' ? { INSTANCES_FILE: '/instances.yaml' } : {};
      const byDefault = readConfig(required);
      for (const { name, fallback } of rows.filter(row => row.fallback !== '')) {
        assert.deepEqual(readConfig({ ...required, [name]: fallback }), byDefault, name);
      }
    });
  }
});

/** Returns the rows of a section's first table. A default without backticks is words. */
function rowsOf(heading: string): readonly Row[] {
  const section = PAGE.split(/^## /m).find(text => text.startsWith(`${heading}\n`)) ?? '';
  const rows = section.matchAll(/^\| `([A-Z_]+)` \|(?: `([^`]*)`)?[^|]*\|/gm);
  return [...rows].map(([, name = '', fallback = '']) => ({ name, fallback }));
}

/** Returns the variables that a process reads from its environment. */
function variablesRead(readConfig: (env: Environment) => unknown): readonly string[] {
  const names = new Set<string>();
  const required: Environment = {
    INSTANCES_FILE: '/instances.yaml',
    REDIS_URL: 'rediss-sentinel://sentinel/master',
  };
  const env = new Proxy(required, {
    get: (target, name) => {
      names.add(String(name));
      return target[String(name)];
    },
  });
  readConfig(env);
  return [...names].sort();
}
