/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: operators write these forms */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { secretFiller } from '../sources/fill-secrets.ts';
import { withDocuments } from './with-documents.ts';

const fill = secretFiller(() => ({ bytes: Buffer.from('open sesame') }));

function written(value: string) {
  const text = `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: '${value}'}\n`;
  return parseFile('a.yaml', text, DEFAULT_PARSE_OPTIONS);
}

/** The hash in force of a Secret of this value, and with a document of the other in its place. */
function hashes(inForce: string, given: string): readonly (string | undefined)[] {
  const resources = new Map(fill(written(inForce)).resources.map(each => [each.id, each]));
  const before = { resources, closed: [] };
  const after = withDocuments(before, { files: [written(given)], whole: false, remove: [] });
  return [before, after].map(side => side.resources.get('Secret/default/s')?.hash);
}

test('a Secret whose values are elsewhere changes by where they are, and not by being asked about', () => {
  const [same, again] = hashes('${env:A_SECRET}', '${env:A_SECRET}');
  assert.equal(same, again);
  const [old, other] = hashes('${env:A_SECRET}', '${env:B_SECRET}');
  assert.notEqual(old, other);
  const [elsewhere, literal] = hashes('${env:A_SECRET}', 'open sesam');
  assert.notEqual(elsewhere, literal);
  const [one, two] = hashes('one', 'one');
  assert.equal(one, two);
});
