import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONGEST_FRAGMENT, withFragment } from './fragment.ts';

const URL_OF_PAGE = 'https://a.test/page?x=1';

for (const fragment of [
  'part',
  '/a?b=c&d',
  'a;b,c',
  'a\\b^[]{}|',
  '#',
  '%0d%0a',
  '%C5%BC',
  "'$&$1",
  '%',
]) {
  test(`the fragment ${fragment} comes back as the browser spelt it`, () => {
    const url = withFragment(URL_OF_PAGE, encodeURIComponent(fragment));
    assert.equal(url, `${URL_OF_PAGE}#${fragment}`);
    assert.equal(new URL(url).href, url);
  });
}

for (const kept of [
  '',
  '%',
  '%zz',
  '%C5',
  '%0d%0aset-cookie:a=b',
  '%00',
  'a%20b',
  '"><script>',
  '%22%3E%3Cscript%3E',
  '`',
  '%C5%BC',
  '\u00e9',
  'x'.repeat(LONGEST_FRAGMENT + 1),
  '%41'.repeat(100_000),
]) {
  test(`a cookie with ${JSON.stringify(kept.slice(0, 30))} of ${kept.length} characters is no fragment`, () => {
    assert.equal(withFragment(URL_OF_PAGE, kept), URL_OF_PAGE);
  });
}

test('a URL that has a fragment keeps it', () => {
  assert.equal(withFragment(`${URL_OF_PAGE}#own`, 'other'), `${URL_OF_PAGE}#own`);
});
