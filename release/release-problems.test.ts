import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notesOf, type ReleaseFacts, releaseProblems, sectionOf } from './release-problems.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-12-01
### Added
- A thing.

## [1.1.0] - 2026-11-01
### Fixed
- Another.
`;

const GOOD: ReleaseFacts = {
  version: '1.2.0',
  changelog: CHANGELOG,
  dockerfile: 'LABEL org.opencontainers.image.version="1.2.0"',
  tags: ['v1.2.0', 'latest'],
  changed: '',
};

test('a clean commit with its tag and its section can be released', () => {
  assert.deepEqual(releaseProblems(GOOD), []);
});

const WRONG: readonly (readonly [what: string, facts: Partial<ReleaseFacts>, problem: RegExp])[] = [
  ['files that are not committed', { changed: ' M a.ts\n?? b.ts' }, /^2 files are not committed/],
  ['no tag', { tags: [] }, /no tag v1\.2\.0: run "git tag v1\.2\.0"/],
  ['the tag of another version', { tags: ['v1.2.0', 'v1.3.0'] }, /^the tag v1\.3\.0 is not/],
  ['an image of another version', { dockerfile: 'LABEL' }, /^the label .* is not 1\.2\.0$/],
  ['no section', { changelog: '## [Unreleased]\n- All.\n' }, /no section "## \[1\.2\.0\]/],
  [
    'changes that are not in its section',
    { changelog: CHANGELOG.replace('[Unreleased]\n', '[Unreleased]\n- Another.\n') },
    /changes in \[Unreleased\]: move them into the section \[1\.2\.0\]$/,
  ],
  [
    'an empty section',
    { changelog: '## [1.2.0] - 2026-12-01\n' },
    /section \[1\.2\.0\].* is empty/,
  ],
];

for (const [what, facts, problem] of WRONG)
  test(`a commit with ${what} is not released`, () => {
    const problems = releaseProblems({ ...GOOD, ...facts });
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] ?? '', problem);
  });

test('the notes of a release are its own section', () => {
  assert.equal(sectionOf(CHANGELOG, '1.2.0')?.trim(), '### Added\n- A thing.');
  assert.equal(sectionOf(CHANGELOG, '1.1.0')?.trim(), '### Fixed\n- Another.');
  assert.equal(sectionOf(CHANGELOG, '1.1'), undefined);
});

test('links of the notes lead to the files of the tag', () => {
  const text = (link: string) => `# Changelog\n\n## [1.2.0] - 2026-01-01\n- See [it](${link}).\n`;
  const notes = (link: string) => notesOf(text(link), '1.2.0', 'a/b');
  assert.equal(
    notes('docs/how-to/upgrade.md#on-kubernetes'),
    '- See [it](https://github.com/a/b/blob/v1.2.0/docs/how-to/upgrade.md#on-kubernetes).\n',
  );
  assert.equal(notes('https://example.com/'), '- See [it](https://example.com/).\n');
  assert.equal(
    notesOf(text('docs/README.md'), '1.2.0', undefined),
    '- See [it](docs/README.md).\n',
  );
});
