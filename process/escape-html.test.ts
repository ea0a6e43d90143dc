import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeHtml } from './escape-html.ts';

test('text becomes text, in an element and in an attribute with quotes of either kind', () => {
  assert.equal(
    escapeHtml(`<b a="1" c='2'>&amp;</b>`),
    '&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;',
  );
});

test('other characters stay as they are', () => {
  assert.equal(escapeHtml('Łukasz, `a` = 1/2 \u{1f600}\n'), 'Łukasz, `a` = 1/2 \u{1f600}\n');
});
