import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration } from './duration.ts';
import { fromJson, goMap } from './go-value.ts';
import { renderTemplate } from './render.ts';
import { parseTemplate } from './template.ts';

const STEPS = /too many steps/;
const OUTPUT = /a text of more than 65536 characters/;
const DEPTH = /exceeded maximum depth \(250\)/;
const NESTING = /nested deeper than 200 levels|max expression depth exceeded/;

const DATA = goMap([
  ['big', 'é'.repeat(100_000)],
  [
    'map',
    fromJson(Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`k${key}`, key]))),
  ],
  ['after', duration(90e9)],
  ['tiny', 5e-324],
]);

const BOUNDED: readonly [what: string, text: string, error: RegExp][] = [
  ['parentheses', `{{${'('.repeat(30_000)}`, NESTING],
  ['conditions', '{{if 1}}'.repeat(8000), NESTING],
  ['alternatives', `{{if 0}}${'{{else if 0}}'.repeat(4000)}{{end}}`, NESTING],
  ['the text of a template', 'x'.repeat(65_537), /the template is longer than 65536 bytes/],
  ['calls of itself', '{{define "r"}}{{template "r" .}}{{end}}{{template "r" .}}', DEPTH],
  [
    'calls of itself, deep in each',
    '{{define "r"}}{{if 1}}{{range 1}}{{template "r" (print (print 1))}}{{end}}{{end}}{{end}}{{template "r"}}',
    DEPTH,
  ],
  ['a long loop', '{{range 1000000000}}{{end}}', STEPS],
  ['a loop over nanoseconds', '{{range .after}}{{end}}', STEPS],
  ['loops in loops', '{{range 99999}}{{range 99999}}{{end}}{{end}}', STEPS],
  ['a text that doubles', '{{$x := "a"}}{{range 60}}{{$x = print $x $x}}{{end}}', OUTPUT],
  ['a width', '{{printf "%1000000d" 1}}', OUTPUT],
  ['a precision', '{{printf "%.1000000f" 1.5}}', OUTPUT],
  ['widths that are thrown away', '{{range 90000}}{{$x := printf "%60000d" 1}}{{end}}', STEPS],
  ['floats of very many digits', '{{range 90000}}{{$x := printf "%.17g" $.tiny}}{{end}}', STEPS],
  ['the length of long texts', '{{range 50000}}{{$x := len $.big}}{{end}}', STEPS],
  [
    'the beginnings of long texts',
    '{{range 90000}}{{$x := printf "%.3s %.3x" $.big $.big}}{{end}}',
    STEPS,
  ],
  ['escaping of long texts', '{{range 50000}}{{$x := html $.big}}{{end}}', STEPS],
  ['the sorting of large maps', '{{range 50000}}{{range $.map}}{{break}}{{end}}{{end}}', STEPS],
  ['large maps in JSON', '{{json "" .map}}', OUTPUT],
  [
    'looking for variables',
    `{{$z := 1}}${'{{$a:=1}}'.repeat(6000)}{{range 60000}}{{$z}}{{end}}`,
    STEPS,
  ],
  ['output', '{{range 50000}}xxxxxxxxxx{{end}}', OUTPUT],
];

for (const [what, text, expected] of BOUNDED) {
  test(`there is a limit to ${what}`, () => {
    const parsed = parseTemplate(text, 'body');
    const rendered = 'error' in parsed ? parsed : renderTemplate(parsed.value, DATA);
    assert.match('error' in rendered ? rendered.error : '', expected);
  });
}

test('nesting up to the limit works', () => {
  const text = `{{if ${'('.repeat(195)}1${')'.repeat(195)}}}x{{end}}`;
  const parsed = parseTemplate(text, 'body');
  assert.ok('value' in parsed);
  assert.deepEqual(renderTemplate(parsed.value, null), { text: 'x' });
});

test('a caller may allow more output', () => {
  const parsed = parseTemplate('{{ .big }}', 'body');
  assert.ok('value' in parsed);
  const rendered = renderTemplate(parsed.value, DATA, { steps: 100_000, output: 200_000 });
  assert.equal('text' in rendered ? rendered.text.length : 0, 100_000);
});

test('a message that quotes a long template is cut', () => {
  const parsed = parseTemplate(`{{ ${'1_'.repeat(30_000)} }}`, 'body');
  assert.ok('error' in parsed && parsed.error.length < 2100);
});
