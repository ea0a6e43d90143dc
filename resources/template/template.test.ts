import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DURATION, duration } from './duration.ts';
import type { GoValue } from './go-type.ts';
import { INT32, STRING } from './go-type.ts';
import { enumType, fromJson, goInt, goMap, goSlice } from './go-value.ts';
import { goHeader } from './header.ts';
import { type Rendered, renderTemplate } from './render.ts';
import { parseTemplate, type TemplateUse } from './template.ts';

const SECRET = 'eyJhbGciOi';

function render(text: string, data: GoValue, use: TemplateUse = 'body'): Rendered {
  const parsed = parseTemplate(text, use);
  return 'error' in parsed ? parsed : renderTemplate(parsed.value, data);
}

function errorOf(rendered: Rendered): string {
  return 'error' in rendered ? rendered.error : '';
}

test('a hidden key is left out of json and is there for all else', () => {
  const data = goMap(
    [
      ['message', 'no'],
      ['request_id', 'r1'],
    ],
    ['request_id'],
  );
  assert.deepEqual(render('{{ json "" . }} {{ .request_id }} {{ hasKey . "request_id" }}', data), {
    text: '{\n\t"message": "no"\n} r1 true',
  });
  assert.deepEqual(render('{{ json "" .x }}', goMap([['x', data]])), {
    text: '{\n\t"message": "no"\n}',
  });
});

test('a header template has no json, a body template no doNotSet', () => {
  assert.deepEqual(parseTemplate('{{ json "" . }}', 'header'), {
    error: 'template: :1: function "json" not defined',
  });
  assert.deepEqual(parseTemplate('{{ doNotSet }}', 'body'), {
    error: 'template: :1: function "doNotSet" not defined',
  });
});

test('a template of text alone gives the same object each time', () => {
  const parsed = parseTemplate('a{{/* c */}}b', 'body');
  assert.ok('value' in parsed);
  const rendered = renderTemplate(parsed.value, null);
  assert.deepEqual(rendered, { text: 'ab' });
  assert.equal(renderTemplate(parsed.value, goInt(1)), rendered);
});

/** Go's own messages would show the value here. */
const HIDING: readonly string[] = [
  '{{ range .t }}{{ end }}',
  '{{ range $i, $e := .n }}{{ end }}',
  '{{ eq .list .list }}',
  '{{ eq .list .map }}',
  '{{ eq .map .map }}',
  '{{ .t | call }}',
  '{{ call .t }}',
  '{{ .t.x }}',
  '{{ index .t .t }}',
  '{{ index .list .t }}',
  '{{ index .t 99 }}',
  '{{ slice .t 99 }}',
  '{{ lt .t 1 }}',
  '{{ len .n }}',
  '{{ json .list 1 }}',
  '{{ hasKey .t .t }}',
  '{{ json "" .list | printf .n }}',
];

for (const text of HIDING) {
  test(`the error of ${text} holds no value of the data`, () => {
    const data = goMap([
      ['t', SECRET],
      ['n', goInt(424_242)],
      ['list', goSlice([SECRET])],
      ['map', goMap([[SECRET, SECRET]])],
    ]);
    const error = errorOf(render(text, data));
    assert.match(error, /^template: :1:/);
    assert.ok(!error.includes(SECRET) && !error.includes('424242'), error);
  });
}

test('keys of JSON that JavaScript objects have anyway are keys like others', () => {
  const data = fromJson(JSON.parse('{"__proto__": {"x": 1}, "constructor": null}'));
  assert.deepEqual(
    render(
      '{{ .__proto__.x }} {{ hasKey . "constructor" }} {{ hasKey . "toString" }} {{ .toString }}',
      data,
    ),
    { text: '1 true false <no value>' },
  );
});

test('a lone surrogate in template or data becomes U+FFFD', () => {
  const data = fromJson({ 'a\ud800': 'b\udfff' });
  assert.deepEqual(render('\udc80{{ . }}{{ "\udc80" }}', data), {
    text: '\ufffdmap[a\ufffd:b\ufffd]\ufffd',
  });
});

test('bytes that are cut apart come together again', () => {
  assert.deepEqual(render('{{ slice . 0 1 }}{{ slice . 1 }}', 'é'), { text: 'é' });
  assert.deepEqual(render('{{ slice . 0 1 }}|', 'é'), { text: '\ufffd|' });
});

test('JSON nested too deep for us is nil there', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 5000; level++) deep = [deep];
  const rendered = render('{{ . }}', fromJson(deep));
  assert.match('text' in rendered ? rendered.text : '', /^\[+<nil>\]+$/);
});

test('integers beyond the safe ones stay exact', () => {
  assert.deepEqual(render('{{ . }} {{ eq . 9007199254740993 }}', goInt(2n ** 53n + 1n)), {
    text: '9007199254740993 true',
  });
});

test('an enumeration prints by name and compares by number; one without a name prints the number', () => {
  const unit = enumType('x.Unit', 'int32', new Map([[1, 'SECOND']]));
  const data = goSlice([goInt(1, unit), goInt(9, unit)]);
  assert.deepEqual(
    render('{{ . }} {{ eq (index . 0) 1 }} {{ json "" (index . 0) }} {{ .  | printf "%d" }}', data),
    {
      text: '[SECOND 9] true 1 [1 9]',
    },
  );
});

test('an address is never printed', () => {
  assert.deepEqual(render('{{ printf "%p" . }}', goSlice(['a'])), {
    text: '%!p([]interface {}=[a])',
  });
});

test('header fields are found in any case, and the first value counts', () => {
  const header = goHeader([
    ['x-a', ['1']],
    ['X-A', ['2']],
    ['b c', ['3']],
  ]);
  assert.deepEqual(render('{{ .Get "x-A" }} {{ .Values "X-a" }} {{ index . "b c" }}', header), {
    text: '1 [1 2] [3]',
  });
});

test('the longest and shortest durations neither overflow nor lose digits', () => {
  const data = goMap([
    ['most', duration(2n ** 63n - 1n)],
    ['least', duration(-(2n ** 63n))],
    ['int', goInt(1, INT32)],
    ['text', goSlice(['x'], STRING)],
  ]);
  assert.deepEqual(
    render('{{ .most }} {{ .least }} {{ .least.Abs }} {{ .most.Round 3600000000000 }}', data),
    {
      text: '2562047h47m16.854775807s -2562047h47m16.854775808s 2562047h47m16.854775807s 2562047h47m16.854775807s',
    },
  );
  assert.equal(DURATION.name, 'time.Duration');
});
